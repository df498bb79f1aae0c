/**
 * Fixtures are a volume of an archive, compressed by xz, lzma, bzip2, zstd and gzip; the .Z files were checked with gzip. `streams` is two
 * concatenated compressed files, `blocks` has several blocks.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoderFor } from '../../../src/base/decode/decoder.ts'
import { DECODE_LIMITS } from '../../../src/base/decode/limits.ts'
import { Xxh64 } from '../../../src/base/decode/xxh64.ts'
import { XZ_WASM } from '../../../src/base/decode/xz-wasm.ts'

const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../fixtures/compressed/${name}`, import.meta.url))

const volume = gunzipSync(fixture('a.0.gz'))

/** Decodes bytes in pieces of this size. */
function decode(suffix: string, bytes: Uint8Array, piece = 1 << 16): Uint8Array {
  const chunks: Uint8Array[] = []
  let at = 0
  decoderFor(suffix, DECODE_LIMITS, bytes.length)!(
    () => {
      at += piece
      return bytes.subarray(at - piece, at)
    },
    (chunk) => chunks.push(chunk.slice()),
  )
  return Buffer.concat(chunks)
}

const suffixOf = (name: string): string => name.slice(name.lastIndexOf('.'))

const GOOD = [
  'a.0.xz',
  'blocks.xz',
  'streams.xz',
  'a.0.lzma',
  'a.0.bz2',
  'streams.bz2',
  'a.0.zst',
  'streams.zst',
  'a.0.Z',
  'clears.Z',
  'plain.Z',
]

describe.each(GOOD)('%s', (name) => {
  const bytes = fixture(name)
  const suffix = suffixOf(name)

  test('decodes to the original, in pieces of any size', () => {
    for (const piece of [1 << 20, 4096, 7, 1])
      expect(Buffer.compare(decode(suffix, bytes, piece), volume)).toBe(0)
  })

  // Files of compress(1) do not contain their length.
  if (suffix !== '.Z')
    test('is rejected when truncated', () => {
      for (let i = 0; i < 25; i++) {
        const length = Math.floor((i * bytes.length) / 25)
        const isEndOfFirst = name.startsWith('streams') && isWhole(suffix, bytes.subarray(0, length))
        if (!isEndOfFirst) expect(() => decode(suffix, bytes.subarray(0, length))).toThrow(Error)
      }
      expect(() => decode(suffix, bytes.subarray(0, -1))).toThrow(Error)
    })

  test('is rejected when damaged, if the format has a checksum; decoding always terminates', () => {
    const hasChecksum = suffix === '.xz' || suffix === '.bz2' || suffix === '.zst'
    const seen = { refused: 0, other: 0, same: 0 }
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Uint8Array.from(bytes)
        damaged[at]! ^= change
        const decoded = attempt(suffix, damaged)
        if (decoded === undefined) seen.refused++
        else if (Buffer.compare(decoded, volume) === 0) seen.same++
        else seen.other++
      }),
      { numRuns: 25, seed: 5 },
    )
    console.log(`${name}: ${JSON.stringify(seen)}`)
    if (hasChecksum) expect(seen.other).toBe(0)
    if (suffix !== '.Z') expect(seen.refused).toBeGreaterThan(0)
  })
})

/** Returns the content, or undefined if it is properly rejected. */
function attempt(suffix: string, bytes: Uint8Array): Uint8Array | undefined {
  try {
    return decode(suffix, bytes)
  } catch (error) {
    expect(error).toBeInstanceOf(Error)
    return undefined
  }
}

const isWhole = (suffix: string, bytes: Uint8Array): boolean => attempt(suffix, bytes)?.length === 50_000

test('files of other formats are rejected', () => {
  for (const suffix of ['.gz', '.meta', '', '.0'])
    expect(decoderFor(suffix, DECODE_LIMITS, 1)).toBeUndefined()
})

