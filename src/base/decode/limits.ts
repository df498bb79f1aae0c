/** Limits on the decompressed size of a file, for all decoders. docs/decisions/decompression.md */
import type { Decoder, Write } from './input.ts'

/** Limits of one compressed file. */
export interface DecodeLimits {
  /** Bytes of content. */
  readonly maxBytes: number
  /** Bytes of content for each compressed byte; does not apply to content up to `floorBytes`. */
  readonly maxRatio: number
  readonly floorBytes: number
  /** Milliseconds that decoding may take. */
  readonly maxMs: number
}

/** Limits for archives that the user named. */
export const DECODE_LIMITS: DecodeLimits = {
  maxBytes: 4 * 2 ** 30,
  maxRatio: 250,
  floorBytes: 256 * 2 ** 20,
  maxMs: 120_000,
}

/** Limits for archives that a server reads for others. */
export const SERVER_DECODE_LIMITS: DecodeLimits = {
  maxBytes: 2 ** 30,
  maxRatio: 200,
  floorBytes: 64 * 2 ** 20,
  maxMs: 10_000,
}

/** Returns the largest content allowed for a file of this many compressed bytes. */
export function contentLimit({ maxBytes, maxRatio, floorBytes }: DecodeLimits, compressed: number): number {
  return Math.min(maxBytes, Math.max(floorBytes, maxRatio * compressed))
}

/** Returns the error for content beyond the limit: EFBIG. */
export function contentTooLargeError(limit: number, compressed: number): Error {
  return tooBig(
    `its ${sizeText(compressed)} expand to more than ${sizeText(limit)}, as in files made to fill memory or disk; ` +
      'if you trust the file, decompress it yourself or set PCP_DECOMPRESS_MB',
  )
}

/** Returns the error for a file that takes too long to decompress: EFBIG. */
export function decodeTimeoutError({ maxMs }: DecodeLimits): Error {
  return tooBig(
    `it takes longer than ${maxMs / 1000} s; if you trust the file, decompress it yourself or set PCP_DECOMPRESS_SEC`,
  )
}

function tooBig(message: string): Error {
  return Object.assign(new Error(message), { code: 'EFBIG' })
}

/** Runs a decoder within limits; throws the errors above. `now` is a clock in milliseconds. */
export function decodeWithin(
  decode: Decoder,
  limits: DecodeLimits,
  compressed: number,
  now: () => number = () => performance.now(),
): Decoder {
  const limit = contentLimit(limits, compressed)
  return (read, write) => {
    const deadline = now() + limits.maxMs
    const insistOnTime = (): void => {
      if (now() > deadline) throw decodeTimeoutError(limits)
    }
    let size = 0
    const bounded: Write = (bytes) => {
      size += bytes.length
      if (size > limit) throw contentTooLargeError(limit, compressed)
      insistOnTime()
      write(bytes)
    }
    decode(() => {
      insistOnTime()
      return read()
    }, bounded)
  }
}

function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${bytes} bytes`
  return bytes < 10 * 2 ** 20 ? `${Math.round(bytes / 1024)} KiB` : `${Math.round(bytes / 2 ** 20)} MiB`
}
