import { expect, test } from 'vitest'
import { PM_INDOM_NULL } from '../../src/model/ids.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import { type ColumnValue, ValueColumns } from '../../src/model/value-columns.ts'
import { extract, extractNumber } from '../../src/model/value-set.ts'
import type { ValueSet } from '../../src/model/values.ts'

const inSitu = (words: number[]): ValueSet => ({
  pmid: 1,
  status: words.length,
  format: 0,
  inst: Int32Array.from(words.keys()),
  word: Int32Array.from(words),
  bytes: new Uint8Array(0),
})

/** Blocks of twelve bytes with the given words. */
function blocks(type: number, words: readonly (readonly [number, number])[]): ValueSet {
  const bytes = new Uint8Array(12 * words.length)
  const view = new DataView(bytes.buffer)
  for (const [i, [high, low]] of words.entries()) {
    view.setInt32(12 * i, (type << 24) | 12)
    view.setInt32(12 * i + 4, high)
    view.setInt32(12 * i + 8, low)
  }
  const { length } = words
  return {
    pmid: 1,
    status: length,
    format: 1,
    inst: Int32Array.from({ length }, (_, i) => i),
    word: Int32Array.from({ length }, (_, i) => 12 * i),
    bytes,
  }
}

const LONG = [
  [0, 1],
  [-1, -1],
  [0x7fffffff, -1],
  [0x3ff80000, 0],
] as const

const columnsOf = (type: number): ValueColumns => new ValueColumns({ type, indom: 1 as never })

const shown = (columns: ValueColumns): ColumnValue[] =>
  Array.from({ length: columns.size }, (_, i) => columns.at(i))

test('takes what extract and extractNumber read', () => {
  const sets: [ValueSet, number][] = [
    [inSitu([1, -1, 0x7fffffff]), PM_TYPE_32],
    [inSitu([1, -1]), PM_TYPE_U32],
    [inSitu([0x3f800000]), PM_TYPE_FLOAT],
    ...[PM_TYPE_64, PM_TYPE_U64, PM_TYPE_DOUBLE].map((type): [ValueSet, number] => [
      blocks(type, LONG),
      type,
    ]),
    // Old agents do not set the type.
    [blocks(0, LONG), PM_TYPE_U64],
  ]
  for (const [set, type] of sets) {
    const columns = columnsOf(type)
    columns.fillFrom(set)
    const places = [...set.word.keys()]
    expect(shown(columns)).toEqual(places.map((i) => extract(set, i, type)))
    expect([...columns.values]).toEqual(places.map((i) => extractNumber(set, i, type)))
    expect(columns.insts).toEqual(set.inst)
  }
})

test('takes set after set', () => {
  const columns = columnsOf(PM_TYPE_U32)
  columns.fillFrom(inSitu([1, 2, 3]))
  const { insts } = columns
  columns.fillFrom(inSitu([4, 5, 6]))
  expect([shown(columns), columns.insts]).toEqual([[4, 5, 6], insts])
  expect(columns.insts).toBe(insts)
  columns.fillFrom(inSitu([7]))
  expect([shown(columns), columns.at(1)]).toEqual([[7], undefined])
})

test('has no value where extractNumber refuses one', () => {
  const columns = columnsOf(PM_TYPE_64)
  columns.fillFrom(blocks(PM_TYPE_DOUBLE, LONG))
  expect(columns.hasValues()).toBe(false)
  columns.fillFrom({ ...blocks(PM_TYPE_64, LONG), word: Int32Array.of(0, 12, 24, 40) })
  expect(columns.valueIndices()).toEqual([0, 1, 2])
  columns.fillFrom({ ...blocks(PM_TYPE_64, LONG), word: Int32Array.of(-4, 12, 24, 36) })
  expect(columns.valueIndices()).toEqual([1, 2, 3])
  columns.fillFrom(inSitu([1]))
  expect(columns.hasValues()).toBe(false)
  const short = columnsOf(PM_TYPE_32)
  short.fillFrom(blocks(255, LONG))
  expect(short.hasValues()).toBe(false)
})

test('has no values for an error', () => {
  const columns = new ValueColumns({ type: PM_TYPE_32, indom: PM_INDOM_NULL })
  columns.fillFrom({ ...inSitu([]), status: -12350 })
  expect([columns.status, columns.size]).toEqual([-12350, 0])
})