test.each(['.xz', '.lzma', '.bz2', '.bz', '.zst', '.Z', '.z'])(
  'an uncompressed volume is not a %s file',
  (suffix) => {
    expect(() => decode(suffix, volume)).toThrow(Error)
    expect(() => decode(suffix, new Uint8Array(0))).toThrow(Error)
  },
)

test('lzma data may have a length in its header', () => {
  const bytes = Uint8Array.from(fixture('a.0.lzma'))
  const view = new DataView(bytes.buffer)
  view.setBigUint64(5, BigInt(volume.length), true)
  expect(Buffer.compare(decode('.lzma', bytes), volume)).toBe(0)
  view.setBigUint64(5, BigInt(volume.length + 1), true)
  expect(() => decode('.lzma', bytes)).toThrow('it is shorter than its header states')
  view.setBigUint64(5, 1n << 40n, true)
  expect(() => decode('.lzma', bytes)).toThrow('it is not an lzma file')
})

test('an unsupported checksum is reported', () => {
  expect(() => decode('.xz', fixture('sha256.xz'))).toThrow(
    'filters or checksums other than the defaults of xz',
  )
})

test('a header cannot request any amount of memory', () => {
  const bytes = Uint8Array.from(fixture('a.0.lzma'))
  new DataView(bytes.buffer).setUint32(1, 1 << 27, true)
  expect(() => decode('.lzma', bytes)).toThrow('needs more than 64 MB')
  const window = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, (18 << 3) | 0, 1, 0, 0)
  expect(() => decode('.zst', window)).toThrow('needs more than 128 MB')
})

test.each([
  ['', 0xef46db3751d8e999n],
  ['a', 0xd24ec4f1a98c6e5bn],
  ['abc', 0x44bc2cf5ad770999n],
])('XXH64 of "%s"', (text, hash) => {
  const whole = new Xxh64()
  whole.update(new TextEncoder().encode(text))
  expect(whole.digest()).toBe(hash)
})

test('skippable frames are skipped, and other bytes after a frame are rejected', () => {
  const bytes = fixture('a.0.zst')
  const skipped = Uint8Array.of(0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7)
  expect(Buffer.compare(decode('.zst', Buffer.concat([skipped, bytes, skipped])), volume)).toBe(0)
  expect(() => decode('.zst', Buffer.concat([bytes, skipped.subarray(4)]))).toThrow('it is not a zstd file')
})

/** A bzip2 block of one byte value with a run whose length has this many digits. */
function bzip2Run(digits: number): Uint8Array {
  const number = (value: number, bits: number): string => value.toString(2).padStart(bits, '0')
  const bits = [
    ...[0x42, 0x5a, 0x68, 0x31, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0, 0, 0, 0].map((byte) =>
      number(byte, 8),
    ),
    '0',
    number(0, 24),
    number(1 << 15, 16),
    number(1 << 15, 16),
    number(2, 3),
    number(100, 15),
    '0'.repeat(100),
    // Two codes of three symbols, each of two bits: RUNA, RUNB, end.
    `${number(2, 5)}000`.repeat(2),
    '00'.repeat(digits),
    '10',
  ].join('')
  return Uint8Array.from(bits.padEnd(Math.ceil(bits.length / 8) * 8 + 8000, '0').match(/.{8}/g)!, (byte) =>
    Number.parseInt(byte, 2),
  )
}

test.each([17, 31, 32, 33, 64, 100])('a bzip2 run whose length has %i digits is refused', (digits) => {
  expect(() => decode('.bz2', bzip2Run(digits))).toThrow('a block is too long')
})

test('a bzip2 run that fits is accepted in such a block', () => {
  expect(() => decode('.bz2', bzip2Run(16))).toThrow('a checksum is wrong')
})

test('the WebAssembly is that of the package', () => {
  const source = readFileSync(createRequire(import.meta.url).resolve('xz-decompress'), 'utf8')
  expect(source.includes(`"data:application/wasm;base64,${XZ_WASM}"`)).toBe(true)
})
