/**
 * Finds where a power cut tore a file: a record truncated by the end of the file, or pages of zeros that never reached the disk. Readers
 * treat either as the end of the file, because later records were never acknowledged. docs/formats/archive.md §8
 */
import { type ByteSource, bytesSource, readBytes } from '../base/byte-source.ts'

/** Size of atomic writes of file systems. */
const PAGE = 4096

/** How a file is torn: truncated within a record, or missing a page. */
export type Tear = 'cut' | 'hole'

/**
 * Returns how the damaged record at `at` is torn, undefined for damage that a power cut does not explain. `least` is the length of the
 * shortest record.
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
 * Returns metadata up to its first tear. `start` is the end of the label; `offsets` are record boundaries from the index: an impossible
 * length before one of them is other damage.
 */
export function truncateAtTear(bytes: Uint8Array, start: number, offsets: ArrayLike<number>): Uint8Array {
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

/** Returns whether any page between two offsets is all zeros. */
function hasZeroPage(source: ByteSource, from: number, to: number): boolean {
  for (let page = pageEnd(from); page + PAGE <= to; page += PAGE)
    if (isZero(source, page, page + PAGE)) return true
  return false
}

function isZero(source: ByteSource, from: number, to: number): boolean {
  return readBytes(source, from, Math.min(to, source.size) - from).every((byte) => byte === 0)
}

/** Returns the end of the page at an offset. */
function pageEnd(at: number): number {
  return at - (at % PAGE) + PAGE
}

function wordAt(source: ByteSource, at: number): number {
  const bytes = readBytes(source, at, 4)
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, 4).getInt32(0)
}
