/**
 * Runs the tests on a fresh machine: installs, builds if needed, then runs unit and end-to-end tests with our daemons on loopback.
 * `npm test -- interop` (or `npm run test:interop`) runs tests that need the reference, `fuzz` the long fuzz runs.
 * Prints 'N passed, N failed' at the end.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { alone, buildIfChanged, cleanEnv, packageBin, run, top } from './lib/run.mjs'

const known = ['unit', 'e2e', 'interop', 'interop-beside', 'interop-alone', 'fuzz']
const named = process.argv.slice(2).filter((arg) => known.includes(arg))
const rest = process.argv.slice(2).filter((arg) => !known.includes(arg))
const projects = named.length > 0 ? named : ['unit', 'e2e']

alone('npm test', () => buildIfChanged('all'))
const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-test-'))
const report = join(dir, 'report.json')
// `interop` is both projects; the files of one run in parallel.
const args = ['run', ...projects.flatMap((name) => ['--project', name === 'interop' ? 'interop*' : name])]
const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`]
// CI reports slow and hanging tests.
if (process.env.CI_PROGRESS !== undefined)
  reporters.push(`--reporter=${join(top, 'scripts', 'lib', 'ci', 'reporter.mjs')}`)
const env = cleanEnv({ NO_COLOR: '1' })
const status = run(packageBin('vitest'), [...args, ...reporters, ...rest], { env })
let passed = 0
let failed = 0
try {
  const totals = JSON.parse(readFileSync(report, 'utf8'))
  passed = totals.numPassedTests
  failed =
    totals.numFailedTests +
    totals.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length
} catch {
  failed = 1 // the runner exited without a report
}
rmSync(dir, { recursive: true, force: true })
if (status !== 0 && failed === 0) failed = 1
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
