/**
 * Compares atop with the reference: text and parseable lines, sample by sample, over archives of PCP's own tests; half of the sets of options
 * per day (CONTRIBUTING.md: Random tests).
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { isSampled } from '../lib/seed.ts'
import { CASES, HOST_ONLY, LEFT_OUT, type LeftOut } from './lib/pcp-atop-cases.ts'
import { runPcpHere } from './lib/pcp-here.ts'
import { run } from './lib/programs.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

const REFERENCE = '/usr/bin/pcp'
const canCompare = hasSuite && existsSync('/usr/lib/pcp/bin/pcp-atop')
if (!canCompare) console.log('skipped: the archives of the reference or its atop are not installed')

const ENV = { TZ: 'UTC', PCP_DERIVED_CONFIG: '', HOME: '/nonexistent' }

for (const [archive, all] of Object.entries(CASES))
  test.skipIf(!canCompare)(`atop shows ${archive} like the reference`, { timeout: 900_000 }, async () => {
    const cases = all.filter((_, i) => isSampled(i, 2))
    const differences: string[] = []
    const leftOut = LEFT_OUT.filter(({ archives }) => archives?.includes(archive) ?? true)
    const count = { samples: 0, lines: 0, without: 0 }
    for (const options of cases) {
      const words = options.split(' ').filter(Boolean)
      const args = ['-z', '-a', resolve(suiteFolder('archives'), archive), 'atop', ...words]
      const theirs = samplesOf((await run(REFERENCE, args, { env: ENV, timeoutMs: 120_000 })).stdout)
      const ours = samplesOf((await runPcpHere(args, ENV)).stdout)
      if (ours.length !== theirs.length)
        differences.push(`${options}: ${ours.length} samples, not ${theirs.length}`)
      for (const [i, wanted] of theirs.entries()) {
        // At the start of an archive the reference shows unknown values as -1 or 0, and processes without a name.
        if (wanted.includes('-1.00') || (/-P (?!cpu)/i.test(options) && i === 0)) {
          count.without++
          continue
        }
        // It is only partly known which processes were busy at the last record.
        const isHostOnly = HOST_ONLY.has(archive) || i === theirs.length - 1
        const expected = comparedLines(wanted, isHostOnly, leftOut)
        const printed = comparedLines(ours[i] ?? '', isHostOnly, leftOut)
        count.samples++
        count.lines += expected.length
        const at = expected.findIndex((line, k) => line !== printed[k])
        if (at >= 0 || printed.length > expected.length)
          differences.push(
            `${options}: sample ${i}: ${JSON.stringify(printed.at(at))}, not ${JSON.stringify(expected.at(at))}`,
          )
      }
    }
    console.log(
      `atop over ${archive} beside the reference: ${cases.length} runs, ${count.samples} samples, ${count.lines} lines ` +
        `(${count.without} samples without values not compared), ${differences.length} differences`,
    )
    expect(differences).toEqual([])
  })

function samplesOf(text: string): readonly string[] {
  return text.includes('SEP\n') ? text.split('SEP\n') : text.split(/^(?=ATOP - )/m).filter(Boolean)
}

/** Removes intended differences and sorts the lines. */
function comparedLines(sample: string, isHostOnly: boolean, leftOut: readonly LeftOut[]): readonly string[] {
  const lines: string[] = []
  const table = isHostOnly ? sample.search(/^ *(?:PID|NPROCS) /m) : -1
  for (let line of (table < 0 ? sample : sample.slice(0, table)).split('\n')) {
    if (leftOut.some(({ from, to }) => to === undefined && from.test(line))) continue
    for (const { from, to } of leftOut) if (to !== undefined) line = line.replace(from, to)
    lines.push(line)
  }
  return lines.sort()
}
