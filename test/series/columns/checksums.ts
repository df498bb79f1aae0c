/** Columns files that are damaged, with checksums that are right. */
import { crc32 } from 'node:zlib'
import { ENTRY_BYTES, HEAD_BYTES, MAGIC, TAIL_BYTES } from '../../../src/series/columns/file.ts'

/** Sets the stamp, the place of the directory and all checksums, so that damage is found by decoding. */
export function withChecksums(input: Uint8Array, stamp: Uint8Array): Uint8Array {
  if (input.length < HEAD_BYTES + TAIL_BYTES) return input
  const bytes = input.slice()
  const view = new DataView(bytes.buffer)
  const tail = bytes.length - TAIL_BYTES
  const count = Math.min(view.getUint32(tail + 8, true), Math.floor((tail - HEAD_BYTES) / ENTRY_BYTES))
  const from = tail - count * ENTRY_BYTES
  view.setFloat64(tail, from, true)
  view.setUint32(tail + 8, count, true)
  for (let at = from; at < tail; at += ENTRY_BYTES) {
    const offset = view.getFloat64(at + 8, true)
    const length = view.getUint32(at + 16, true)
    if (offset >= 0 && offset + length <= bytes.length)
      view.setUint32(at + 20, crc32(bytes.subarray(offset, offset + length)), true)
  }
  view.setUint32(tail + 12, crc32(bytes.subarray(from, tail)), true)
  bytes.set(stamp, tail + 16)
  bytes.set(new TextEncoder().encode(MAGIC), tail + 36)
  return bytes
}
