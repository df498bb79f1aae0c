/**
 * Builds what the package ships: bin/NAME for every tool (what starts it, and in bin/parts the tool itself and what it
 * imports on demand) and bin/pmdaNAME for every agent (one self-contained file each), their man pages and completion in
 * dist, the chart page in share/web, and the library in dist (ESM, CommonJS, types). `--bin` builds the commands only.
 */
import { createHash } from 'node:crypto'
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
import { beginBuild } from './lib/built.mjs'
import { install, packageBin, run, top } from './lib/run.mjs'

install()
const binOnly = process.argv.includes('--bin')
const isDone = beginBuild(top, binOnly ? 'bin' : 'all')
const { build, transform } = await import('esbuild')
const { generateToolDocuments } = await import('./gen-man.mjs')
const { buildUi } = await import('./build-ui.mjs')

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
/** Entry points for browsers, which take ES modules alone. */
const BROWSER = { 'archive-browser': 'archive-browser.ts' }
/** Processes of `npm start`. */
const PARTS = ['collector', 'recorder', 'charts']
/** What importing alone has an effect of: apart from the others. */
const REGISTER = { 'node-register': 'node/register.ts' }

/** CommonJS has no import.meta.url: createRequire takes the file's name as well. */
const cjs = { format: 'cjs', define: { 'import.meta.url': '__filename' } }

const SHEBANG = '#!/usr/bin/env node'

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
 * What files of a folder import on demand goes into files of its own, noted in `parts`: agents would cost whoever requires the library
 * most of the time to parse. `place` is where parts are as seen from the file that is built.
 */
const onDemand = (folder, parts, place) => ({
  name: 'on-demand',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ kind, importer, path }) => {
      const [from] = relative(join(top, 'src'), importer).split(sep)
      const source = join(dirname(importer), path)
      if (kind !== 'dynamic-import' || from !== folder || isShared(folder, source)) return undefined
      const file = partOf(source)
      parts.set(file, source)
      return { path: `${place}/${file}`, external: true }
    })
  },
})

/** The file of a part. */
function partOf(source) {
  return `${relative(join(top, 'src'), source).replaceAll(sep, '-').replace(/\.ts$/, '')}.cjs`
}

/** Is it for a command's own file? There it shares what else the command has, and costs nothing unless it runs. */
function isShared(folder, source) {
  return folder === 'tools' && relative(join(top, 'src', 'pmapi'), source).split(sep)[0] !== '..'
}

/** Builds the parts, and those that turn up in them on the way; `contents` says what is in one that is not just its source. */
async function buildParts(parts, folder, options, importers, contents = () => undefined) {
  const buildPart = async ([file, source]) => {
    const text = contents(source)
    await build({
      ...common,
      ...cjs,
      ...options,
      ...(text === undefined
        ? { entryPoints: [source] }
        : { stdin: { contents: text, resolveDir: dirname(source), sourcefile: `${source}.js` } }),
      outfile: join(folder, 'parts', file),
      plugins: [onDemand(importers, parts, '.')],
      // Below the tools there are modules that a configuration names: only import() loads those of every kind.
      ...(file.startsWith('tools-') ? required : {}),
    })
  }
  for (let built = 0; built < parts.size; ) {
    const next = [...parts].slice(built)
    built = parts.size
    await Promise.all(next.map(buildPart))
  }
}

/** One executable: a whole program in one CommonJS file, which starts faster than an ES module. */
async function buildDaemon(name, contents) {
  const outfile = join(top, 'bin', name)
  await build({
    ...common,
    stdin: { contents, resolveDir: join(top, 'src'), sourcefile: `${name}.ts`, loader: 'ts' },
    outfile,
    ...cjs,
    minify: true,
    banner: { js: SHEBANG },
    ...required,
  })
  chmodSync(outfile, 0o755)
}

/** What starts each tool: small, as nothing keeps its code. */
async function launcher() {
  const { outputFiles } = await build({
    ...common,
    entryPoints: [join('src', 'tools', 'launch.ts')],
    define: cjs.define,
    format: 'iife',
    globalName: 'start',
    minify: true,
    write: false,
  })
  return outputFiles[0].text
}

