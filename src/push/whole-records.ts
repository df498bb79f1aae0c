/** Finds the complete records at the start of bytes of an archive file. docs/formats/archive.md */
import { labelSize } from '../archive/label.ts'
import type { ArchiveVersion } from '../archive/stamp.ts'
import { decodeIndex, indexEntrySize } from '../archive/temporal-index.ts'
import { PcpError } from '../model/errors.ts'

/** Shortest records: a mark of version 2, and a metadata record without content. */
const MIN_RECORD = 12
/** Longest record that is accepted. */
export const MAX_RECORD: number = 32 << 20
/** Unit in which a power cut loses content. */
const PAGE = 4096

/** Returns the bytes of complete records of metadata or values. PM_ERR_LOGREC for an impossible length. */
export function wholeRecords(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  while (at + 4 <= bytes.length) {
    const length = view.getInt32(at)
    if (length < MIN_RECORD || length > MAX_RECORD)
      throw new PcpError('PM_ERR_LOGREC', `A record cannot have ${length} bytes`)
    if (at + length > bytes.length) break
    if (view.getInt32(at + length - 4) !== length)
      throw new PcpError('PM_ERR_LOGREC', `A record of ${length} bytes ends in another length`)
    at += length
  }
  return at
}

/** Sizes that index entries refer to. */
export interface Extent {
  readonly metaBytes: number
  /** The last volume; undefined before any. */
  readonly volume: number | undefined
  readonly volumeBytes: number
}

/** Returns the bytes of leading index entries that refer to nothing beyond the metadata and the last volume. */
export function coveredEntries(bytes: Uint8Array, version: ArchiveVersion, extent: Extent): number {
  const { length, volume, metaOffset, offset } = decodeIndex(bytes, version)
  const { metaBytes, volumeBytes } = extent
  const last = extent.volume ?? -1
  let count = 0
  while (count < length) {
    const isCovered =
      metaOffset[count]! <= metaBytes &&
      (volume[count]! < last || (volume[count] === last && offset[count]! <= volumeBytes))
    if (!isCovered) break
    count++
  }
  return count * indexEntrySize(version)
}

/**
 * Returns the bytes of leading records that a power cut has left intact. A missing page reads as zeros; a record that has such a page is
 * lost with all behind it, if `distrustsZeros`. `offset` is the position of `bytes` in the file.
 */
export function soundRecords(bytes: Uint8Array, offset: number, distrustsZeros: boolean): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  while (at + MIN_RECORD <= bytes.length) {
    const length = view.getInt32(at)
    if (length < MIN_RECORD || length > MAX_RECORD || at + length > bytes.length) break
    if (view.getInt32(at + length - 4) !== length) break
    if (distrustsZeros && hasZeroPage(bytes, at, at + length, offset)) break
    at += length
  }
  return at
}

/** Checks whether part of a record that lies in one page is all zeros and fills the page. */
function hasZeroPage(bytes: Uint8Array, from: number, to: number, offset: number): boolean {
  let page = PAGE - ((offset + from) % PAGE) + from
  for (; page + PAGE <= to; page += PAGE)
    if (bytes.subarray(page, page + PAGE).every((byte) => byte === 0)) return true
  return false
}

/** Returns the bytes of leading index entries before an incomplete one. */
export function soundEntries(bytes: Uint8Array, version: ArchiveVersion): number {
  const { length, sec, offset } = decodeIndex(bytes, version)
  let count = 0
  while (count < length && sec[count] !== 0 && offset[count]! >= labelSize(version)) count++
  return count * indexEntrySize(version)
}
