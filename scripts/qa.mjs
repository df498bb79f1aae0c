/**
 * Runs a list of the reference's own test suite with our commands in place of the installed ones.
 * `npm run qa LIST [option...]`, LIST one of live, archive, agents, tools; options go to the runner.
 * Needs the runner and the installed reference, as root: PCP_QA names the runner's folder (default ../shared/qa). Each run has a /tmp
 * of its own, so that lists can run side by side; what failing tests printed stays in /var/tmp/pcp-ts-qa, by list.
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { alone, buildIfChanged, cleanEnv, top } from './lib/run.mjs'

/** More surprises than these are none of chance. */
const MOST_AGAIN = 5
/** `RUNNER PLACE CHECKOUT OPTION...`: tests name files in /tmp after process numbers, which are the same in each run. */
const IN_PLACE = `set -e
place=$1 checkout=$2
shift 2
mkdir -p "$place/checkout" "$place/tmp"
chmod 1777 "$place/tmp"
mount --bind "$checkout" "$place/checkout"
mount --bind "$place/tmp" /tmp
cd "$place/checkout"
exec "$0" --bin "$place/checkout/bin" --keep "$place/kept" "$@"`

const qa = realpathSync(resolve(top, process.env.PCP_QA ?? '../shared/qa'))
const [list, ...options] = process.argv.slice(2)
if (list === undefined || !existsSync(join(qa, 'lists', list))) {
  console.error(`usage: npm run qa LIST [option...]   (no list "${list ?? ''}" in ${join(qa, 'lists')})`)
  process.exit(1)
}
const place = join('/var/tmp/pcp-ts-qa', [list, ...options].join(' ').replace(/[^\w]+/g, '-'))
rmSync(place, { recursive: true, force: true })
mkdirSync(place, { recursive: true })
// Another list may be running what is built.
alone('npm run qa', () => {
  buildIfChanged()
  enableServices()
})
// Agents of ours have texts and rules of their own.
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
const results = await runTests(['--list', listFile()])
const surprises = [...results].filter(([test, result]) => result === 'FAIL' && !causes.has(test))
// In surroundings of its own a test that was only disturbed passes.
if (surprises.length > 0 && surprises.length <= MOST_AGAIN) {
  console.log(`once more: ${surprises.map(([test]) => test).join(' ')}`)
  for (const [test, result] of await runTests(surprises.map(([test]) => test))) results.set(test, result)
}
const count = (wanted) => [...results.values()].filter((result) => result === wanted).length
for (const [test, result] of results) {
  if (result === 'FAIL' && !causes.has(test)) fail(`unexpected failure: ${test}`)
  // A known failure that passes is a mistake in the list of them; 'now and then' says that it may.
  if (result === 'pass' && causes.has(test) && !causes.get(test).startsWith('now and then'))
    fail(`passes but is listed as known to fail: ${test}`)
}
if (count('pass') === 0) fail('no test was run')
console.log(`${count('pass')} passed, ${count('FAIL')} failed, ${count('skip')} skipped`)

function fail(why) {
  console.log(why)
  process.exitCode = 1
}

/** Runs tests; resolves to the result of each: pass, FAIL or skip. */
function runTests(which) {
  const args = [join(qa, 'run'), place, top, ...which, ...options]
  const runner = spawn('unshare', ['--mount', 'bash', '-c', IN_PLACE, ...args], {
    stdio: ['inherit', 'pipe', 'inherit'],
    // The suite expects what 6.0.3 shows between two observations (docs/differences.md, Interpolation).
    env: cleanEnv({ PCP_INTERP_EARLIER: '1' }),
  })
  let output = ''
  runner.stdout.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text)
    output += text
  })
  return new Promise((resolve) => {
    runner.on('close', () => {
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

/**
 * The runner takes pmdate for one of the agents, which stand in with --agents alone, and then misses it. Without --agents it is the reference's
 * in the tests that use it beside others of ours.
 */
function listFile() {
  const file = join(qa, 'lists', list)
  if (options.includes('--agents')) return file
  const mended = join(place, list)
  writeFileSync(mended, readFileSync(file, 'utf8').replace(/ pmdate\b/g, ''))
  return mended
}

/**
 * The start scripts of the reference warn on standard output when a service is not enabled for good, and its tests take
 * that for a difference. Debian enables services by systemd alone, which is hidden from the tests.
 */
function enableServices() {
  const links = readdirSync('/etc/rc3.d')
  for (const service of ['pmcd', 'pmlogger', 'pmie']) {
    if (!links.some((link) => /^S\d+/.test(link) && link.endsWith(service)))
      execFileSync('update-rc.d', [service, 'defaults'], { stdio: 'inherit' })
  }
}
