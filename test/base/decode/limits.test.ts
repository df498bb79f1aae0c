/** All decoders have the same limits. Fixtures: decoder.test.ts. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decoderFor } from '../../../src/base/decode/decoder.ts'
import { contentLimit, DECODE_LIMITS, type DecodeLimits } from '../../../src/base/decode/limits.ts'
import { decompressed } from '../../../src/ui/data/decompress.ts'
import { bzip2Streams, gzipBomb, lzwBomb, zstdBomb } from '../../lib/bombs.ts'

const fixture = (name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(new URL(`../../fixtures/compressed/${name}`, import.meta.url)))

function sizeOf(suffix: string, bytes: Uint8Array, limits: DecodeLimits, now?: () => number): number {
  let size = 0
  let rest = bytes
  decoderFor(suffix, limits, bytes.length, now)!(
    () => {
      const part = rest.subarray(0, 1 << 16)
      rest = rest.subarray(part.length)
      return part
    },
    (part) => {
      size += part.length
    },
  )
  return size
}

const CASES = ['a.0.xz', 'a.0.lzma', 'a.0.bz2', 'a.0.zst', 'a.0.Z']

test('there is a case for every decoder', () => {
  const suffixes = new Set(CASES.map((name) => name.slice(name.lastIndexOf('.'))))
  const aliases: Record<string, string> = { '.bz': '.bz2', '.z': '.Z' }
  for (const suffix of ['.xz', '.lzma', '.bz2', '.bz', '.Z', '.z', '.zst'])
    expect(suffixes).toContain(aliases[suffix] ?? suffix)
})

describe.each(CASES)('%s', (name) => {
  const bytes = fixture(name)
  const suffix = name.slice(name.lastIndexOf('.'))
  const size = sizeOf(suffix, bytes, DECODE_LIMITS)

  test('has at most as much content as the limit', () => {
    expect(sizeOf(suffix, bytes, { ...DECODE_LIMITS, maxBytes: size })).toBe(size)
    expect(() => sizeOf(suffix, bytes, { ...DECODE_LIMITS, maxBytes: size - 1 })).toThrow(
      /expand to more than/,
    )
  })

  test('has at most as much content as its length allows', () => {
    const ratio = { ...DECODE_LIMITS, floorBytes: 1 }
    expect(sizeOf(suffix, bytes, { ...ratio, maxRatio: Math.ceil(size / bytes.length) })).toBe(size)
    expect(() => sizeOf(suffix, bytes, { ...ratio, maxRatio: 0.9 * (size / bytes.length) })).toThrow(
      /PCP_DECOMPRESS_MB/,
    )
  })

  test('is decoded in time or not at all', () => {
    let ms = 0
    const clock = (): number => (ms += 1000)
    expect(() => sizeOf(suffix, bytes, { ...DECODE_LIMITS, maxMs: 500 }, clock)).toThrow(
      /takes longer than 0.5 s/,
    )
  })
})

test('the absolute limit always applies, the ratio only above a floor', () => {
  const limits = { maxBytes: 1000, maxRatio: 10, floorBytes: 100, maxMs: 1 }
  expect([1, 10, 50, 100, 5000].map((size) => contentLimit(limits, size))).toEqual([
    100, 100, 500, 1000, 1000,
  ])
})

describe('a file made to fill memory', () => {
  const limits = { ...DECODE_LIMITS, floorBytes: 1 << 20, maxRatio: 10 }

  test('of any format is rejected as soon as it exceeds the limit', async () => {
    expect(() => sizeOf('.zst', zstdBomb(50_000), limits)).toThrow(/expand to more than 1953 KiB/)
    expect(() => sizeOf('.Z', lzwBomb(60_000), limits)).toThrow(/expand to more than/)
    const zip = new Uint8Array(await gzipBomb(8))
    await expect(decompressed('a.0.gz', zip, limits)).rejects.toThrow(/a\.0\.gz cannot be decompressed: its/)
    const zst = new Uint8Array(zstdBomb(50_000))
    await expect(decompressed('a.0.zst', zst, limits)).rejects.toThrow(/expand to more than/)
  })

  test('of much work and little content ends with its time', () => {
    let blocks = 0
    const clock = (): number => blocks++
    expect(() => sizeOf('.zst', zstdBomb(50_000, 1, 20), { ...limits, maxMs: 100 }, clock)).toThrow(
      /takes longer/,
    )
    expect(blocks).toBeLessThan(200)
  })

  test('with many empty streams of bzip2 needs memory for one', () => {
    const real = globalThis.Uint32Array
    let allocated = 0
    class Counted extends real {
      constructor(length: number) {
        super(length)
        allocated += length
      }
      static get [Symbol.species](): typeof real {
        return real
      }
    }
    globalThis.Uint32Array = Counted as unknown as typeof real
    try {
      expect(sizeOf('.bz2', bzip2Streams(300), limits)).toBe(0)
    } finally {
      globalThis.Uint32Array = real
    }
    expect(allocated).toBe(900_000)
  })
})
