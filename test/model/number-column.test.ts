import { expect, test } from 'vitest'
import { NumberColumn } from '../../src/model/number-column.ts'
import { PM_TYPE_64, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U32, PM_TYPE_U64 } from '../../src/model/types.ts'
import { extractNumber } from '../../src/model/value-set.ts'
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

test('reads what extractNumber reads, set after set', () => {
  const column = new NumberColumn()
  const sets: [ValueSet, number][] = [
    [inSitu([1, -1, 0x7fffffff]), 0],
    [inSitu([1, -1]), PM_TYPE_U32],
    [inSitu([0x3f800000]), PM_TYPE_FLOAT],
    ...[PM_TYPE_64, PM_TYPE_U64, PM_TYPE_DOUBLE].map((type): [ValueSet, number] => [
      blocks(type, LONG),
      type,
    ]),
    // Old agents say no type.
    [blocks(0, LONG), PM_TYPE_U64],
  ]
  for (const [set, type] of sets)
    expect([...column.read(set, type).subarray(0, set.status)]).toEqual(
      Array.from({ length: set.status }, (_, i) => extractNumber(set, i, type)),
    )
})

test('refuses what extractNumber refuses', () => {
  const column = new NumberColumn()
  expect(() => column.read(blocks(PM_TYPE_DOUBLE, LONG), PM_TYPE_64)).toThrow('as 64')
  const outside = { ...blocks(PM_TYPE_64, LONG), word: Int32Array.of(0, 12, 24, 40) }
  expect(() => column.read(outside, PM_TYPE_64)).toThrow('not inside')
})

test('has nothing to read of an error', () => {
  expect(new NumberColumn().read({ ...inSitu([]), status: -12350 }, 0).length).toBe(0)
})
