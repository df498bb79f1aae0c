/** Small compressed files that expand to huge content, or cause much work. */
import { constants, createGzip } from 'node:zlib'

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd]
/** Longest Zstandard block. */
const ZSTD_BLOCK = 1 << 17

/** Returns the header of a Zstandard block: three bytes, little-endian. */
function zstdBlock(size: number, isLast: boolean): number[] {
  const head = size * 8 + 1 * 2 + (isLast ? 1 : 0)
  return [head & 0xff, (head >> 8) & 0xff, head >> 16, 0]
}

/** Returns a Zstandard frame of `blocks` run-length blocks of 4 bytes, each of `size` zeros; `windowLog` from 10 to 27. */
export function zstdBomb(blocks: number, size: number = ZSTD_BLOCK, windowLog = 17): Uint8Array {
  const bytes = [...ZSTD_MAGIC, 0, (windowLog - 10) << 3]
  for (let i = 0; i < blocks; i++) bytes.push(...zstdBlock(size, i === blocks - 1))
  return Uint8Array.from(bytes)
}

/** Returns a gzip file of some MiB of zeros, about a thousandth as long. */
export async function gzipBomb(mib: number): Promise<Uint8Array> {
  const zip = createGzip({ level: constants.Z_BEST_COMPRESSION })
  const zeros = new Uint8Array(1 << 20)
  const parts: Uint8Array[] = []
  zip.on('data', (part: Uint8Array) => parts.push(part))
  for (let i = 0; i < mib; i++) await new Promise<void>((resolve) => zip.write(zeros, () => resolve()))
  await new Promise<void>((resolve) => {
    zip.once('end', resolve)
    zip.end()
  })
  return Buffer.concat(parts)
}

/**
 * Returns a compress(1) file in which every code is the previous string and one more byte: 128 KB of codes are 2 GB.
 * `codes` up to 65,000.
 */
export function lzwBomb(codes: number): Uint8Array {
  const bytes = [0x1f, 0x9d, 0x90]
  let hold = 0n
  let bits = 0
  let inGroup = 0
  const put = (code: number, width: number): void => {
    hold |= BigInt(code) << BigInt(bits)
    bits += width
    inGroup = (inGroup + 1) % 8
    for (; bits >= 8; bits -= 8) {
      bytes.push(Number(hold & 0xffn))
      hold >>= 8n
    }
  }
  let width = 9
  let free = 257
  for (let i = 0; i < codes; i++) {
    // The decoder adds a code's entry one code later.
    if (free === 1 << width && width < 16) {
      while (inGroup !== 0) put(0, width)
      width++
    }
    put(i === 0 ? 0 : free, width)
    if (i > 0 && free < 65_535) free++
  }
  if (bits > 0) bytes.push(Number(hold & 0xffn))
  return Uint8Array.from(bytes)
}

/** Returns a bzip2 file of many empty streams, each requiring a block of 900,000 bytes. */
export function bzip2Streams(streams: number): Uint8Array {
  const stream = [0x42, 0x5a, 0x68, 0x39, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0]
  return Uint8Array.from({ length: streams * stream.length }, (_, i) => stream[i % stream.length]!)
}
