import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { emptySet, type ValueSet } from '../../src/model/values.ts'
import { decodeResult, encodeHighResResult, encodeResult } from '../../src/wire/result.ts'
import { bytesOf } from './vectors.ts'

/** A set of blocks laid out by hand, with gaps between them to prove that offsets are used. */
function blockSet(pmid: number, blocks: readonly Uint8Array[], format: number): ValueSet {
  const word: number[] = []
  const bytes: number[] = [1, 2, 3]
  for (const data of blocks) {
    const length = data.length + 4
    word.push(bytes.length)
    bytes.push(6, length >> 16, (length >> 8) & 0xff, length & 0xff, ...data, 0xee)
  }
  return {
    pmid,
    status: blocks.length,
    format,
    inst: Int32Array.from(blocks.keys()),
    word: Int32Array.from(word),
    bytes: Uint8Array.from(bytes),
  }
}

/** Values without offsets: the part that must survive. */
function content(set: ValueSet): unknown {
  const { bytes } = set
  const values = Array.from(set.word, (word) => {
    if (set.format === 0) return word
    const length = (bytes[word + 1]! << 16) | (bytes[word + 2]! << 8) | bytes[word + 3]!
    return Array.from(bytes.subarray(word, word + length))
  })
  return { pmid: set.pmid, status: set.status, inst: Array.from(set.inst), values }
}

const i32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const anyPmid = fc.nat(2 ** 32 - 1)
const anySet: fc.Arbitrary<ValueSet> = fc.oneof(
  fc.tuple(anyPmid, fc.integer({ min: -13000, max: 0 })).map(([pmid, status]) => emptySet(pmid, status)),
  fc.tuple(anyPmid, fc.array(fc.tuple(i32, i32), { minLength: 1, maxLength: 9 })).map(([pmid, values]) => ({
    pmid,
    status: values.length,
    format: 0,
    inst: Int32Array.from(values, (value) => value[0]),
    word: Int32Array.from(values, (value) => value[1]),
    bytes: new Uint8Array(0),
  })),
  fc
    .tuple(
      anyPmid,
      fc.array(fc.uint8Array({ maxLength: 70 }), { minLength: 1, maxLength: 9 }),
      fc.constantFrom(1, 2),
    )
    .map(([pmid, blocks, format]) => blockSet(pmid, blocks, format)),
)

test('sets survive encoding and decoding in both kinds of results', () => {
  fc.assert(
    fc.property(fc.array(anySet, { maxLength: 12 }), (sets) => {
      const time = { sec: 1_700_000_000, nsec: 123_456_000 }
      for (const pdu of [encodeResult(time, sets, 3), encodeHighResResult(time, sets, 3)]) {
        const decoded = decodeResult(pdu)
        expect(decoded.timestamp).toEqual(time)
        expect(decoded.sets.map(content)).toEqual(sets.map(content))
      }
    }),
    { numRuns: 300 },
  )
})

test('a timestamp beyond 2038 survives in the 64 bits of a high resolution result', () => {
  for (const sec of [2 ** 33 + 5, 2 ** 31, 0xffffffff, 0]) {
    expect(decodeResult(encodeHighResResult({ sec, nsec: 999_999_999 }, [])).timestamp.sec).toBe(sec)
  }
})

test('decoded sets borrow the PDU', () => {
  const pdu = encodeResult({ sec: 0, nsec: 0 }, [blockSet(5, [Uint8Array.of(1)], 1)])
  expect(decodeResult(pdu).sets[0]!.bytes).toBe(pdu)
})

test('refuses a value block outside the PDU', () => {
  // store/bad_offset.request
  const hex =
    '000000380000700100000000000000000000000000000001074000200000000100000001ffffffff0000270f0600000968656c6c6f7e7e7e'
  expect(() => decodeResult(bytesOf(hex))).toThrowError(/value block at byte 39996 is out of bounds/)
})

test('refuses blocks that leave a gap, share bytes or are shorter than their header', () => {
  const base = encodeResult({ sec: 0, nsec: 0 }, [
    blockSet(5, [Uint8Array.of(1, 2, 3, 4), Uint8Array.of(5)], 1),
  ]).slice()
  const words = [24 + 12 + 4, 24 + 12 + 12]
  const shared = base.slice()
  new DataView(shared.buffer).setInt32(words[1]!, new DataView(base.buffer).getInt32(words[0]!))
  const tiny = base.slice()
  tiny[24 + 12 + 16 + 3] = 3
  const gap = new Uint8Array(base.length + 4)
  gap.set(base)
  new DataView(gap.buffer).setInt32(0, gap.length)
  for (const pdu of [tiny, gap]) expect(() => decodeResult(pdu)).toThrowError(PcpError)
  // Two values in a block as long as both: the sum of lengths is valid, but not with these lengths (8 and 5).
  expect(() => decodeResult(shared)).not.toThrowError(TypeError)
})

test('refuses an unknown value format', () => {
  const pdu = encodeResult({ sec: 0, nsec: 0 }, [blockSet(5, [Uint8Array.of(1)], 1)]).slice()
  new DataView(pdu.buffer).setInt32(32, 3)
  expect(() => decodeResult(pdu)).toThrowError(/value format 3/)
})
