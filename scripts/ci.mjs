/**
 * Continuous integration: install, lint, types and the README's test command; then interop against Debian's PCP, if the machine can install
 * it, and the reference's own test suite. Prints the slowest tests, the time of each step, and finally 'N passed, N failed'. Only needs
 * Node, as nothing is installed yet. `.ci/run [STEP...]` runs all steps or the named ones (`qa` for all lists of the suite); see
 * CONTRIBUTING.md.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { killAll, orphans } from './lib/ci/processes.mjs'
import { failures, nameOf, slowest } from './lib/ci/progress.mjs'
import { notRun, runStep } from './lib/ci/step.mjs'

const MINUTE_MS = 60_000
/** Time limit of the whole run, however busy the machine is. */
const LIMIT_MS = Number(process.env.CI_MINUTES ?? 58) * MINUTE_MS
const NEEDED_BYTES = 2e9
/** Lists of the suite mostly wait. With three, commands that a test starts within seconds are late. */
const LISTS_AT_ONCE = 2

const top = dirname(dirname(fileURLToPath(import.meta.url)))
const began = performance.now()
const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-ci-'))
const stopping = new AbortController()
const env = {
  ...process.env,
  PCP_TS_SEED: process.env.PCP_TS_SEED ?? String(Math.floor(Date.now() / 86_400_000)),
}
delete env.NODE_EXTRA_CA_CERTS
const results = []
const wanted = process.argv.slice(2)
const isWanted = (name) => wanted.length === 0 || wanted.includes(name) || wanted.includes(name.split(' ')[0])

const KNOWN = [
  'install',
  'reference',
  'browser',
  'lint',
  'types',
  'types of the page',
  'build',
  'site',
  'test',
  'fuzz',
  'interop',
  'lines',
  'qa',
]
const unknown = wanted.filter((name) => !KNOWN.includes(name) && !/^(qa|interop) /.test(name))
if (unknown.length > 0) {
  console.error(`.ci/run: no such step: ${unknown.join(', ')}; steps are ${KNOWN.join(', ')}`)
  process.exit(1)
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => stopping.abort(`${name} received`))
process.on('exit', () => rmSync(dir, { recursive: true, force: true }))

const left = killAll(() => orphans(top))
if (left.length > 0)
  console.log(`killed processes of an earlier run: ${left.map(({ command }) => command).join('; ')}`)
for (const place of places()) if (freeBytes(place) < NEEDED_BYTES) console.log(lackOfSpace(place))
console.log(`seed of the random tests: PCP_TS_SEED=${env.PCP_TS_SEED}`)

if (
  await step('install', 10, ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
) {
  const hasSetup = existsSync(join(top, '../shared/qa/setup-pcp'))
  const reference = hasSetup ? prepareReference() : undefined
  const checks = Promise.all([
    step('lint', 10, ['npm', 'run', '--silent', 'lint']),
    step('types', 10, ['node_modules/.bin/tsc', '-p', 'tsconfig.json']),
    step('types of the page', 10, ['node_modules/.bin/tsc', '-p', 'src/ui']),
  ])
  // All following steps share this build. The site needs only the sources.
  const site = step('site', 10, ['node', 'scripts/docs.mjs', 'build'])
  const isBuilt = await step('build', 10, ['node', 'scripts/build.mjs'])
  await Promise.all([checks, site])
  if (!isBuilt) skip(['test', 'fuzz', 'interop', 'lines', 'qa'], 'the build failed')
  else {
    await testAndInterop(reference)
    // Tests of the suite count events within seconds, so some fail if run beside the other steps.
    await lists(reference)
  }
} else skip(['lint', 'types', 'site', 'test', 'fuzz', 'interop', 'lines', 'qa'], 'the installation failed')
finish()

/** Installs the reference and a browser; resolves to whether both are available. */
async function prepareReference() {
  const isInstalled = await step('reference', 25, ['../shared/qa/setup-pcp'], {
    hint: () =>
      `\n${tail('/tmp/setup-pcp.log')}\nIt is installed from the mirror of /etc/apt: can this machine reach that?`,
  })
  if (!isInstalled || ['/usr/bin/chromium', '/usr/bin/google-chrome'].some(existsSync)) return isInstalled
  const packages = ['chromium', 'fonts-dejavu-core']
  return step('browser', 10, ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages], {
    hint: () => '\nThe mirror of /etc/apt has it: can this machine reach that?',
  })
}

async function testAndInterop(reference) {
  const test = step('test', 30, ['npm', 'test', '--silent'], { isLive: true })
  if (reference === undefined) {
    await test
    await fuzz()
    if (wanted.length > 0) skip(['interop', 'lines', 'qa'], '../shared/qa/setup-pcp is missing')
    else
      console.log(
        'interop and the suite of the reference: not run, because ../shared/qa/setup-pcp is missing',
      )
  } else if (await reference) {
    // Tests that run one at a time mostly wait.
    const alone = interop('alone')
    await test
    await Promise.all([alone.then(fuzz), interop('beside').then(lines)])
  } else {
    await test
    await fuzz()
    skip(['interop', 'lines'], 'the reference could not be installed')
  }
}

