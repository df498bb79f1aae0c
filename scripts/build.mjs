/**
 * Builds the contents of the package: bin/NAME for every tool and bin/pmdaNAME for every agent, which load packs of bin/parts; man pages and
 * completion in dist, the chart page in share/web, the library in dist (ESM, CommonJS, types), and lists of bundled packages in dist.
 * `--bin` builds all but the library and the lists.
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
import { bundledPackages } from './lib/bundled.mjs'
import { bundleLibrary, keepDeclarations } from './lib/library.mjs'
import { bundlePrograms, hashOf, packFile } from './lib/programs.mjs'
import { install, packageBin, run, top } from './lib/run.mjs'
import { billOfMaterials, NOTICES, SBOM, thirdPartyNotices } from './lib/sbom.mjs'

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
/** Entry points for browsers, as ES modules only. */
const BROWSER = { 'archive-browser': 'archive-browser.ts' }
/** Processes of `pcp-ts start`. */
const PARTS = ['collector', 'recorder', 'charts', 'alerts']
/** Entry points with side effects on import, kept separate. */
const REGISTER = { 'node-register': 'node/register.ts' }

/** CommonJS has no import.meta.url; createRequire accepts the file name instead. */
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

/** Loads a table: a TypeScript module whose imports are types or dynamic. */
async function loadTable(file) {
  const { code } = await transform(readFileSync(join(top, 'src', file), 'utf8'), {
    loader: 'ts',
    format: 'esm',
  })
  return import(`data:text/javascript,${encodeURIComponent(code)}`)
}

/** Returns the module of a file or a folder. */
function moduleOf(folder, name) {
  const file = `${folder}/${name}.ts`
  return existsSync(join(top, 'src', file)) ? `./${file}` : `./${folder}/${name}/index.ts`
}

/** Returns the source of each program: commands, agents' daemons, threads, and the parts of `pcp-ts start`. */
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

/** Returns the program of a command; commands with several names share one. */
const programOf = ({ name, file = name }) => file.replaceAll('/', '-')

/** Builds the loader of packs, in a separate file because every program needs it. */
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

/** Writes an executable, or the file of a thread, which loads its program. */
function writeProgram(file, text) {
  writeFileSync(file, text)
  if (text.startsWith(SHEBANG)) chmodSync(file, 0o755)
}

/** Removes files of earlier builds. */
function keepOnly(folder, names) {
  for (const name of readdirSync(folder))
    if (!names.includes(name)) rmSync(join(folder, name), { recursive: true })
}

/** Programs located by name beside the program that starts them: threads of daemons, and the parts of `pcp-ts start`. */
const LOADED = {
  'agent-worker': 'pmcd/agent-worker.ts',
  'agent-daemon': 'pmcd/agent-daemon.ts',
  'agent-check': 'pmcd/agent-check.ts',
  'archive-thread': 'pmproxy/archive-thread.ts',
  'discovery-thread': 'pmproxy/keys/discovery-thread.ts',
  ...Object.fromEntries(PARTS.map((name) => [`start-${name}`, `start/${name}-part.ts`])),
}

async function buildPrograms() {
  const { TOOLS: all } = await loadTable('tools/registry.ts')
  const { AGENTS } = await loadTable('agents/registry.ts')
  const tools = all.filter(({ subcommandOf }) => subcommandOf === undefined)
  const bin = join(top, 'bin')
  const parts = join(bin, 'parts')
  mkdirSync(parts, { recursive: true })
  // The package is ESM; its commands are CommonJS.
  writeFileSync(join(bin, 'package.json'), '{ "type": "commonjs" }\n')
  const daemons = AGENTS.map(({ name }) => `pmda${name}`)
  const commands = [...tools.map(({ name }) => name), ...daemons]
  const { packs, ids, files } = await bundlePrograms(top, programTexts(tools, AGENTS))
  for (const [name, text] of packs) writeFileSync(join(parts, packFile(name)), text)
  await buildLauncher(parts, packs)
  const run = (name, program, hasOwnVersion) =>
    writeProgram(
      join(bin, name),
      `${SHEBANG}\nrequire('./parts/launch.cjs').run('${ids.get(program)}'${hasOwnVersion ? ', true' : ''})\n`,
    )
  for (const tool of tools) run(tool.name, programOf(tool), tool.hasOwnVersion)
  for (const name of daemons) run(name, name, true)
  const loaded = Object.keys(LOADED).map((name) => `${name}.cjs`)
  for (const name of Object.keys(LOADED))
    writeProgram(join(parts, `${name}.cjs`), `require('./launch.cjs').part('${ids.get(name)}')\n`)
  mkdirSync(join(top, 'dist'), { recursive: true })
  keepOnly(join(top, 'dist'), ['api', 'cjs', 'completion', 'esm', 'man', 'types', 'types-cjs', SBOM, NOTICES])
  keepOnly(bin, [...commands, 'package.json', 'parts'])
  keepOnly(parts, [...[...packs.keys()].map(packFile), ...loaded, 'launch.cjs'])
  return files
}

async function buildLibrary() {
  const dist = join(top, 'dist')
  for (const part of ['esm', 'cjs', 'types', 'types-cjs'])
    rmSync(join(dist, part), { recursive: true, force: true })
  const files = await bundleLibrary(top, { ...ENTRIES, ...REGISTER }, BROWSER, dist)
  writeFileSync(join(dist, 'cjs', 'package.json'), '{ "type": "commonjs" }\n')
  if (run(packageBin('tsc'), ['-p', 'tsconfig.build.json']) !== 0) process.exit(1)
  keepDeclarations(join(dist, 'types'), Object.values({ ...ENTRIES, ...BROWSER, ...REGISTER }))
  cpSync(join(dist, 'types'), join(dist, 'types-cjs'), { recursive: true })
  writeFileSync(join(dist, 'types-cjs', 'package.json'), '{ "type": "commonjs" }\n')
  return files
}

/** Writes the bill of materials and the licenses of bundled packages. */
function writeLists(bundled) {
  const read = (name) => readFileSync(join(top, name), 'utf8')
  const packages = bundledPackages(top, bundled)
  const sbom = billOfMaterials(
    JSON.parse(read('package.json')),
    packages,
    JSON.parse(read('package-lock.json')),
  )
  writeFileSync(join(top, 'dist', SBOM), `${JSON.stringify(sbom, null, 2)}\n`)
  const notices = thirdPartyNotices(packages, { notice: read('NOTICE'), license: read('LICENSE') })
  writeFileSync(join(top, 'dist', NOTICES), notices)
}

const [programs, page] = await Promise.all([buildPrograms(), buildUi(), generateToolDocuments()])
if (!binOnly)
  writeLists({ 'bin/parts': programs, 'share/web': page.bundled, 'dist/esm, dist/cjs': await buildLibrary() })
isDone()
