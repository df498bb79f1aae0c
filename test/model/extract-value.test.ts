/** Vectors: convert/extract.json. */
import { expect, test } from 'vitest'
import { convertValue, extractValue } from '../../src/model/extract-value.ts'
import { PM_TYPE_64, PM_TYPE_FLOAT } from '../../src/model/types.ts'
import type { Value, ValueSet } from '../../src/model/values.ts'
import { bytesOf, fromHex, readVectors, typeCode } from '../vectors.ts'

interface ExtractCase {
  valfmt: 'INSITU' | 'DPTR' | 'SPTR'
  itype: string
  in: string
  vtype?: number
  blockBytes?: number
  otype: string
  value?: string
  bytes?: string
  error?: string
  undefinedInC?: boolean
}

function setOf(vector: ExtractCase): ValueSet {
  const data = vector.in.startsWith('hex:') ? fromHex(vector.in.slice(4)) : bytesOf(vector.in, vector.itype)
  const common = { pmid: 1, status: 1, inst: Int32Array.of(-1) }
  if (vector.valfmt === 'INSITU') {
    return {
      ...common,
      format: 0,
      word: Int32Array.of(new DataView(data.buffer).getInt32(0)),
      bytes: new Uint8Array(0),
    }
  }
  const size = vector.blockBytes ?? data.length
  const bytes = new Uint8Array(4 + size)
  bytes.set(data.subarray(0, size), 4)
  new DataView(bytes.buffer).setUint32(0, ((vector.vtype ?? typeCode(vector.itype)) << 24) | bytes.length)
  return { ...common, format: vector.valfmt === 'DPTR' ? 1 : 2, word: Int32Array.of(0), bytes }
}

function expected({ otype, value, bytes }: ExtractCase): Value {
  if (bytes !== undefined) return fromHex(bytes)
  if (otype === 'STRING') return value!
  if (otype === 'FLOAT' || otype === 'DOUBLE') return Number(value)
  return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt(value!)
}

test('converts every type to every other as pmExtractValue does', () => {
  const { cases } = readVectors<ExtractCase>('convert/extract.json')
  let mended = 0
  for (const vector of cases) {
    const run = (): Value => extractValue(setOf(vector), 0, typeCode(vector.itype), typeCode(vector.otype))
    const name = JSON.stringify(vector)
    const wraps = vector.itype === '64' && vector.otype === '32' && BigInt(vector.in) < -(2n ** 31n)
    if (vector.undefinedInC || wraps) {
      // Undefined behaviour of C, and its wrap-around below -2^31, are errors here.
      const code = vector.in === 'NaN' ? 'PM_ERR_CONV' : 'PM_ERR_TRUNC'
      expect(run, name).toThrow(expect.objectContaining({ code }))
      mended++
    } else if (vector.error !== undefined) {
      expect(run, name).toThrow(expect.objectContaining({ code: vector.error }))
    } else {
      expect(run(), name).toEqual(expected(vector))
    }
  }
  console.info(`convert/extract.json: ${cases.length} cases, ${mended} of them mended defects`)
})

test('rounds 64-bit integers to single precision once', () => {
  // 2^60 + 2^36 is halfway between two floats; one more must round up, although the nearest double is the halfway value.
  const half = 2n ** 60n + 2n ** 36n
  expect(convertValue(half, PM_TYPE_64, PM_TYPE_FLOAT)).toBe(2 ** 60)
  expect(convertValue(half + 1n, PM_TYPE_64, PM_TYPE_FLOAT)).toBe(2 ** 60 + 2 ** 37)
  expect(convertValue(-half - 1n, PM_TYPE_64, PM_TYPE_FLOAT)).toBe(-(2 ** 60 + 2 ** 37))
})
