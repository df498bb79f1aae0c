/** Compares reading every archive of PCP's own tests with pmdumplog: errors, ends, records and marks. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { parseFileName } from '../../src/archive/file-names.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { errStr, isError, PcpError } from '../../src/model/errors.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'

const TOP = '/var/lib/pcp/testsuite'
const DUMP = '/usr/bin/pmdumplog'
const hasArchives = existsSync(`${TOP}/archives`) && existsSync(DUMP)
/** Larger archives are not dumped completely. */
const DUMPED_BYTES = 600_000

/**
 * Archives for which pmdumplog is wrong: it omits records that go backwards in time, and stops at an index entry off record
 * boundaries.
 */
const BACKWARDS = new Set([
  'gfs',
  '20230506.20.02-01',
  'archive-20141125-000009',
  'badlog-3',
  'badlog-4',
  'badti-4',
])

/** Archives with incomplete metadata, which PCP does not open. */
const TORN: ReadonlySet<string> = new Set(['badlen-9'])

if (!hasArchives) console.log(`skipped: ${TOP}/archives or ${DUMP} is not installed`)

const env = { ...process.env, PCP_STDERR: '' }

/** Base names with any file in a directory, and the size of all volumes. */
function archivesIn(directory: string): Map<string, number> {
  const sizes = new Map<string, number>()
  for (const name of readdirSync(directory)) {
    const parsed = parseFileName(name)
    if (parsed === undefined) continue
    const isData = /^\d/.test(parsed.part)
    // Compressed files usually expand about ten times.
    const size = isData ? statSync(`${directory}/${name}`).size * (parsed.suffix === '' ? 1 : 10) : 0
    sizes.set(parsed.base, (sizes.get(parsed.base) ?? 0) + size)
  }
  return sizes
}

const two = (number: number): string => String(number).padStart(2, '0')

function clock({ sec, nsec }: { sec: number; nsec: number }): string {
  const date = new Date(sec * 1000)
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':')
  return `${time}.${String(Math.floor(nsec / 1000)).padStart(6, '0')}`
}

/** Returns time and number of metrics of each record in pmdumplog's form, and the error that ended reading. */
function ourRecords(archive: Archive): string[] {
  const reader = new RecordReader(archive, { reportsTears: true })
  const lines: string[] = []
  try {
    for (let record = reader.next(); record !== undefined; record = reader.next())
      lines.push(`${clock(record)} ${record.count === 0 ? 'mark' : record.count}`)
  } catch (error) {
    lines.push(errStr((error as PcpError).status))
  }
  return lines
}

function theirRecords(path: string): string[] {
  const { stdout, stderr } = spawnSync(DUMP, ['-Z', 'UTC', path], {
    env,
    maxBuffer: 1 << 30,
    encoding: 'latin1',
  })
  const lines: string[] = []
  for (const [, time, what] of stdout.matchAll(/^(\d\d:\d\d:\d\d\.\d{6})\d* +(<mark>|\d+ metrics?)/gm))
    lines.push(`${time} ${what === '<mark>' ? 'mark' : Number.parseInt(what!, 10)}`)
  const failure = /pmFetch\w*: (.*)/.exec(stderr)
  if (failure !== null) lines.push(failure[1]!)
  return lines
}

describe.skipIf(!hasArchives).each(['archives', 'badarchives', 'tmparch'])('%s', (directory) => {
  const sizes =
    hasArchives && existsSync(`${TOP}/${directory}`)
      ? archivesIn(`${TOP}/${directory}`)
      : new Map<string, number>()

  test('are opened or rejected like by PCP, with the same start and end', () => {
    const tally = { opened: 0, refused: 0, ends: 0 }
    for (const base of sizes.keys()) {
      const path = `${TOP}/${directory}/${base}`
      const { stdout, stderr } = spawnSync(DUMP, ['-L', '-Z', 'UTC', path], { env, encoding: 'latin1' })
      const theirs = /Cannot open archive "[^"]*": (.*)/.exec(stderr)?.[1]
      try {
        const archive = Archive.open(path, archiveFiles())
        expect([base, theirs]).toEqual([base, TORN.has(base) ? errStr(-12373) : undefined])
        tally.opened++
        if (TORN.has(base)) {
          archive.close()
          continue
        }
        expect(stdout).toMatch(new RegExp(`commencing .* ${clock(archive.start)}`))
        const end = archive.end()
        if (isError(end)) expect(`${base} ${stdout}${stderr}`).toMatch(/Cannot locate end|Corrupted record/)
        else if (!/Cannot locate end/.test(stderr)) {
          tally.ends++
          expect(`${base} ${stdout}`).toMatch(new RegExp(`ending  .* ${clock(end)}`))
        }
        archive.close()
      } catch (error) {
        if (!(error instanceof PcpError)) throw error
        tally.refused++
        expect([base, errStr(error.status)]).toEqual([base, theirs])
      }
    }
    console.log(`${directory}: ${tally.opened} opened, ${tally.refused} refused, ${tally.ends} ends compared`)
  })

  test('have the same records in both directions', () => {
    const tally = { archives: 0, records: 0, marks: 0, values: 0, notDumped: 0 }
    for (const [base, size] of sizes) {
      const path = `${TOP}/${directory}/${base}`
      let archive: Archive
      try {
        archive = Archive.open(path, archiveFiles())
      } catch {
        continue // compared in the previous test
      }
      if (TORN.has(base)) continue
      const ours = ourRecords(archive)
      const reader = new RecordReader(archive, { reportsTears: true })
      const isWhole = /\d$|mark$/.test(ours.at(-1) ?? '0')
      reader.toEnd()
      let backwards = 0
      for (
        let record = isWhole ? reader.previous() : undefined;
        record !== undefined;
        record = reader.previous()
      ) {
        backwards++
        if (record.count === 0) tally.marks++
        for (let s = 0; s < record.count; s++) tally.values += Math.max(0, record.statuses[s]!)
      }
      if (isWhole) expect([base, backwards]).toEqual([base, ours.length])
      tally.archives++
      tally.records += ours.length
      if (size > DUMPED_BYTES || BACKWARDS.has(base)) tally.notDumped++
      else expect([base, ours]).toEqual([base, theirRecords(path)])
      archive.close()
    }
    console.log(
      `${directory}: ${tally.archives} archives, ${tally.records} records, ${tally.marks} marks, ${tally.values} values; ` +
        `${tally.notDumped} archives not compared record by record`,
    )
  })
})
