import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_AGGREGATE_STATIC,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_NOSUPPORT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import { blockType, extract, extractNumber, valuesOf } from '../../src/model/value-set.ts'
import { makeSet, makeSingular, ValueSetWriter } from '../../src/model/value-writer.ts'
import type { Value, ValueSet } from '../../src/model/values.ts'

const hex = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

test('32-bit values are in the set itself', () => {
  const set = makeSet(7, PM_TYPE_U32, [1, 2], [4294967295, 5])
  expect(set).toMatchObject({ pmid: 7, status: 2, format: 0 })
  expect([...set.inst]).toEqual([1, 2])
  expect([...set.word]).toEqual([-1, 5])
  expect(set.bytes.length).toBe(0)
  expect(valuesOf(set, PM_TYPE_U32)).toEqual([
    { inst: 1, value: 4294967295 },
    { inst: 2, value: 5 },
  ])
})

// Expected bytes are written out by hand: type, length with header, data, padding.
const BLOCKS: [string, number, Value, string][] = [
  ['64', PM_TYPE_64, -2, '0200000cfffffffffffffffe'],
  ['64 beyond 2^53', PM_TYPE_64, -(2n ** 63n), '0200000c8000000000000000'],
  ['U64', PM_TYPE_U64, 2 ** 40 + 1, '0300000c0000010000000001'],
  ['U64 beyond 2^53', PM_TYPE_U64, 2n ** 64n - 1n, '0300000cffffffffffffffff'],
  ['float', PM_TYPE_FLOAT, 1.5, '040000083fc00000'],
  ['double', PM_TYPE_DOUBLE, -2.5, '0500000cc004000000000000'],
  ['text with its NUL', PM_TYPE_STRING, 'abc', '0600000861626300'],
  ['empty text', PM_TYPE_STRING, '', '0600000500000000'],
  ['text in UTF-8', PM_TYPE_STRING, 'é€😀', '0600000ec3a9e282acf09f9880000000'],
  ['text with a byte that is not UTF-8', PM_TYPE_STRING, 'a\udcff', '0600000761ff0000'],
  ['aggregate', PM_TYPE_AGGREGATE, Uint8Array.of(1, 2, 3, 4, 5), '070000090102030405000000'],
  ['empty aggregate', PM_TYPE_AGGREGATE, new Uint8Array(0), '07000004'],
]

test.each(BLOCKS)('writes %s as a padded block and reads it back', (_, type, value, bytes) => {
  const set = makeSingular(7, type, value)
  expect(set).toMatchObject({ pmid: 7, status: 1, format: 1 })
  expect([...set.inst]).toEqual([-1])
  expect(hex(set.bytes)).toBe(bytes)
  expect(extract(set, 0, type)).toEqual(value)
  expect(blockType(set, 0)).toBe(type)
})

test('a 64-bit integer is a number exactly while it is a safe integer', () => {
  for (const bits of [2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n) + 1n, -(2n ** 53n), 2n ** 53n + 1n]) {
    const value = extract(makeSingular(1, PM_TYPE_64, bits), 0, PM_TYPE_64)
    const isSafe = bits < 2n ** 53n && bits > -(2n ** 53n)
    expect(typeof value).toBe(isSafe ? 'number' : 'bigint')
    expect(BigInt(value as number | bigint)).toBe(bits)
    expect(extractNumber(makeSingular(1, PM_TYPE_64, bits), 0, PM_TYPE_64)).toBe(Number(bits))
  }
})

test('integers are cut to their width and fractions dropped, as C assigns them', () => {
  expect(extract(makeSingular(1, PM_TYPE_U32, 2 ** 32 + 5), 0, PM_TYPE_U32)).toBe(5)
  expect(extract(makeSingular(1, PM_TYPE_32, 2n ** 31n), 0, PM_TYPE_32)).toBe(-(2 ** 31))
  expect(extract(makeSingular(1, PM_TYPE_U64, -1), 0, PM_TYPE_U64)).toBe(2n ** 64n - 1n)
  expect(extract(makeSingular(1, PM_TYPE_64, -1.9), 0, PM_TYPE_64)).toBe(-1)
  expect(extract(makeSingular(1, PM_TYPE_U32, 1.9), 0, PM_TYPE_U32)).toBe(1)
})

test('refuses values of the wrong kind', () => {
  const wrong: [number, Value, string][] = [
    [PM_TYPE_U32, 'x', 'PM_ERR_TYPE'],
    [PM_TYPE_U32, Number.NaN, 'PM_ERR_CONV'],
    [PM_TYPE_64, Number.POSITIVE_INFINITY, 'PM_ERR_CONV'],
    [PM_TYPE_64, 'x', 'PM_ERR_TYPE'],
    [PM_TYPE_DOUBLE, 'x', 'PM_ERR_TYPE'],
    [PM_TYPE_STRING, 5, 'PM_ERR_TYPE'],
    [PM_TYPE_AGGREGATE, 'x', 'PM_ERR_TYPE'],
    [PM_TYPE_NOSUPPORT, 5, 'PM_ERR_TYPE'],
    [PM_TYPE_AGGREGATE, new Uint8Array(2 ** 24), 'PM_ERR_TOOBIG'],
  ]
  for (const [type, value, code] of wrong) {
    expect(() => makeSingular(1, type, value)).toThrow(expect.objectContaining({ code }))
  }
  expect(() => makeSet(1, PM_TYPE_U32, [1], [1, 2])).toThrow(PcpError)
})