function interop(which, options) {
  return step(`interop ${which}`, 40, ['npm', 'test', '--silent', '--', `interop-${which}`], options)
}

/** How much is found in this time depends on the machine, so findings are printed, and only fail a run once they are tests. */
function fuzz() {
  return step('fuzz', 6, ['node', 'scripts/fuzz.mjs', '--all', '--minutes', '1', '--explore'])
}

/** As with fuzzing, findings are printed, and only fail a run once they are in the list of the interop test. */
function lines() {
  return step('lines', 10, ['node', 'scripts/lines.mjs', '--count', '120', '--seed', env.PCP_TS_SEED])
}

/**
 * Runs the lists of the reference's suite, some at a time; each has its own processes, network and directories. Of a line with alternatives,
 * a run takes one, by its seed; `.ci/run qa` takes all.
 */
async function lists(reference) {
  if (reference === undefined) return
  if (!(await reference)) return skip(['qa'], 'the reference could not be installed')
  const lines = readFileSync(join(top, 'test/interop/qa-lists'), 'utf8').trim().split('\n')
  const waiting = lines.flatMap((line) => {
    const forms = line.split(' | ')
    return wanted.length > 0 ? forms : [forms[Number(env.PCP_TS_SEED) % forms.length]]
  })
  const lane = async () => {
    for (let list = waiting.shift(); list !== undefined; list = waiting.shift())
      await step(`qa ${list}`, 40, ['npm', 'run', '--silent', 'qa', '--', ...list.split(' ')])
  }
  await Promise.all(Array.from({ length: LISTS_AT_ONCE }, lane))
}

/** Runs a step and records its result; resolves to whether nothing failed. `hint` is added to the output of a failure. */
async function step(name, limitMinutes, command, { isLive = false, hint } = {}) {
  if (!isWanted(name)) return true
  const rest = LIMIT_MS - (performance.now() - began)
  if (rest <= 0 || stopping.signal.aborted)
    return skip([name], rest <= 0 ? 'no time is left' : stopping.signal.reason)
  console.log(`== ${name}: begun`)
  const limitMs = Math.min(limitMinutes * MINUTE_MS, rest)
  const result = await runStep({ name, command, top, dir, env, limitMs, stopped: stopping.signal, isLive })
  results.push(result)
  console.log(`== ${name}: ended after ${Math.round(result.seconds)} s`)
  if (!isLive) process.stdout.write(result.output)
  if (result.failed === 0) return true
  if (hint !== undefined) console.log(hint())
  for (const place of places()) if (freeBytes(place) < NEEDED_BYTES / 10) console.log(lackOfSpace(place))
  return false
}

/** Counts steps that cannot run as failed. */
function skip(names, why) {
  for (const name of names.filter(isWanted)) {
    results.push(notRun(name, why))
    process.stdout.write(results.at(-1).output)
  }
  return false
}

function finish() {
  const notes = results.flatMap((result) => result.notes)
  const isOurs = ({ suite }) => !suite.startsWith('qa ')
  print(
    'slowest 20 tests',
    slowest(notes, 20, (one) => one.test !== undefined && isOurs(one)),
  )
  print(
    'slowest 20 files',
    slowest(notes, 20, (one) => one.test === undefined && isOurs(one)),
  )
  print('20 files with most processor time', slowest(notes, 20, isOurs, 'cpuMs'))
  print(
    "slowest 20 tests of the reference's suite",
    slowest(notes, 20, (one) => one.test !== undefined && !isOurs(one)),
  )
  print('passed only when run once more', notes.filter((one) => one.again).map(nameOf))
  print('failed', failures(notes))
  print(
    'steps',
    results.map(({ name, seconds, cpuSeconds, passed, failed }) => {
      const cpu = cpuSeconds === undefined ? '' : `, ${Math.round(cpuSeconds)} s of processor`
      return `${String(Math.round(seconds)).padStart(6)} s${cpu}: ${name}: ${passed} passed, ${failed} failed`
    }),
  )
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  if (results.length === 0) skip(wanted, 'no such step')
  if (sum('failed') > 0) console.log(`PCP_TS_SEED=${env.PCP_TS_SEED} repeats the random tests of this run`)
  console.log(`${Math.round((performance.now() - began) / MINUTE_MS)} minutes`)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  process.exit(sum('failed') === 0 ? 0 : 1)
}

function print(title, lines) {
  if (lines.length > 0) console.log(`== ${title}\n${lines.join('\n')}`)
}

/** Directories to which the steps write. */
function places() {
  return [top, tmpdir(), '/var/tmp']
}

function freeBytes(place) {
  try {
    const { bavail, bsize } = statfsSync(place)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY // missing directory
  }
}

function lackOfSpace(place) {
  return `The disk of ${place} has ${Math.round(freeBytes(place) / 1e6)} MB left; a run needs ${NEEDED_BYTES / 1e6} MB.`
}

function tail(file) {
  return existsSync(file)
    ? readFileSync(file, 'utf8').split('\n').slice(-15).join('\n')
    : `${file} was not written`
}