/** The executable of a tool, for a part that is built. */
function writeTool({ name, hasOwnVersion }, part, code) {
  const content = readFileSync(join(top, 'bin', 'parts', part))
  const id = createHash('sha256').update(content).digest('hex').slice(0, 16)
  const settings = JSON.stringify({ part, id, ...(hasOwnVersion ? { hasOwnVersion } : {}) })
  const file = join(top, 'bin', name)
  writeFileSync(file, `${SHEBANG}\n${code}start.launch(${settings}, __dirname)\n`)
  chmodSync(file, 0o755)
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
  const sources = new Map(
    TOOLS.map((tool) => [tool.name, join(top, 'src', moduleOf('tools', tool.file ?? tool.name))]),
  )
  const entries = new Set(sources.values())
  const daemons = AGENTS.map(({ name }) => [
    `pmda${name}`,
    `import { runDaemon } from './pmda/run-daemon.ts'\nvoid runDaemon(async () => (await import('${moduleOf('agents', name)}')).agent)\n`,
  ])
  const forScripts = new Set(TOOLS.filter(({ isForScripts }) => isForScripts).map(({ name }) => name))
  const commands = [...sources.keys(), ...daemons.map(([name]) => name)]
  declareCommands(commands.filter((name) => !forScripts.has(name)))
  await Promise.all(daemons.map(([name, contents]) => buildDaemon(name, contents)))
  const parts = new Map([...entries].map((source) => [partOf(source), source]))
  const main = join(top, 'src', 'tools', 'main.ts')
  await buildParts(parts, join(top, 'bin'), { minify: true }, 'tools', (source) =>
    entries.has(source)
      ? `export { main } from ${JSON.stringify(main)}\nexport { tool } from ${JSON.stringify(source)}`
      : undefined,
  )
  await buildWorker(join(top, 'bin', 'parts'))
  const code = await launcher()
  for (const tool of TOOLS) writeTool(tool, partOf(sources.get(tool.name)), code)
  keepOnly(join(top, 'bin'), [...commands, 'package.json', 'parts'])
  keepOnly(join(top, 'bin', 'parts'), [...parts.keys(), ...Object.keys(THREADS).map((name) => `${name}.cjs`)])
}

async function buildLibrary() {
  const dist = join(top, 'dist')
  for (const part of ['esm', 'cjs', 'types', 'types-cjs'])
    rmSync(join(dist, part), { recursive: true, force: true })
  await build({
    ...common,
    entryPoints: Object.entries({ ...ENTRIES, ...BROWSER, ...REGISTER }).map(([out, file]) => ({
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

/** Programs of threads, which are looked for beside the file that starts them: agents of a collector, archives of a pmproxy. */
const THREADS = {
  'agent-worker': join('src', 'pmcd', 'agent-worker.ts'),
  'archive-thread': join('src', 'pmproxy', 'archive-thread.ts'),
}

async function buildWorker(folder) {
  await build({
    ...common,
    ...cjs,
    minify: true,
    entryPoints: Object.entries(THREADS).map(([out, file]) => ({ in: file, out })),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
  })
}

/** `npm start` and its parts, which it looks for beside its own file. */
async function buildStart() {
  await buildWorker(join(top, 'dist'))
  const programs = {
    start: 'main',
    ...Object.fromEntries(PARTS.map((name) => [`start-${name}`, `${name}-part`])),
  }
  await build({
    ...common,
    entryPoints: Object.entries(programs).map(([out, file]) => ({
      in: join('src', 'start', `${file}.ts`),
      out,
    })),
    outdir: join(top, 'dist'),
    outExtension: { '.js': '.cjs' },
    ...cjs,
    minify: true,
  })
}

await Promise.all([buildCommands(), buildStart(), buildUi(), generateToolDocuments()])
if (!binOnly) await buildLibrary()
isDone()
