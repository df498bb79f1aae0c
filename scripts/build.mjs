/**
 * Builds what the package ships: bin/NAME for every tool and bin/pmdaNAME for every agent (one self-contained file each,
 * but for parts that a tool imports on demand), their man pages and completion in dist, and the library in dist (ESM,
 * CommonJS, types). `--bin` builds the commands only.
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
const binOnly = process.argv.includes('--bin')

/** Public entry points: name in package.json's exports to source file. */
const ENTRIES = {
  index: 'index.ts',
  pmapi: 'pmapi/index.ts',
  local: 'local.ts',
  archive: 'archive.ts',
  pmda: 'pmda/index.ts',
}

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
 * Parts that files of a folder import on demand go into files of their own, noted in `parts`: what `--version` can do
 * without would cost it most of its time to parse, and so would the agents cost whoever requires the library.
 */
const onDemand = (folder, parts) => ({
  name: 'on-demand',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ kind, importer, path }) => {
      if (kind !== 'dynamic-import' || relative(join(top, 'src'), importer).split(sep)[0] !== folder)
        return undefined
      const source = join(dirname(importer), path)
      const file = `${relative(join(top, 'src'), source).replaceAll(sep, '-').replace(/\.ts$/, '')}.cjs`
      parts.set(file, source)
      return { path: `./parts/${file}`, external: true }
    })
  },
})

async function buildParts(parts, folder, options) {
  for (const [file, source] of parts)
    await build({
      ...common,
      ...cjs,
      ...options,
      entryPoints: [source],
      outfile: join(folder, 'parts', file),
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
    plugins: [onDemand('tools', parts)],
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

async function buildCommands() {
  const { TOOLS } = await loadTable('tools/registry.ts')
  const { AGENTS } = await loadTable('agents/registry.ts')
  mkdirSync(join(top, 'bin'), { recursive: true })
  // The package is ESM; its commands are CommonJS.
  writeFileSync(join(top, 'bin', 'package.json'), '{ "type": "commonjs" }\n')
  const tools = TOOLS.map(({ name, file = name }) => [
    name,
    `import { main } from './tools/main.ts'\nvoid main(async () => (await import('${moduleOf('tools', file)}')).tool)\n`,
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
  await buildParts(parts, join(top, 'bin'), { minify: true })
  await buildWorker(join(top, 'bin', 'parts'))
  const current = new Set([...commands.map(([name]) => name), 'package.json', 'parts'])
  for (const name of readdirSync(join(top, 'bin'))) if (!current.has(name)) rmSync(join(top, 'bin', name))
}

async function buildLibrary() {
  const dist = join(top, 'dist')
  for (const part of ['esm', 'cjs', 'types', 'types-cjs'])
    rmSync(join(dist, part), { recursive: true, force: true })
  await build({
    ...common,
    entryPoints: Object.entries(ENTRIES).map(([out, file]) => ({ in: join('src', file), out })),
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
    plugins: [onDemand('agents', parts)],
    keepNames: true,
  })
  await buildParts(parts, join(dist, 'cjs'), { keepNames: true })
  for (const name of names)
    writeFileSync(join(dist, 'cjs', `${name}.js`), `module.exports = require('./all.js').${name}\n`)
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

await Promise.all([buildCommands(), buildStart(), generateToolDocuments()])
if (!binOnly) await buildLibrary()
