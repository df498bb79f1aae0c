/** Decoders of compressed files by file name suffix. They need no file system and no programs, so browsers use them too. */
import { decodeBzip2 } from './bzip2.ts'
import type { Decoder } from './input.ts'
import { type DecodeLimits, decodeWithin } from './limits.ts'
import { decodeLzma } from './lzma.ts'
import { decodeLzw } from './lzw.ts'
import { decodeXz } from './xz.ts'
import { decodeZstd } from './zstd.ts'

/** All formats but gzip, which Node and browsers decode themselves. */
const DECODERS: Readonly<Record<string, Decoder>> = {
  '.xz': decodeXz,
  '.lzma': decodeLzma,
  '.bz2': decodeBzip2,
  '.bz': decodeBzip2,
  '.Z': decodeLzw,
  '.z': decodeLzw,
  '.zst': decodeZstd,
}

/** Returns whether there is a decoder for a suffix, dot included; not for `.gz`. */
export function hasDecoder(suffix: string): boolean {
  return Object.hasOwn(DECODERS, suffix)
}

/**
 * Returns the decoder for a suffix, limited according to the compressed size of the file; undefined for an unknown suffix. `now` is
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
