/**
 * Builds what the package ships: bin/NAME for every tool (a few lines, and in bin/parts the tool itself and what it
 * imports on demand) and bin/pmdaNAME for every agent (one self-contained file each), their man pages and completion in
 * dist, the chart page in share/web, and the library in dist (ESM, CommonJS, types). `--bin` builds the commands only.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { install, packageBin, run, top } from './lib/run.mjs'

install()
const { build, transform } = await import('esbuild')
const { generateToolDocuments } = await import('./gen-man.mjs')
const { buildUi } = await import('./build-ui.mjs')
const binOnly = process.argv.includes('--bin')

/** Public entry points: name in package.json's exports to source file. */
const ENTRIES = {
  index: 'index.ts',
  pmapi: 'pmapi/index.ts',
  local: 'local.ts',
  archive: 'archive.ts',
  derive: 'derive.ts',
  pmda: 'pmda/index.ts',
  mmv: 'mmv/index.ts',
  node: 'node/index.ts',
}
/** What importing alone has an effect of: apart from the others. */
const REGISTER = { 'node-register': 'node/register.ts' }

/** CommonJS has no import.meta.url: createRequire takes the file's name as well. */
const cjs = { format: 'cjs', define: { 'import.meta.url': '__filename' } }

/** require() does without the loader of ES modules. */
const required = { supported: { 'dynamic-import': false } }

const common = {
  absWorkingDir: top,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
  legalComments: 'none',
}

/** Loads a table: a TypeScript module of ours that imports others only as types or on demand. */
async function loadTable(file) {
  const { code } = await transform(readFileSync(join(top, 'src', file), 'utf8'), {
    loader: 'ts',
    format: 'esm',
  })
  return import(`data:text/javascript,${encodeURIComponent(code)}`)
}

/** The module of a unit that is a file or a folder. */
function moduleOf(folder, name) {
  const file = `${folder}/${name}.ts`
  return existsSync(join(top, 'src', file)) ? `./${file}` : `./${folder}/${name}/index.ts`
}

/**
 * What files of a folder, or the lines that start a command, import on demand goes into files of its own, noted in `parts`:
 * what `--version` can do without would cost it most of its time to parse, and so would the agents cost whoever requires
 * the library. `place` is where parts are as seen from the file that is built.
 */
const onDemand = (folder, parts, place) => ({
  name: 'on-demand',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ kind, importer, path }) => {
      const [from, ...below] = relative(join(top, 'src'), importer).split(sep)
      const isStart = below.length === 0 && path.startsWith(`./${folder}/`)
      if (kind !== 'dynamic-import' || !(from === folder || isStart)) return undefined
      const source = join(dirname(importer), path)
      const file = `${relative(join(top, 'src'), source).replaceAll(sep, '-').replace(/\.ts$/, '')}.cjs`
      parts.set(file, source)
      return { path: `${place}/${file}`, external: true }
    })
  },
})

/** Builds the parts, and those that turn up in them on the way. */
async function buildParts(parts, folder, options, importers) {
  for (const [file, source] of parts)
    await build({
      ...common,
      ...cjs,
      ...options,
      entryPoints: [source],
      outfile: join(folder, 'parts', file),
      plugins: [onDemand(importers, parts, '.')],
      // Below the tools there are modules that a configuration names: only import() loads those of every kind.
      ...(file.startsWith('tools-') ? required : {}),
    })
}

/** One executable: a whole program in one CommonJS file, which starts faster than an ES module. */
async function buildCommand(name, contents, parts) {
  const outfile = join(top, 'bin', name)
  await build({
    ...common,
    stdin: { contents, resolveDir: join(top, 'src'), sourcefile: `${name}.ts`, loader: 'ts' },
    outfile,
    ...cjs,
    minify: true,
    banner: { js: '#!/usr/bin/env node' },
    plugins: [onDemand('tools', parts, './parts')],
    ...required,
  })
  chmodSync(outfile, 0o755)
}

/** Keeps the `bin` of package.json in step with the tables; written only when they differ. */
function declareCommands(names) {
  const file = join(top, 'package.json')
  const text = readFileSync(file, 'utf8')
  const manifest = JSON.parse(text)
  manifest.bin = Object.fromEntries(names.sort().map((name) => [name, `bin/${name}`]))
  const now = `${JSON.stringify(manifest, null, 2)}\n`
  if (now !== text) writeFileSync(file, now)
}

/** Removes what an earlier build has left. */
function keepOnly(folder, names) {
  for (const name of readdirSync(folder)) if (!names.includes(name)) rmSync(join(folder, name))
}

