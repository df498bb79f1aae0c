/**
 * Compares dstat with the reference: reports, files and messages over archives of PCP's own tests; a third of the runs per day
 * (CONTRIBUTING.md: Random tests).
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isSampled } from '../lib/seed.ts'
import { CASES, REASONS } from './lib/pcp-dstat-cases.ts'
import { runPcpHere } from './lib/pcp-here.ts'
import { type Printed, run } from './lib/programs.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

const REFERENCE = '/usr/bin/pcp'
const canCompare = hasSuite && existsSync('/usr/lib/pcp/bin/pcp-dstat')
if (!canCompare) console.log('skipped: the archives of the reference or its dstat are not installed')

const ENV = { TZ: 'UTC', PCP_DERIVED_CONFIG: '', HOME: '/nonexistent', TERM: 'xterm' }
/** PCP skips samples that it processes too late, even in archives. */
const TRIES = 3
const MISSING = /^Invalid metric .*$/m

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dstat-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Report extends Printed {
  readonly csv: string
}

test.skipIf(!canCompare)('dstat prints the same as the reference', { timeout: 1_800_000 }, async () => {
  const expected = new Map(REASONS.flatMap(({ why, runs }) => runs.map((each) => [each, why])))
  const surprises: string[] = []
  const count = { runs: 0, lines: 0, missing: 0, different: 0 }
  for (const [archive, options] of Object.entries(CASES))
    for (const [i, each] of options.entries()) {
      if (!isSampled(i, 12)) continue
      const name = `${archive} ${each}`
      const ours = await report(archive, each, (args) => runPcpHere(args, ENV))
      const theirs = await reference(archive, each, ours)
      count.runs++
      count.lines += theirs.stdout.split('\n').length + theirs.csv.split('\n').length - 2
      const metric = MISSING.exec(theirs.stderr)
      if (metric !== null) count.missing++
      // A missing metric ends the reference's report; ours continues without that plugin and exits with the same status.
      const difference =
        metric === null
          ? differenceOf(ours, theirs)
          : ours.stderr.startsWith(metric[0]) && ours.status === theirs.status
            ? undefined
            : ours.stderr
      if (difference !== undefined) count.different++
      if ((difference === undefined) === expected.has(name))
        surprises.push(`${name}: ${difference ?? `is the same now: ${expected.get(name)}`}`)
    }
  console.log(
    `dstat beside the reference: ${count.runs} runs, ${count.lines} lines, ${count.missing} of missing metrics, ` +
      `${count.different} different as listed`,
  )
  expect(surprises).toEqual([])
})

async function report(
  archive: string,
  options: string,
  runPcp: (args: readonly string[]) => Promise<Printed>,
): Promise<Report> {
  const file = join(folder, 'report.csv')
  rmSync(file, { force: true })
  const [before = '', after = ''] = options.split('|')
  const words = (text: string): string[] => text.split(' ').filter(Boolean)
  const args = ['-z', '-a', resolve(suiteFolder('archives'), archive), ...words(before), 'dstat']
  const printed = await runPcp([...args, ...words(after).map((word) => (word === 'CSV' ? file : word))])
  return { ...printed, csv: existsSync(file) ? readFileSync(file, 'utf8') : '' }
}

async function reference(archive: string, options: string, ours: Report): Promise<Report> {
  for (let tries = 1; ; tries++) {
    const theirs = await report(archive, options, (args) =>
      run(REFERENCE, args, { env: ENV, timeoutMs: 120_000 }),
    )
    const isShort = theirs.stdout.length < ours.stdout.length && !MISSING.test(theirs.stderr)
    if (tries === TRIES || !(isShort || theirs.stderr.includes('Traceback'))) return theirs
  }
}

/** Returns the first line that differs. */
function differenceOf(ours: Report, theirs: Report): string | undefined {
  if (ours.status !== theirs.status) return `status ${ours.status}, not ${theirs.status}`
  for (const part of ['stdout', 'csv'] as const) {
    const printed = linesOf(ours[part])
    const wanted = linesOf(theirs[part])
    const at = printed.findIndex((line, i) => line !== wanted[i])
    if (at >= 0 || wanted.length > printed.length)
      return `${part}: ${JSON.stringify(printed.at(at))}, not ${JSON.stringify(wanted.at(at))}`
  }
  return undefined
}

/** Removes the command line and date of files, and the colours of blanks. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('"Cmdline:'))
    .map((line) => line.replaceAll('\x1b[0;37m  ', '  '))
}
