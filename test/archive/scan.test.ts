/** Scans with learned layouts yield the same values as reading each record. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { scan } from '../../src/archive/scan.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { bytesSource } from '../../src/base/byte-source.ts'
import { toSeconds } from '../../src/base/timestamp.ts'
import { PM_SEM_INSTANT, PM_TYPE_32, PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { extractNumber } from '../../src/model/value-set.ts'

const START = 1_700_000_000
/** PM_TYPE_32 to PM_TYPE_DOUBLE. */
const TYPES = Array.from({ length: PM_TYPE_DOUBLE - PM_TYPE_32 + 1 }, (_, i) => PM_TYPE_32 + i)

/** Content of records: the instances of each type, none if it is missing. */
type Shape = readonly (readonly number[])[]

function opened(shapes: readonly Shape[], marks: ReadonlySet<number>): Archive {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  for (const type of TYPES) made.addMetric(`made.m${type}`, { type, sem: PM_SEM_INSTANT, indom: 'things' })
  for (const [n, shape] of shapes.entries()) {
    if (marks.has(n) && n > 0) made.mark()
    for (const [i, insts] of shape.entries())
      for (const inst of insts) made.put(`made.m${TYPES[i]!}`, 100 * n + 10 * i + inst, `thing${inst}`)
    if (shape.some((insts) => insts.length > 0)) made.write({ sec: START + n, nsec: 0 })
  }
  made.close()
  const files = new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
  return Archive.open('made', {
    isDirectory: () => false,
    list: () => [...files.keys()],
    open: (path) => {
      const bytes = files.get(path.replace(/^\.\//, ''))
      if (bytes === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
      return bytesSource(bytes)
    },
  })
}

/** Reads values by metric and instance from each record. */
function oneByOne(
  archive: Archive,
  ids: readonly number[],
): { rows: Map<string, number[][]>; marks: number[] } {
  const rows = new Map<string, number[][]>()
  const marks: number[] = []
  const reader = new RecordReader(archive)
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const { timestamp, sets } = record.toResult()
    if (sets.length === 0) marks.push(toSeconds(timestamp))
    for (const set of sets.filter(({ pmid }) => ids.includes(pmid)))
      for (let i = 0; i < set.status; i++) {
        const key = `${set.pmid} ${set.inst[i]}`
        const { type } = archive.metadata.descs.get(set.pmid)!
        const row = [toSeconds(timestamp), extractNumber(set, i, type)]
        rows.set(key, [...(rows.get(key) ?? []), row])
      }
  }
  return { rows, marks }
}

const insts = fc.subarray([0, 1, 2, 3])
const shape = fc.array(insts, { minLength: TYPES.length, maxLength: TYPES.length })

test('a scan gives the values of every record, whatever layouts follow each other', () => {
  fc.assert(
    fc.property(
      fc.array(shape, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(2), { minLength: 1, maxLength: 40 }),
      fc.uniqueArray(fc.nat(40), { maxLength: 2 }),
      fc.subarray(TYPES, { minLength: 1 }),
      (shapes, order, marks, types) => {
        const sequence = order.map((n) => shapes[n % shapes.length]!)
        if (!sequence.flat(2).length) return
        const archive = opened(sequence, new Set(marks))
        const ids = [...archive.metadata.descs.values()]
          .filter(({ type }) => types.includes(type))
          .map(({ pmid }) => pmid)
        const expected = oneByOne(archive, ids)
        const found = new Map<string, number[][]>()
        const seen: number[] = []
        scan(archive, ids, {
          into: {
            columnOf: (pmid, inst) => {
              const rows: number[][] = []
              found.set(`${pmid} ${inst}`, rows)
              return { add: (time, value) => rows.push([time, value]) }
            },
            mark: (time) => seen.push(time),
          },
        })
        expect(found).toEqual(expected.rows)
        expect(seen).toEqual(expected.marks)
        const { columns } = scan(archive, ids)
        const rowsOf = ({ times, values }: (typeof columns)[number]) =>
          Array.from(times, (time, i) => [time, values[i]!])
        expect(new Map(columns.map((column) => [`${column.pmid} ${column.inst}`, rowsOf(column)]))).toEqual(
          expected.rows,
        )
      },
    ),
    { numRuns: 60 },
  )
})
