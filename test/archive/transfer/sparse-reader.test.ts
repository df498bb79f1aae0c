import { copyFileSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import type { RecordView } from '../../../src/archive/record-view.ts'
import { SparseReader } from '../../../src/archive/transfer/sparse-reader.ts'
import { ArchiveWriter } from '../../../src/archive/write/writer.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_STRING } from '../../../src/model/types.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { makeSet } from '../../../src/model/value-writer.ts'
import { emptySet } from '../../../src/model/values.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'

const TYPES = [PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_STRING]
const METRICS = 45
const INSTS = Array.from({ length: 20 }, (_, i) => i * 2)
const typeOf = (pmid: number): number => TYPES[pmid % 3]!

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'sparse-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Large and small records, marks, two volumes; metric 7 is missing from every other record. */
function make(name: string, version: 2 | 3): string {
  const base = join(dir, name)
  const writer = ArchiveWriter.create(archiveOutput(base), {
    version,
    hostname: 'h',
    timezone: 'UTC',
    pid: 7,
  })
  for (let pmid = 1; pmid <= METRICS; pmid++)
    writer.desc({ pmid, type: typeOf(pmid), indom: 5, sem: 3, units: 0 }, [`m${pmid}`])
  for (let r = 0; r < 12; r++) {
    const at = { sec: 1000 + r, nsec: 5000 }
    const few = r % 5 === 4
    const sets = []
    for (let pmid = 1; pmid <= (few ? 3 : METRICS); pmid++) {
      if (pmid === 7 && r % 2 === 1) continue
      if (pmid === 11) sets.push(emptySet(pmid, -12350))
      else {
        const values = INSTS.map((inst) =>
          typeOf(pmid) === PM_TYPE_STRING
            ? 'x'.repeat((pmid * r * inst) % 700)
            : pmid * 1000 + r * 10 + inst / 2,
        )
        sets.push(makeSet(pmid, typeOf(pmid), INSTS, values))
      }
    }
    writer.result(at, sets)
    if (r === 3) writer.mark()
    if (r === 7) writer.switchVolume(at)
  }
  writer.close()
  return base
}

/** Values of some metrics in a record. */
function told(record: RecordView, wanted: ReadonlySet<number>): unknown {
  const { timestamp, sets } = record.toResult()
  return [
    timestamp,
    record.count === 0,
    ...sets
      .filter(({ pmid }) => wanted.has(pmid))
      .map((set) => (set.status < 0 ? set.status : [set.pmid, valuesOf(set, typeOf(set.pmid))])),
  ]
}

/** Everything that a reader returns, and its final error. */
function read(
  base: string,
  wanted: ReadonlySet<number>,
  isSparse: boolean,
): { records: unknown[]; end: string } {
  const archive = Archive.open(base, archiveFiles())
  const plain = new RecordReader(archive, { checkValues: false })
  const first = plain.next()
  const records: unknown[] = []
  try {
    if (first === undefined) return { records, end: 'ok' }
    const sparse = new SparseReader(archive, wanted)
    sparse.startAt(first)
    plain.rewind()
    for (;;) {
      const record = isSparse ? sparse.next() : plain.next()
      if (record === undefined) return { records, end: 'ok' }
      records.push(told(record, wanted))
    }
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    return { records, end: error.code }
  } finally {
    archive.close()
  }
}

describe('reading only selected metrics', () => {
  test.each([2, 3] as const)('gives the same values as reading everything, in version %i', (version) => {
    const base = make(`v${version}`, version)
    for (const wanted of [
      [1],
      [2, 3, 60],
      [7],
      [11, 12],
      [METRICS],
      Array.from({ length: METRICS }, (_, i) => i + 1),
    ]) {
      const set = new Set(wanted)
      const all = read(base, set, false)
      // Large records without selected metrics are skipped.
      const expected = all.records.filter((record) => {
        const [, isMark, ...sets] = record as unknown[]
        return isMark === true || sets.length > 0
      })
      const found = read(base, set, true)
      const withValues = found.records.filter(
        (record) => (record as unknown[])[1] === true || (record as unknown[]).length > 2,
      )
      expect({ ...found, records: withValues }, String(wanted)).toEqual({ records: expected, end: 'ok' })
    }
  })

  test('of a truncated file gives everything before the end, then an error', () => {
    const base = make('whole', 2)
    const cut = join(dir, 'cut')
    for (const part of ['meta', 'index']) copyFileSync(`${base}.${part}`, `${cut}.${part}`)
    const wanted = new Set([2, 3])
    const { records } = read(base, wanted, false)
    for (let size = 140; size < 200_000; size += 7919) {
      copyFileSync(`${base}.0`, `${cut}.0`)
      truncateSync(`${cut}.0`, size)
      let found: ReturnType<typeof read>
      try {
        found = read(cut, wanted, true)
      } catch (error) {
        expect(error).toBeInstanceOf(PcpError)
        continue
      }
      expect(found.records).toEqual(records.slice(0, found.records.length))
    }
  })
})
