/** Decoders of compressed files, by the suffix of their names. They need no files and no programs: browsers use them as well. */
import { decodeBzip2 } from './bzip2.ts'
import type { Decoder } from './input.ts'
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

/** The decoder for a suffix, dot included; undefined for `.gz` and for what is no compressed file. */
export function decoderFor(suffix: string): Decoder | undefined {
  return DECODERS[suffix]
}
