/** Compressed files of all formats but gzip, which Node decodes. The first byte chooses the format. */
import { readFileSync } from 'node:fs'
import { decoderFor } from '../../../src/base/decode/decoder.ts'
import { DECODE_LIMITS } from '../../../src/base/decode/limits.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { type FuzzEntry, hold } from '../engine/entry.ts'

const SUFFIXES = ['.xz', '.lzma', '.bz2', '.Z', '.zst']
const FILES = [
  'a.0.xz',
  'sha256.xz',
  'a.0.lzma',
  'a.0.bz2',
  'streams.bz2',
  'a.0.Z',
  'plain.Z',
  'a.0.zst',
  'streams.zst',
]
/** Output after which a decoder is stopped: a few kilobytes may expand to much more. */
const ENOUGH = 2 ** 18

/** Ends a decoder that has written enough. */
class Enough extends Error {}

/** Entry of src/base/decode. */
export const decompress: FuzzEntry = {
  seeds: () =>
    FILES.map((file) => [file, readFileSync(`test/fixtures/compressed/${file}`)] as const)
      .filter(([, bytes]) => bytes.length < 6000)
      .map(([file, bytes]) => {
        const format = SUFFIXES.indexOf(file.slice(file.lastIndexOf('.')))
        return Uint8Array.of(format, ...bytes)
      }),
  // Decoders throw errors without a code; their callers add the file.
  mayThrow: (error) =>
    error instanceof PcpError ||
    (error instanceof Error && error.constructor === Error) ||
    error instanceof Enough,
  maxLength: 8192,
  run(input) {
    const bytes = input.subarray(1)
    const decode = decoderFor(SUFFIXES[(input[0] ?? 0) % SUFFIXES.length]!, DECODE_LIMITS, bytes.length)!
    const [whole, pieces] = [bytes.length, 97].map((size) => outcome(decode, bytes, size))
    hold(whole === pieces, 'pieces make no difference to a decoder')
  },
}

/** Returns how much a decoder writes, with a checksum, or what it throws. */
function outcome(
  decode: NonNullable<ReturnType<typeof decoderFor>>,
  bytes: Uint8Array,
  size: number,
): string {
  let [at, written, sum] = [0, 0, 0]
  try {
    decode(
      () => {
        at += size
        return bytes.subarray(at - size, at)
      },
      (piece) => {
        written += piece.length
        for (const byte of piece) sum = (sum * 31 + byte) | 0
        if (written > ENOUGH) throw new Enough()
      },
    )
    return `${written} ${sum}`
  } catch (error) {
    if (error instanceof Enough) return 'much'
    if (!decompress.mayThrow!(error)) throw error
    return 'damaged'
  }
}
