/**
 * The temporal index. docs/formats/archive.md §6
 *
 *     version 2, 20 bytes: 0 time (8)    8 volume    12 offset in the metadata (4)   16 offset in the volume (4)
 *     version 3, 32 bytes: 0 time (12)   12 volume   16 offset in the metadata (8)   24 offset in the volume (8)
 */
import { type ArchiveVersion, stampNsec, stampSec } from './stamp.ts'

/** Entries as columns, in file order. */
export interface TemporalIndex {
  readonly length: number
  readonly sec: Float64Array
  readonly nsec: Int32Array
  readonly volume: Int32Array
  readonly metaOffset: Float64Array
  readonly offset: Float64Array
}

/** Bytes of an entry. */
export function indexEntrySize(version: ArchiveVersion): 20 | 32 {
  return version === 2 ? 20 : 32
}

/** Decodes the entries in `bytes`, which start after the label; an incomplete last one is ignored. */
export function decodeIndex(bytes: Uint8Array, version: ArchiveVersion): TemporalIndex {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const size = indexEntrySize(version)
  const length = Math.floor(bytes.length / size)
  const index = {
    length,
    sec: new Float64Array(length),
    nsec: new Int32Array(length),
    volume: new Int32Array(length),
    metaOffset: new Float64Array(length),
    offset: new Float64Array(length),
  }
  for (let i = 0; i < length; i++) {
    const at = i * size
    index.sec[i] = stampSec(view, at, version)
    index.nsec[i] = stampNsec(view, at, version)
    index.volume[i] = view.getInt32(version === 2 ? at + 8 : at + 12)
    index.metaOffset[i] = version === 2 ? view.getInt32(at + 12) : int64At(view, at + 16)
    index.offset[i] = version === 2 ? view.getInt32(at + 16) : int64At(view, at + 24)
  }
  return index
}

/** Reads a 64-bit integer, exact up to 2^53, which is beyond any file size. */
function int64At(view: DataView, at: number): number {
  return view.getInt32(at) * 0x1_0000_0000 + view.getUint32(at + 4)
}
