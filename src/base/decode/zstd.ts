/**
 * Zstandard, decoded by the package fzstd. The package ignores checksums and the memory that a header requests, and accepts
 * empty input as a complete file. This module checks all three, frame by frame. RFC 8878
 *
 *     frame  0xfd2fb528  descriptor  window?  dictionary?  length?  { block }  checksum?
 *     block  last:1 kind:2 size:21  bytes
 */
import { Decompress } from 'fzstd'
import { ByteInput, type Read, type Write } from './input.ts'
import { Xxh64 } from './xxh64.ts'

const MAGIC = 0xfd2fb528
/** First of 16 magic numbers of skippable frames. */
const SKIPPED_MAGIC = 0x184d2a50
/** Largest window that zstd accepts without further options. */
const MAX_WINDOW = 2 ** 27
const MAX_BLOCK = 1 << 17
const RUN_LENGTH_BLOCK = 1

/** Decompresses one or more Zstandard frames. Throws an Error for damage, as far as frames have checksums. */
export function decodeZstd(read: Read, write: Write): void {
  const input = new ByteInput(read)
  let first = input.byte()
  do {
    const rest = input.read(3)
    const magic = (first | (rest[0]! << 8) | (rest[1]! << 16) | (rest[2]! << 24)) >>> 0
    if (magic === MAGIC) decodeFrame(input, write)
    else if (magic - (magic % 16) === SKIPPED_MAGIC) input.skip(number(input.read(4)))
    else throw new Error('it is not a zstd file')
    first = input.next()
  } while (first !== -1)
}

function decodeFrame(input: ByteInput, write: Write): void {
  const { bytes, length, hasChecksum } = readHeader(input)
  const hash = new Xxh64()
  let written = 0
  const stream = new Decompress((chunk) => {
    if (hasChecksum) hash.update(chunk)
    written += chunk.length
    write(chunk)
  })
  stream.push(Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd))
  stream.push(bytes)
  for (let isLast = false; !isLast; ) {
    const head = input.read(3)
    const value = number(head)
    isLast = value % 2 === 1
    const size = value >>> 3
    if (size > MAX_BLOCK) throw new Error('a block is too long')
    stream.push(head)
    stream.push(input.read(((value >> 1) & 3) === RUN_LENGTH_BLOCK ? 1 : size), isLast && !hasChecksum)
  }
  if (hasChecksum) {
    const checksum = input.read(4)
    stream.push(checksum, true)
    if (number(checksum) !== Number(hash.digest() & 0xffffffffn)) throw new Error('a checksum is wrong')
  }
  if (length !== undefined && length !== written) throw new Error('its length differs from its header')
}

interface FrameHeader {
  /** The header without the magic number. */
  readonly bytes: Uint8Array
  /** Length of the content, if known. */
  readonly length: number | undefined
  readonly hasChecksum: boolean
}

function readHeader(input: ByteInput): FrameHeader {
  const descriptor = input.byte()
  const isSingle = (descriptor & 0x20) !== 0
  const windowSize = isSingle ? 0 : 1
  const dictionarySize = [0, 1, 2, 4][descriptor & 3]!
  const lengthSize = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]!
  const rest = input.read(windowSize + dictionarySize + lengthSize)
  const stated = number(rest.subarray(windowSize + dictionarySize)) + (lengthSize === 2 ? 256 : 0)
  const window = isSingle ? stated : (2 ** (10 + (rest[0]! >> 3)) * (8 + (rest[0]! & 7))) / 8
  if (window > MAX_WINDOW) throw new Error('it needs more than 128 MB of memory')
  const bytes = new Uint8Array(1 + rest.length)
  bytes[0] = descriptor
  bytes.set(rest, 1)
  return { bytes, length: lengthSize === 0 ? undefined : stated, hasChecksum: (descriptor & 4) !== 0 }
}

/** Returns bytes as a number, the least significant first; a double is enough for all possible lengths. */
function number(bytes: Uint8Array): number {
  return bytes.reduceRight((sum, byte) => sum * 256 + byte, 0)
}
