/**
 * Runs a list of the reference's own test suite with our commands instead of the installed ones.
 * `npm run qa LIST [--part K/N] [option...]`, LIST one of live, archive, agents, more, series, tools; `--part` runs every Nth test from the Kth on; other
 * options go to the runner. Needs the runner and the installed reference, as root: PCP_QA names the runner's folder (default ../shared/qa).
 * The runner isolates the processes, network and PCP directories of each run, and this script /tmp and /var/tmp, so that lists can run
 * side by side. Output of failing tests stays in /var/tmp/pcp-ts-qa, by list.
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  unwatchFile,
  watchFile,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { note } from './lib/ci/progress.mjs'
import { alone, buildIfChanged, cleanEnv, top } from './lib/run.mjs'

/** More unexpected failures than this have a common cause, and are not repeated. */
const MOST_AGAIN = 5
/** Polling interval of the runner's progress; shorter than the shortest test. */
const WATCH_MS = 50
/** Where the work folder is mounted inside a run: the directories for temporary files, which may contain it and the runner, are covered. */
const INSIDE = '/run/pcp-ts-qa'
/** Time limit of a test. Tests that start a hundred commands take longer than the runner's 180 s on a busy machine. */
const TEST_SECONDS = 420
/** `RUNNERS PLACE CHECKOUT OPTION...`: tests name temporary files after process numbers, which are the same in each run. */
const IN_PLACE = `set -e
mkdir -p "$1/checkout" "$1/runner" "$1/tmp" "$1/var-tmp" ${INSIDE}
chmod 1777 "$1/tmp" "$1/var-tmp"
mount --bind "$1" ${INSIDE}
mount --bind "$2" ${INSIDE}/checkout
mount --bind "$0" ${INSIDE}/runner
mount --bind ${INSIDE}/tmp /tmp
mount --bind ${INSIDE}/var-tmp /var/tmp
cd ${INSIDE}/checkout
shift 2
sed 's/timeout -s KILL 180 /timeout -s KILL ${TEST_SECONDS} /' ${INSIDE}/runner/run > ${INSIDE}/run
exec bash ${INSIDE}/run --bin ${INSIDE}/checkout/bin --keep ${INSIDE}/"$@"`

const qa = realpathSync(resolve(top, process.env.PCP_QA ?? '../shared/qa'))
const [list, ...given] = process.argv.slice(2)
if (list === undefined || !existsSync(join(qa, 'lists', list))) {
  console.error(`usage: npm run qa LIST [option...]   (no list "${list ?? ''}" in ${join(qa, 'lists')})`)
  process.exit(1)
}
const { part, parts, options } = withoutPart(given)
const suite = ['qa', list, ...given].join(' ')
const place = join('/var/tmp/pcp-ts-qa', [list, ...given].join(' ').replace(/[^\w]+/g, '-'))
rmSync(place, { recursive: true, force: true })
mkdirSync(place, { recursive: true })
// Another list may be using the build.
alone('npm run qa', () => {
  buildIfChanged()
  enableServices()
})
// Our agents have different help texts and rules.
const known = join(
  top,
  'test',
  'interop',
  options.includes('--agents') ? 'known-failures-agents' : 'known-failures',
)
const causes = new Map(
  readFileSync(known, 'utf8')
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
)
/** Tests that passed only when repeated by the runner or this script: each reveals a defect here or in the test. */
const unsteady = new Set()
const results = await runTests('kept', ['--list', listFile()])
const surprises = [...results].filter(([test, result]) => result === 'FAIL' && !causes.has(test))
if (surprises.length > 0 && surprises.length <= MOST_AGAIN) {
  console.log(`failed twice, run once more separately: ${surprises.map(([test]) => test).join(' ')}`)
  for (const [test, result] of await runTests(
    'kept-again',
    surprises.map(([test]) => test),
  )) {
    results.set(test, result)
    if (result === 'pass') unsteady.add(test)
  }
}
const count = (wanted) => [...results.values()].filter((result) => result === wanted).length
for (const [test, result] of results) {
  if (result === 'FAIL' && !causes.has(test)) fail('unexpected failure', test)
  // A known failure that passes is a mistake in the list, unless it is marked 'now and then'.
  if (result === 'pass' && causes.has(test) && !causes.get(test).startsWith('now and then'))
    fail('passes but is listed as known to fail', test)
}
if (count('pass') === 0) fail('no test was run')
for (const test of unsteady) {
  note({ suite, test, again: true })
  console.log(`passed only when run once more: ${test}${causes.has(test) ? ` (${causes.get(test)})` : ''}`)
}
// Afterwards only the output of failing tests is useful.
for (const name of [
  'checkout',
  'runner',
  'tmp',
  'var-tmp',
  'kept/ov',
  'kept/root',
  'kept-again/ov',
  'kept-again/root',
])
  rmSync(join(place, name), { recursive: true, force: true })
