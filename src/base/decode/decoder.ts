/** Decoders of compressed files, by the suffix of their names. They need no files and no programs: browsers use them as well. */
import { decodeBzip2 } from './bzip2.ts'
import type { Decoder } from './input.ts'
import { type DecodeLimits, decodeWithin } from './limits.ts'
import { decodeLzma } from './lzma.ts'
import { decodeLzw } from './lzw.ts'
import { decodeXz } from './xz.ts'
import { decodeZstd } from './zstd.ts'

/** All formats but gzip, for which Node and browsers have their own. */
const DECODERS: Readonly<Record<string, Decoder>> = {
  '.xz': decodeXz,
  '.lzma': decodeLzma,
  '.bz2': decodeBzip2,
  '.bz': decodeBzip2,
  '.Z': decodeLzw,
  '.z': decodeLzw,
  '.zst': decodeZstd,
}

/** Returns whether there is a decoder for a suffix, dot included: not for `.gz`, and not for other files. */
export function hasDecoder(suffix: string): boolean {
  return Object.hasOwn(DECODERS, suffix)
}

/**
 * Returns the decoder for a suffix, within limits for a file of so many compressed bytes; undefined without one. `now` is
 * a clock in milliseconds.
 */
export function decoderFor(
  suffix: string,
  limits: DecodeLimits,
  compressed: number,
  now?: () => number,
): Decoder | undefined {
  return hasDecoder(suffix) ? decodeWithin(DECODERS[suffix]!, limits, compressed, now) : undefined
}