async function buildCommands() {
  const { TOOLS } = await loadTable('tools/registry.ts')
  const { AGENTS } = await loadTable('agents/registry.ts')
  mkdirSync(join(top, 'bin'), { recursive: true })
  // The package is ESM; its commands are CommonJS.
  writeFileSync(join(top, 'bin', 'package.json'), '{ "type": "commonjs" }\n')
  const tools = TOOLS.map(({ name, file = name, hasOwnVersion }) => [
    name,
    `import { main } from './tools/main.ts'\nvoid main(async () => (await import('${moduleOf('tools', file)}')).tool${hasOwnVersion ? ', { hasOwnVersion: true }' : ''})\n`,
  ])
  const daemons = AGENTS.map(({ name }) => [
    `pmda${name}`,
    `import { runDaemon } from './pmda/run-daemon.ts'\nvoid runDaemon(async () => (await import('${moduleOf('agents', name)}')).agent)\n`,
  ])
  const commands = [...tools, ...daemons]
  const forScripts = new Set(TOOLS.filter(({ isForScripts }) => isForScripts).map(({ name }) => name))
  declareCommands(commands.map(([name]) => name).filter((name) => !forScripts.has(name)))
  const parts = new Map()
  await Promise.all(commands.map(([name, contents]) => buildCommand(name, contents, parts)))
  await buildParts(parts, join(top, 'bin'), { minify: true }, 'tools')
  await buildWorker(join(top, 'bin', 'parts'))
  keepOnly(join(top, 'bin'), [...commands.map(([name]) => name), 'package.json', 'parts'])
  keepOnly(join(top, 'bin', 'parts'), [...parts.keys(), 'agent-worker.cjs'])
}

async function buildLibrary() {
  const dist = join(top, 'dist')
  for (const part of ['esm', 'cjs', 'types', 'types-cjs'])
    rmSync(join(dist, part), { recursive: true, force: true })
  await build({
    ...common,
    entryPoints: Object.entries({ ...ENTRIES, ...REGISTER }).map(([out, file]) => ({
      in: join('src', file),
      out,
    })),
    outdir: join(dist, 'esm'),
    format: 'esm',
    keepNames: true, // users see class names in errors and in the console
    splitting: true,
    chunkNames: 'chunk-[hash]',
  })
  // One CommonJS file behind all entry points, so that a class is the same class in each of them; agents apart.
  const parts = new Map()
  const names = Object.keys(ENTRIES)
  await build({
    ...common,
    stdin: {
      contents: names.map((name) => `export * as ${name} from './${ENTRIES[name]}'`).join('\n'),
      resolveDir: join(top, 'src'),
      sourcefile: 'all.ts',
      loader: 'ts',
    },
    outfile: join(dist, 'cjs', 'all.js'),
    ...cjs,
    ...required,
    plugins: [onDemand('agents', parts, './parts')],
    keepNames: true,
  })
  await buildParts(parts, join(dist, 'cjs'), { keepNames: true }, 'agents')
  for (const name of names)
    writeFileSync(join(dist, 'cjs', `${name}.js`), `module.exports = require('./all.js').${name}\n`)
  await build({
    ...common,
    entryPoints: Object.entries(REGISTER).map(([out, file]) => ({ in: join('src', file), out })),
    outdir: join(dist, 'cjs'),
    ...cjs,
    keepNames: true,
  })
  writeFileSync(join(dist, 'cjs', 'package.json'), '{ "type": "commonjs" }\n')
  if (run(packageBin('tsc'), ['-p', 'tsconfig.build.json']) !== 0) process.exit(1)
  cpSync(join(dist, 'types'), join(dist, 'types-cjs'), { recursive: true })
  writeFileSync(join(dist, 'types-cjs', 'package.json'), '{ "type": "commonjs" }\n')
}

/** The program of agents in threads: collectors look for it beside their own file. */
async function buildWorker(folder) {
  await build({
    ...common,
    ...cjs,
    minify: true,
    entryPoints: [join('src', 'pmcd', 'agent-worker.ts')],
    outfile: join(folder, 'agent-worker.cjs'),
  })
}

async function buildStart() {
  await buildWorker(join(top, 'dist'))
  await build({
    ...common,
    entryPoints: [join('src', 'start', 'main.ts')],
    outfile: join(top, 'dist', 'start.cjs'),
    ...cjs,
    minify: true,
  })
}

await Promise.all([buildCommands(), buildStart(), buildUi(), generateToolDocuments()])
if (!binOnly) await buildLibrary()
