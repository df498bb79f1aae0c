/**
 * Runs the tests many times and prints which fail: `npm run flakes -- [OPTION...] [unit|e2e...] [-- VITEST ARGUMENT...]`.
 * Each run gets an empty temporary directory and an empty home directory; files and processes that outlive it are
 * reported too. Exits with status 1 if a test failed or anything was left behind.
 */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { cleanEnv, packageBin, top } from './lib/run.mjs'
import { processesLeft, SETTINGS } from './lib/test-run.mjs'

const USAGE = `usage: npm run flakes -- [OPTION...] [PROJECT...] [-- VITEST ARGUMENT...]
  --runs N     runs of the whole suite (10)
  --load N     busy loops beside them (0)
  --cpu LIST   run on these CPUs only, as taskset -c
  --shuffle    files and tests in random order; the seed is printed
  --slowest N  tests in the table of the slowest (20)
PROJECT is unit or e2e (both). Build first: the end-to-end tests use bin and dist.`

const { values: option, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    load: { type: 'string', default: '0' },
    cpu: { type: 'string' },
    shuffle: { type: 'boolean', default: false },
    slowest: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
if (option.help) {
  console.log(USAGE)
  process.exit(0)
}
const projects = positionals.filter((arg) => arg === 'unit' || arg === 'e2e')
const others = positionals.filter((arg) => !projects.includes(arg))
const [runs, load, slowest] = [option.runs, option.load, option.slowest].map(Number)

/** By test: messages of its failures, and durations. */
const tests = new Map()
/** Files and processes left behind, by pattern, with the number of runs. */
const remains = new Map()
let failedRuns = 0

const loops = Array.from({ length: load }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
)
const stopLoops = () => {
  for (const loop of loops) loop.kill('SIGKILL')
}
process.once('exit', stopLoops)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

for (let number = 1; number <= runs; number++) await runOnce(number)
stopLoops()
printTable()
process.exitCode = failedRuns > 0 || remains.size > 0 ? 1 : 0

/** Runs the suite once and adds its results to the tables. */
async function runOnce(number) {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-'))
  // Short names, because paths of sockets are limited.
  const [temporary, home, report] = ['t', 'h', 'report.json'].map((name) => join(dir, name))
  chmodSync(dir, 0o755) // some tests start programs as another user
  mkdirSync(temporary)
  chmodSync(temporary, 0o1777)
  mkdirSync(home)
  const seed = Math.floor(Math.random() * 1e9)
  const began = performance.now()
  const status = await vitest(report, seed, {
    ...{ TMPDIR: temporary, HOME: home, ...SETTINGS },
    // test/lib/environment.ts would otherwise set these up and remove them before they can be checked.
    PCP_TS_TEST_DIR: dir,
  })
  const seconds = Math.round((performance.now() - began) / 1000)
  const { passed, failed } = addReport(report, status)
  const left = [
    ...(await processesLeft(dir)).map(({ command }) => `process: ${command}`),
    ...leftFiles(temporary),
  ]
  for (const name of left) remains.set(name, (remains.get(name) ?? 0) + 1)
  if (failed.length > 0) failedRuns++
  const order = option.shuffle ? `, seed ${seed}` : ''
  console.log(`run ${number}: ${passed} passed, ${failed.length} failed, ${seconds} s${order}`)
  for (const { name, message } of failed) console.log(`  ${name}\n${indented(message, 30)}`)
  for (const name of left) console.log(`  left behind: ${name}`)
  rmSync(dir, { recursive: true, force: true })
}

function vitest(report, seed, env) {
  const wanted = projects.length > 0 ? projects : ['unit', 'e2e']
  const args = ['run', ...wanted.flatMap((name) => ['--project', name])]
  args.push('--reporter=json', `--outputFile=${report}`, ...others)
  if (option.shuffle)
    args.push('--sequence.shuffle.files', '--sequence.shuffle.tests', `--sequence.seed=${seed}`)
  const line = [packageBin('vitest'), ...args]
  const [command, ...rest] = option.cpu === undefined ? line : ['taskset', '-c', option.cpu, ...line]
  return new Promise((resolve, reject) => {
    const child = spawn(command, rest, {
      cwd: top,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: cleanEnv({ NO_COLOR: '1', ...env }),
    })
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(signal ?? code))
  })
}

/** Reads the runner's report into `tests`. A run without one, or that failed without a failed test, counts as a failure. */
function addReport(path, status) {
  const failed = []
  let passed = 0
  const add = (name, duration, message) => {
    const test = tests.get(name) ?? { runs: 0, durations: [], messages: [] }
    tests.set(name, test)
    test.runs++
    test.durations.push(duration)
    if (message === undefined) return passed++
    test.messages.push(message)
    return failed.push({ name, message })
  }
  if (existsSync(path)) {
    for (const file of JSON.parse(readFileSync(path, 'utf8')).testResults) {
      const name = relative(top, file.name)
      for (const test of file.assertionResults) {
        if (test.status !== 'passed' && test.status !== 'failed') continue
        const message = test.status === 'failed' ? test.failureMessages.join('\n') : undefined
        add(`${name} > ${test.fullName}`, test.duration ?? 0, message)
      }
      if (file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'))
        add(name, 0, file.message || 'the file failed')
    }
  }
  if (status !== 0 && failed.length === 0) add('the runner', 0, `ended with ${status}, but no test failed`)
  return { passed, failed }
}

/** Returns files left by a run, without the random part of their names. */
function leftFiles(dir) {
  return readdirSync(dir).map((name) => {
    const isDirectory = statSync(join(dir, name), { throwIfNoEntry: false })?.isDirectory() ?? false
    const inside = isDirectory ? ` (${readdirSync(join(dir, name)).slice(0, 5).join(' ')})` : ''
    return `file: ${name.replace(/-[A-Za-z0-9]{6}$/, '-*')}${inside}`
  })
}

function printTable() {
  const flaky = [...tests].filter(([, test]) => test.messages.length > 0)
  flaky.sort(([, a], [, b]) => b.messages.length - a.messages.length)
  console.log(
    `\n${runs} runs, ${failedRuns} failed, ${load} busy loops${option.cpu ? `, CPU ${option.cpu}` : ''}`,
  )
  for (const [name, { messages, runs: count }] of flaky)
    console.log(`${messages.length}/${count}  ${name}\n${indented(messages[0], 3)}`)
  for (const [name, count] of remains) console.log(`left behind in ${count} runs: ${name}`)
  console.log(`\nThe slowest tests (median and longest, ms)`)
  const rows = [...tests].map(([name, { durations }]) => {
    const sorted = durations.toSorted((a, b) => a - b)
    return { name, median: sorted[sorted.length >> 1], longest: sorted.at(-1) }
  })
  rows.sort((a, b) => b.median - a.median)
  for (const { name, median, longest } of rows.slice(0, slowest))
    console.log(
      `${Math.round(median).toString().padStart(7)} ${Math.round(longest).toString().padStart(7)}  ${name}`,
    )
}

function indented(text, lines) {
  return text
    .split('\n')
    .slice(0, lines)
    .map((line) => `    ${line}`)
    .join('\n')
}