test('reads what other senders write: floats in situ, blocks of type 0, text without NUL', () => {
  const common = { pmid: 1, status: 1, inst: Int32Array.of(-1) }
  const inSitu: ValueSet = { ...common, format: 0, word: Int32Array.of(0x3fc00000), bytes: new Uint8Array(0) }
  expect(extract(inSitu, 0, PM_TYPE_FLOAT)).toBe(1.5)
  const untyped = Uint8Array.of(0, 0, 0, 8, 0x3f, 0xc0, 0, 0)
  expect(extract({ ...common, format: 2, word: Int32Array.of(0), bytes: untyped }, 0, PM_TYPE_FLOAT)).toBe(
    1.5,
  )
  const text = Uint8Array.of(6, 0, 0, 6, 0x61, 0x62)
  expect(extract({ ...common, format: 1, word: Int32Array.of(0), bytes: text }, 0, PM_TYPE_STRING)).toBe('ab')
})

test('refuses blocks outside the bytes and types that do not match', () => {
  const set = makeSingular(1, PM_TYPE_U64, 5)
  for (const offset of [-1, 1, 9, 12, 2 ** 30]) {
    const moved = { ...set, word: Int32Array.of(offset) }
    expect(() => extract(moved, 0, PM_TYPE_U64)).toThrow(PcpError)
    expect(() => extractNumber(moved, 0, PM_TYPE_U64)).toThrow(PcpError)
  }
  for (let length = 0; length < 12; length++) {
    expect(() => extract({ ...set, bytes: set.bytes.slice(0, length) }, 0, PM_TYPE_U64)).toThrow(
      expect.objectContaining({ code: 'PM_ERR_IPC' }),
    )
  }
  expect(() => extract(set, 0, PM_TYPE_DOUBLE)).toThrow(expect.objectContaining({ code: 'PM_ERR_CONV' }))
  expect(() => extract(set, 0, PM_TYPE_U32)).toThrow(expect.objectContaining({ code: 'PM_ERR_CONV' }))
  expect(() => extractNumber(set, 0, PM_TYPE_STRING)).toThrow(
    expect.objectContaining({ code: 'PM_ERR_CONV' }),
  )
  expect(() => extract(set, 1, PM_TYPE_U64)).toThrow(expect.objectContaining({ code: 'PM_ERR_VALUE' }))
})

const VALUES: { readonly [type: number]: fc.Arbitrary<Value> } = {
  [PM_TYPE_32]: fc.integer(),
  [PM_TYPE_U32]: fc.nat(0xffffffff),
  [PM_TYPE_64]: fc.oneof(
    fc.maxSafeInteger(),
    fc.bigInt(-(2n ** 63n), -(2n ** 53n)),
    fc.bigInt(2n ** 53n, 2n ** 63n - 1n),
  ),
  [PM_TYPE_U64]: fc.oneof(fc.maxSafeNat(), fc.bigInt(2n ** 53n, 2n ** 64n - 1n)),
  [PM_TYPE_FLOAT]: fc.float(),
  [PM_TYPE_DOUBLE]: fc.double(),
  [PM_TYPE_STRING]: fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
  [PM_TYPE_AGGREGATE]: fc.uint8Array({ maxLength: 40 }),
  [PM_TYPE_AGGREGATE_STATIC]: fc.uint8Array({ maxLength: 40 }),
  [PM_TYPE_EVENT]: fc.uint8Array({ maxLength: 40 }),
}

test.each(Object.keys(VALUES).map(Number))(
  'gives back any values of type %i, made at once or one by one',
  (type) => {
    const writer = new ValueSetWriter()
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer(), VALUES[type]!), { maxLength: 40 }), (pairs) => {
        const insts = pairs.map(([inst]) => inst)
        const values = pairs.map(([, value]) => value)
        const atOnce = makeSet(3, type, insts, values)
        writer.begin(3, type)
        for (const [inst, value] of pairs) writer.add(inst, value)
        for (const set of [atOnce, writer.end()]) {
          expect(set.status).toBe(pairs.length)
          expect([...set.inst]).toEqual(insts)
          expect(valuesOf(set, type).map(({ value }) => value)).toEqual(values)
        }
      }),
    )
  },
)

test('finished sets stay intact while the writer continues', () => {
  const writer = new ValueSetWriter()
  const sets: ValueSet[] = []
  for (let pmid = 0; pmid < 300; pmid++) {
    writer.begin(pmid, PM_TYPE_STRING)
    for (let inst = 0; inst < pmid % 7; inst++) writer.add(inst, `value ${pmid}.${inst} ${'x'.repeat(pmid)}`)
    sets.push(writer.end())
  }
  sets.forEach((set, pmid) => {
    const values = valuesOf(set, PM_TYPE_STRING)
    expect(values.map(({ value }) => value)).toEqual(
      Array.from({ length: pmid % 7 }, (_, inst) => `value ${pmid}.${inst} ${'x'.repeat(pmid)}`),
    )
  })
})

test('a writer discards unfinished sets and rejected values', () => {
  const writer = new ValueSetWriter()
  writer.begin(1, PM_TYPE_AGGREGATE)
  writer.add(1, Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 255))
  writer.begin(2, PM_TYPE_STRING)
  expect(() => writer.add(1, 5)).toThrow(PcpError)
  writer.add(2, 'abcd')
  const set = writer.end()
  expect(valuesOf(set, PM_TYPE_STRING)).toEqual([{ inst: 2, value: 'abcd' }])
  expect(hex(set.bytes.subarray(set.word[0], set.word[0]! + 12))).toBe('060000096162636400000000')
  writer.begin(3, PM_TYPE_64)
  expect(writer.end()).toMatchObject({ pmid: 3, status: 0 })
})
