/**
 * What a power cut leaves at the end of files that were written to: a record that the file ends in, or pages that never reached the
 * disk and read as zeros. Readers take either for the end of the file; what follows was never acknowledged. docs/formats/archive.md §8
 */
import { type ByteSource, bytesSource, readBytes } from '../base/byte-source.ts'

/** Bytes that file systems write together. */
const PAGE = 4096

/** How a file is torn: cut off within a record, or missing a page. */
export type Tear = 'cut' | 'hole'

/**
 * Looks whether the record at `at`, which is not sound, is one that a power cut leaves. `least` is the length of the shortest
 * record. Undefined for other damage.
 */
export function tearAt(source: ByteSource, at: number, least: number): Tear | undefined {
  const length = wordAt(source, at)
  if (length === 0) return isZero(source, at, pageEnd(at)) ? 'hole' : undefined
  if (length < least) return undefined
  const end = at + length
  if (end > source.size) return 'cut'
  const lastPage = end - 1 - ((end - 1) % PAGE)
  if (wordAt(source, end - 4) !== length) {
    return isZero(source, Math.max(at, lastPage), pageEnd(lastPage)) ? 'hole' : undefined
  }
  return hasZeroPage(source, at, end) ? 'hole' : undefined
}

/**
 * Metadata without what a power cut tore. `start` is behind the label; `offsets` are places between two records, by the index: what
 * is behind a length that cannot be true is damage if they disagree.
 */
export function withoutTear(bytes: Uint8Array, start: number, offsets: ArrayLike<number>): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const source = bytesSource(bytes)
  const size = bytes.length
  let at = start
  while (at + 8 <= size) {
    const length = view.getInt32(at)
    const isSound = length >= 12 && length <= size - at && view.getInt32(at + length - 4) === length
    if (!isSound || (length > PAGE && hasZeroPage(source, at, at + length))) break
    at += length
  }
  if (at + 8 > size) return bytes
  const tear = tearAt(source, at, 12)
  const isKnownBehind = tear === 'cut' && Array.from(offsets).some((offset) => offset > at && offset <= size)
  return tear === undefined || isKnownBehind ? bytes : bytes.subarray(0, at)
}

/** Is one of the pages between two places all zeros? */
function hasZeroPage(source: ByteSource, from: number, to: number): boolean {
  for (let page = pageEnd(from); page + PAGE <= to; page += PAGE)
    if (isZero(source, page, page + PAGE)) return true
  return false
}

function isZero(source: ByteSource, from: number, to: number): boolean {
  return readBytes(source, from, Math.min(to, source.size) - from).every((byte) => byte === 0)
}

/** Where the page behind a place begins. */
function pageEnd(at: number): number {
  return at - (at % PAGE) + PAGE
}

function wordAt(source: ByteSource, at: number): number {
  const bytes = readBytes(source, at, 4)
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, 4).getInt32(0)
}
