/**
 * One record of a data volume in a reader's buffer. docs/formats/archive.md §5
 *
 *     0  length   4 time (8 or 12)   metrics   value sets   value blocks   length
 */
import type { Timestamp } from '../base/timestamp.ts'
import type { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { emptySet, type FetchResult, type ValueSet } from '../model/values.ts'
import type { ArchiveVersion } from './stamp.ts'

/**
 * The current record of a reader, which reuses it: it is valid until the reader moves, and is decoded on demand.
 *
 * The value sets are columns of `count` entries, filled by `index()`, which `RecordReader` calls unless `checkValues` is false: the
 * metric, the number of values or negative error, the format, and the offset of its pairs of instance and
 * word in `view`. Pair `i` of set `s` is `view.getInt32(record.pairs[s] + 8 * i)` and the word 4 bytes later, which
 * is the value for format 0 and otherwise `record.blockAt(word)` is the offset of its block in `view`.
 */
export interface RecordView {
  /** Buffer that contains the record, among others. */
  readonly bytes: Uint8Array
  readonly view: DataView
  /** Offset of the record in `bytes`. */
  readonly offset: number
  /** Length including both length words. */
  readonly length: number
  /** Number of the volume, and offset of the record in that file; -1 for a mark between two archives. */
  readonly volume: number
  readonly position: number
  /** Index of the member that it belongs to. */
  readonly member: number
  readonly version: ArchiveVersion
  readonly sec: number
  readonly nsec: number
  /** Number of value sets; 0 for a mark. */
  readonly count: number
  readonly pmids: Uint32Array
  readonly statuses: Int32Array
  readonly formats: Uint8Array
  readonly pairs: Int32Array
  /** Fills the columns, unless they are filled. PM_ERR_LOGREC if value sets exceed the record. */
  index(): void
  /**
   * Returns the index of a metric's value set, -1 without one: `guess` if that matches, or the first. Fills the columns, those of a
   * sparse reader only up to the set found.
   */
  find(pmid: Pmid, guess?: number): number
  /** Whether all of its bytes are in `view`. A sparse reader reads only the requested parts of a large record. */
  readonly isWhole: boolean
  /** Returns the offset in `view` of the block that a word of this record refers to. A sparse reader then reads it. */
  blockAt(word: number): number
  /** Returns the length of the block at an offset of `view`; 0 if it is outside the record. */
  blockSize(at: number): number
  /** Time of the record. */
  timestamp(): Timestamp
  /** Copies value set `s`, independent of the reader. PM_ERR_LOGREC for values outside the record. */
  toSet(s: number): ValueSet
  /** Copies the whole record; a mark has no sets. */
  toResult(): FetchResult
}

/** Range of a record's buffer with the blocks of one value set. */
export interface Span {
  readonly from: number
  readonly to: number
}

const NO_BYTES = new Uint8Array(0)
/** If blocks take at most this many bytes each, they are copied in one piece, together with the little that may be between them. */
const DENSE = 24

/**
 * Copies value set `s` of a record whose columns are filled. `span` is the range of its blocks if they have been checked;
 * otherwise `fault` makes the error for the first block outside the record.
 */
export function copySet(
  record: RecordView,
  s: number,
  span: Span | undefined,
  fault: (what: string) => PcpError,
): ValueSet {
  const { view } = record
  const status = record.statuses[s]!
  const pmid = record.pmids[s]!
  const format = record.formats[s]!
  if (status <= 0) return emptySet(pmid, status)
  const isDense = span !== undefined && span.to - span.from <= DENSE * status
  const size = format === 0 ? 0 : isDense ? span.to - span.from : sizeOfBlocks(record, s, fault)
  // One buffer for both columns and the blocks: allocating a buffer costs more than copying a few words.
  const store = new ArrayBuffer(8 * status + ((size + 3) & ~3))
  const inst = new Int32Array(store, 0, status)
  const word = new Int32Array(store, 4 * status, status)
  for (let i = 0, at = record.pairs[s]!; i < status; i++, at += 8) {
    inst[i] = view.getInt32(at)
    word[i] = view.getInt32(at + 4)
  }
  if (format === 0) return { pmid, status, format, inst, word, bytes: NO_BYTES }
  const bytes = new Uint8Array(store, 8 * status, size)
  if (isDense) copySpan(record, word, bytes, span.from)
  else copyBlocks(record, word, bytes, fault)
  return { pmid, status, format, inst, word, bytes }
}

function sizeOfBlocks(record: RecordView, s: number, fault: (what: string) => PcpError): number {
  const { view } = record
  const pairs = record.pairs[s]!
  const behind = pairs + 8 * record.statuses[s]!
  let total = 0
  for (let at = pairs + 4; at < behind; at += 8)
    total += blockSize(record, record.blockAt(view.getInt32(at)), fault)
  return total
}

/** Copies the range from `from` on and adjusts `word`, which pointed to blocks in it. */
function copySpan(record: RecordView, word: Int32Array, bytes: Uint8Array, from: number): void {
  bytes.set(record.bytes.subarray(from, from + bytes.length))
  const shift = record.blockAt(0) - from
  for (let i = 0; i < word.length; i++) word[i] = 4 * word[i]! + shift
}

/** Copies the blocks that `word` points to, contiguously, and adjusts `word`. */
function copyBlocks(
  record: RecordView,
  word: Int32Array,
  bytes: Uint8Array,
  fault: (what: string) => PcpError,
): void {
  let used = 0
  for (let i = 0; i < word.length; i++) {
    const from = record.blockAt(word[i]!)
    const length = blockSize(record, from, fault)
    bytes.set(record.bytes.subarray(from, from + length), used)
    word[i] = used
    used += length
  }
}

function blockSize(record: RecordView, at: number, fault: (what: string) => PcpError): number {
  const size = record.blockSize(at)
  if (size === 0) throw fault(`a value block at ${at - record.offset} is outside the record`)
  return size
}
