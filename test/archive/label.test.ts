import { expect, test } from 'vitest'
import { decodeLabel, encodeLabel, labelSize } from '../../src/archive/label.ts'
import type { ErrorCode, PcpError } from '../../src/model/errors.ts'
import { label } from './build.ts'

const codeOf = (bytes: Uint8Array, anyFeatures = false): ErrorCode | 'fine' => {
  try {
    decodeLabel(bytes, 'x.0', anyFeatures)
    return 'fine'
  } catch (error) {
    return (error as PcpError).code
  }
}

/** A copy with one 32-bit word replaced. */
function withWord(bytes: Uint8Array, at: number, word: number): Uint8Array {
  const copy = bytes.slice()
  new DataView(copy.buffer).setInt32(at, word)
  return copy
}

test('a label of version 2 is read and written', () => {
  const bytes = label({ version: 2, start: 1_000_000_000.25, volume: 3, host: 'alpha', pid: 7 })
  const decoded = decodeLabel(bytes, 'x.3')
  expect(decoded).toEqual({
    version: 2,
    pid: 7,
    start: { sec: 1_000_000_000, nsec: 250_000_000 },
    volume: 3,
    features: 0,
    hostname: 'alpha',
    timezone: 'UTC',
    zoneinfo: '',
  })
  expect(encodeLabel(decoded)).toEqual(bytes)
  expect(bytes.length).toBe(labelSize(2))
})

test('a label of version 3 has seconds low word first, and a zone file', () => {
  const bytes = label({ version: 3, start: 2 ** 33 + 5.5, volume: -1 })
  const decoded = decodeLabel(bytes, 'x.meta')
  expect(decoded.start).toEqual({ sec: 2 ** 33 + 5, nsec: 500_000_000 })
  expect(decoded).toMatchObject({ volume: -1, zoneinfo: ':Etc/UTC' })
  expect(encodeLabel(decoded)).toEqual(bytes)
  expect(bytes.length).toBe(labelSize(3))
})

test('long texts are truncated', () => {
  const decoded = decodeLabel(label({ version: 2 }), 'x.0')
  const again = decodeLabel(encodeLabel({ ...decoded, hostname: 'h'.repeat(100) }), 'x.0')
  expect(again.hostname).toBe('h'.repeat(63))
})

test.each([2, 3] as const)('version %i: truncation at any length is rejected', (version) => {
  const bytes = label({ version })
  for (let length = 0; length < bytes.length; length++)
    expect(codeOf(bytes.subarray(0, length))).toBe(length < 8 ? 'PM_ERR_NODATA' : 'PM_ERR_LABEL')
  expect(codeOf(bytes)).toBe('fine')
})

test.each([2, 3] as const)('version %i: wrong lengths, magic and versions are rejected', (version) => {
  const bytes = label({ version })
  for (const at of [0, 4, bytes.length - 4])
    for (const word of [-1, 0, 0x7fffffff, 64, 0x50052601, 0x500526ff]) {
      const code = codeOf(withWord(bytes, at, word))
      expect(code).toBe('PM_ERR_LABEL')
    }
  expect(() => decodeLabel(withWord(bytes, 4, 0x50052601), 'x.0')).toThrow(/x\.0.*version 1 .*not supported/)
})

test('unknown feature bits are rejected unless accepted by option', () => {
  const bytes = label({ features: 4 })
  expect(codeOf(bytes)).toBe('PM_ERR_FEATURE')
  expect(codeOf(bytes, true)).toBe('fine')
  expect(codeOf(label({ features: 0x80000000 | 0 }))).toBe('fine')
})
