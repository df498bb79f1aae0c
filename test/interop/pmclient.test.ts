/**
 * Compares pmclient with PCP's over archives. For metrics other than counters, 6.0.3 uses the previous observation, but 7.2.1 and ours the
 * nearest one: memory and load may be those of the next record. Utilization in these archives differs by at most 0.01.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'

const DIR = '/var/lib/pcp/testsuite/archives'
const ARCHIVES = [
  'moomba.client',
  'omen.client',
  'all-sles9-sp1',
  '20180416.10.00',
  'pcp-zeroconf',
  'coverage',
]
const OPTIONS = [
  ['-t', '5', '-s', '20', '-z'],
  ['-t', '1', '-s', '20', '-Z', 'UTC'],
]

interface Run {
  readonly status: number | null
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

function run(command: string, args: readonly string[]): Run {
  const { status, stdout } = spawnSync(command, args, { cwd: DIR, encoding: 'utf8' })
  const lines = stdout.split('\n')
  const isRow = (line: string): boolean => /^\s*(\d\.\d\d|\?) /.test(line)
  return {
    status,
    headings: lines.filter((line) => !isRow(line)),
    rows: lines.filter(isRow).map((line) => line.trim().split(/\s+/)),
  }
}

test('the same headings, rates and gaps', () => {
  if (spawnSync('pmclient', ['-V']).error !== undefined || !existsSync(DIR)) {
    console.log('skipped: no pmclient of PCP, or no archives of its tests, here')
    return
  }
  let rows = 0
  let equal = 0
  for (const archive of ARCHIVES) {
    for (const options of OPTIONS) {
      const args = ['-a', archive, ...options]
      const theirs = run('pmclient', args)
      const ours = run(`${process.cwd()}/bin/pmclient`, args)
      const what = args.join(' ')
      expect(ours.status, what).toBe(theirs.status)
      expect(ours.headings, what).toEqual(theirs.headings)
      expect(ours.rows.length, what).toBe(theirs.rows.length)
      for (const [i, row] of ours.rows.entries()) {
        const theirRow = theirs.rows[i]!
        expect(row.map((cell) => cell === '?').join(), `${what} row ${i}`).toBe(
          theirRow.map((cell) => cell === '?').join(),
        )
        if (row[0] !== '?')
          expect(Math.abs(Number(row[0]) - Number(theirRow[0])), `${what} row ${i}`).toBeLessThan(0.0101)
        rows++
        if (row.join() === theirRow.join()) equal++
      }
    }
  }
  console.log(
    `pmclient: ${rows} rows of ${ARCHIVES.length} archives compared, ${equal} the same in every column`,
  )
  expect(rows).toBeGreaterThan(100)
})
