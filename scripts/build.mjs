/**
 * Builds what the package ships: bin/NAME for every tool and bin/pmdaNAME for every agent, which load packs of bin/parts; man pages and
 * completion in dist, the chart page in share/web, and the library in dist (ESM, CommonJS, types). `--bin` builds all but the library.
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
import { join } from 'node:path'
import { beginBuild } from './lib/built.mjs'
import { bundleLibrary, keepDeclarations } from './lib/library.mjs'
import { bundlePrograms, hashOf, packFile } from './lib/programs.mjs'
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

/** The text of each program: of commands, agents' daemons, threads, and `npm start` with its parts. */
function programTexts(tools, agents) {
  return {
    ...Object.fromEntries(
      tools.map((tool) => [
        programOf(tool),
        `export { main } from './tools/main.ts'\nexport { tool } from '${moduleOf('tools', tool.file ?? tool.name)}'\n`,
      ]),
    ),
    ...Object.fromEntries(
      agents.map(({ name }) => [
        `pmda${name}`,
        `import { runDaemon } from './pmda/run-daemon.ts'\nexport const main = () => runDaemon(async () => (await import('${moduleOf('agents', name)}')).agent)\n`,
      ]),
    ),
    ...Object.fromEntries(Object.entries(LOADED).map(([name, file]) => [name, `import './${file}'\n`])),
  }
}

/** The program of a command; one that is known by more than one name is one program. */
const programOf = ({ name, file = name }) => file.replaceAll('/', '-')

/** What loads the packs: in a file of its own, as every program needs it. */
async function buildLauncher(parts, packs) {
  const hashes = Object.fromEntries([...packs].map(([name, text]) => [name, hashOf(text)]))
  await build({
    ...common,
    stdin: {
      contents: `import { launch, load } from './tools/launch.ts'
        const packs = { folder: __dirname, hashes: ${JSON.stringify(hashes)}, require }
        export const run = (id, hasOwnVersion = false) => launch(id, packs, hasOwnVersion)
        export const part = (id) => load(id, packs)`,
      resolveDir: join(top, 'src'),
      sourcefile: 'launcher.js',
    },
    outfile: join(parts, 'launch.cjs'),
    ...cjs,
    minify: true,
  })
}

/** An executable, or the file of a thread: three words that load a program. */
function writeProgram(file, text) {
  writeFileSync(file, text)
  if (text.startsWith(SHEBANG)) chmodSync(file, 0o755)
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
  for (const name of readdirSync(folder))
    if (!names.includes(name)) rmSync(join(folder, name), { recursive: true })
}

/** Programs that are found by their names beside what starts them: threads of daemons, and `npm start` with its parts. */
const LOADED = {
  'agent-worker': 'pmcd/agent-worker.ts',
  'archive-thread': 'pmproxy/archive-thread.ts',
  start: 'start/main.ts',
  ...Object.fromEntries(PARTS.map((name) => [`start-${name}`, `start/${name}-part.ts`])),
}

async function buildPrograms() {
  const { TOOLS } = await loadTable('tools/registry.ts')
  const { AGENTS } = await loadTable('agents/registry.ts')
  const bin = join(top, 'bin')
  const parts = join(bin, 'parts')
  mkdirSync(parts, { recursive: true })
  // The package is ESM; its commands are CommonJS.
  writeFileSync(join(bin, 'package.json'), '{ "type": "commonjs" }\n')
  const daemons = AGENTS.map(({ name }) => `pmda${name}`)
  const forScripts = new Set(TOOLS.filter(({ isForScripts }) => isForScripts).map(({ name }) => name))
  const commands = [...TOOLS.map(({ name }) => name), ...daemons]
  declareCommands(commands.filter((name) => !forScripts.has(name)))
  const { packs, ids } = await bundlePrograms(top, programTexts(TOOLS, AGENTS))
  for (const [name, text] of packs) writeFileSync(join(parts, packFile(name)), text)
  await buildLauncher(parts, packs)
  const run = (name, program, hasOwnVersion) =>
    writeProgram(
      join(bin, name),
      `${SHEBANG}\nrequire('./parts/launch.cjs').run('${ids.get(program)}'${hasOwnVersion ? ', true' : ''})\n`,
    )
  for (const tool of TOOLS) run(tool.name, programOf(tool), tool.hasOwnVersion)
  for (const name of daemons) run(name, name, true)
  const loaded = Object.keys(LOADED).map((name) => `${name}.cjs`)
  for (const name of Object.keys(LOADED))
    writeProgram(join(parts, `${name}.cjs`), `require('./launch.cjs').part('${ids.get(name)}')\n`)
  mkdirSync(join(top, 'dist'), { recursive: true })
  keepOnly(join(top, 'dist'), ['api', 'cjs', 'completion', 'esm', 'man', 'types', 'types-cjs'])
  keepOnly(bin, [...commands, 'package.json', 'parts'])
  keepOnly(parts, [...[...packs.keys()].map(packFile), ...loaded, 'launch.cjs'])
}

async function buildLibrary() {
  const dist = join(top, 'dist')
  for (const part of ['esm', 'cjs', 'types', 'types-cjs'])
    rmSync(join(dist, part), { recursive: true, force: true })
  await bundleLibrary(top, { ...ENTRIES, ...REGISTER }, BROWSER, dist)
  writeFileSync(join(dist, 'cjs', 'package.json'), '{ "type": "commonjs" }\n')
  if (run(packageBin('tsc'), ['-p', 'tsconfig.build.json']) !== 0) process.exit(1)
  keepDeclarations(join(dist, 'types'), Object.values({ ...ENTRIES, ...BROWSER, ...REGISTER }))
  cpSync(join(dist, 'types'), join(dist, 'types-cjs'), { recursive: true })
  writeFileSync(join(dist, 'types-cjs', 'package.json'), '{ "type": "commonjs" }\n')
}

await Promise.all([buildPrograms(), buildUi(), generateToolDocuments()])
if (!binOnly) await buildLibrary()
isDone()