console.log(
  `${count('pass')} passed, ${count('FAIL')} failed, ${count('skip')} skipped, ${unsteady.size} of them passed only when run once more`,
)

function fail(why, test) {
  note({ suite, test, error: why })
  console.log(test === undefined ? why : `${why}: ${test}`)
  process.exitCode = 1
}

/** Runs tests and keeps the output of failing ones in a folder; resolves to the result of each: pass, FAIL or skip. */
function runTests(kept, which) {
  const args = [qa, place, top, kept, ...which, ...options]
  const runner = spawn('unshare', ['--mount', 'bash', '-c', IN_PLACE, ...args], {
    stdio: ['inherit', 'pipe', 'inherit'],
    env: cleanEnv({
      // The suite expects the values of 6.0.3 between two observations (docs/explanation/differences.md, Interpolation).
      PCP_INTERP_EARLIER: '1',
      // It expects the identifiers of 6.0.3 (docs/reference/key-server.md).
      PCP_SERIES_FIRST_LABELS: '1',
      // Its loggers and clients run under different accounts (docs/explanation/differences.md, pmlogger).
      PCP_ARCHIVE_MODE: '0644',
      PMLOGGER_ACCESS: 'allow * : all;',
    }),
  })
  const attempts = new Map()
  const unwatch = watchAttempts(join(place, kept, 'current'), (test) => {
    attempts.set(test, (attempts.get(test) ?? 0) + 1)
    note({ suite, test, began: true })
  })
  let began = performance.now()
  let output = ''
  runner.stdout.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text)
    output += text
    for (const [, test, result] of text.matchAll(/^(\d+) (pass|FAIL|skip)\b/gm)) {
      note({ suite, test, ms: performance.now() - began })
      began = performance.now()
      if (result === 'pass' && attempts.get(test) > 1) unsteady.add(test)
    }
  })
  return new Promise((resolve) => {
    runner.on('close', () => {
      unwatch()
      if (!/^\d+ passed, \d+ failed, \d+ skipped$/m.test(output))
        fail('the runner ended before the last test')
      resolve(
        new Map(
          [...output.matchAll(/^(\d+) (pass|FAIL|skip)\b/gm)].map(([, test, result]) => [test, result]),
        ),
      )
    })
  })
}

/** Calls `attempted` for each attempt at a test; the runner writes its number into a file each time. */
function watchAttempts(file, attempted) {
  watchFile(file, { interval: WATCH_MS }, (now, before) => {
    // Each command of a test reads the file, which changes its stat.
    if (now.mtimeMs === before.mtimeMs) return
    const test = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
    if (/^\d+$/.test(test)) attempted(test)
  })
  return () => unwatchFile(file)
}

/**
 * Returns the list for the runner, or its part. The runner takes pmdate for an agent, and replaces agents only with --agents. Without
 * it, pmdate is removed from the list, so tests use the reference's pmdate beside our other commands.
 */
function listFile() {
  const lines = readFileSync(join(qa, 'lists', list), 'utf8')
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .filter((_, i) => i % parts === part - 1)
  const text = `${lines.join('\n')}\n`
  writeFileSync(join(place, list), options.includes('--agents') ? text : text.replace(/ pmdate\b/g, ''))
  return `${INSIDE}/${list}`
}

/** Removes `--part K/N` from the options; 1/1 without one. */
function withoutPart(given) {
  const at = given.indexOf('--part')
  if (at < 0) return { part: 1, parts: 1, options: given }
  const [part, parts] = (given[at + 1] ?? '').split('/').map(Number)
  if (!(part >= 1 && part <= parts)) {
    console.error(`--part ${given[at + 1] ?? ''}: not K/N with K from 1 to N`)
    process.exit(1)
  }
  return { part, parts, options: given.toSpliced(at, 2) }
}

/**
 * The start scripts of the reference warn on standard output if a service is not enabled permanently, which its tests
 * report as a difference. Debian enables services through systemd only, which is hidden from the tests.
 */
function enableServices() {
  const links = readdirSync('/etc/rc3.d')
  for (const service of ['pmcd', 'pmlogger', 'pmie']) {
    if (!links.some((link) => /^S\d+/.test(link) && link.endsWith(service)))
      execFileSync('update-rc.d', [service, 'defaults'], { stdio: 'inherit' })
  }
}
