/** Rows of numbers have the values of fetches, in columns. test/tools/pmrep compares them at length. */
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import type { NumberColumns } from '../../src/archive/number-columns.ts'
import { ArchiveSource } from '../../src/archive/source.ts'
import { archive, desc, indom, mark, memoryFiles, result } from './build.ts'

const DOMAIN = (9 << 22) | 1
const LARGE = 2n ** 63n + 1n
const record = (time: number, ...values: [number, bigint][]): Uint8Array =>
  result(
    3,
    time,
    { pmid: 1, type: 3, values },
    { pmid: 2, type: 1, values: time === 4 ? -12357 : [[-1, time]] },
  )

/** A counter of two instances and a number, at 0, 2 and 4 seconds, then a mark. */
function source(): ArchiveSource {
  const records = [
    record(0, [7, 10n], [3, LARGE]),
    record(2, [3, 5n], [7, 30n]),
    record(4, [7, 50n]),
    mark(3, 5),
  ]
  const names = indom(3, 0, DOMAIN, [
    [3, 'three'],
    [7, 'seven'],
  ])
  const meta = [
    desc({ pmid: 1, type: 3, sem: 1, indom: DOMAIN }, 'counter'),
    desc({ pmid: 2, type: 1 }, 'number'),
    names,
  ]
  return new ArchiveSource(Archive.open(['a'], memoryFiles(archive('a', { meta, volumes: [records] }))))
}

function rowsOf(of: ArchiveSource): ReturnType<ArchiveSource['rows']> {
  const { descs } = of.archive.metadata
  return of.rows([
    { desc: descs.get(1)!, insts: [3, 7] },
    { desc: descs.get(2)!, insts: [-1] },
  ])
}

const shown = ({ has, values }: NumberColumns): (number | undefined)[] =>
  Array.from(values, (value, i) => (has[i] === 1 ? value : undefined))

test('records fill the columns of their values, and leave others empty', () => {
  const of = source()
  of.setMode('forward', { sec: 0, nsec: 0 })
  const { columns, next } = rowsOf(of)
  expect(next()).toEqual({ sec: 0, nsec: 0 })
  expect(shown(columns)).toEqual([2 ** 63, 10, 0])
  expect(columns.exact(0, 3)).toBe(LARGE)
  next()
  expect(shown(columns)).toEqual([5, 30, 2])
  next()
  expect(shown(columns)).toEqual([undefined, 50, undefined])
  expect([...columns.counts]).toEqual([1, -12357])
  expect(next).toThrow('End of the archive')
})

test('times between records fill columns with interpolated values', () => {
  const of = source()
  of.setMode('interpolate', { sec: 1, nsec: 0 }, 2)
  const { columns, next } = rowsOf(of)
  next()
  expect(shown(columns).slice(1)).toEqual([20, 0])
  next()
  expect(shown(columns)).toEqual([undefined, 40, undefined])
  next()
  expect(shown(columns)).toEqual([undefined, undefined, undefined])
  expect(next).toThrow('After the end')
})

test('rows are rejected for unrecorded, non-numeric and duplicate metrics', () => {
  const meta = [desc({ pmid: 1, type: 1 }, 'number'), desc({ pmid: 2, type: 6 }, 'text')]
  const volumes = [[result(3, 0, { pmid: 1, type: 1, values: [[-1, 5]] })]]
  const of = new ArchiveSource(Archive.open(['a'], memoryFiles(archive('a', { meta, volumes }))))
  const { descs } = of.archive.metadata
  const number = { desc: descs.get(1)!, insts: [-1] }
  const strange = { ...number, desc: { ...number.desc, pmid: 3 } }
  expect(() => of.rows([strange, number])).toThrow(expect.objectContaining({ code: 'PM_ERR_PMID_LOG' }))
  expect(() => of.rows([{ ...number, desc: descs.get(2)! }])).toThrow(
    expect.objectContaining({ code: 'PM_ERR_TYPE' }),
  )
  expect(() => of.rows([number, number])).toThrow(expect.objectContaining({ code: 'PM_ERR_ARG' }))
})
