/**
 * One record of a data volume where it stands in a reader's buffer. docs/formats/archive.md §5
 *
 *     0  length   4 time (8 or 12)   metrics   value sets   value blocks   length
 */
import type { Timestamp } from '../base/timestamp.ts'
import type { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { emptySet, type FetchResult, type ValueSet } from '../model/values.ts'
import type { ArchiveVersion } from './stamp.ts'

/**
 * A record a reader stands on. Readers reuse it: it is valid until the reader moves, and nothing in it is decoded until asked.
 *
 * The value sets are columns of `count` entries, filled by `index()` (which `RecordReader` has already called unless it was told
 * not to check values): the metric, the number of values or negative error, the format, and where its pairs of instance and
 * word start in `view`. Pair `i` of set `s` is `view.getInt32(record.pairs[s] + 8 * i)` and the word 4 bytes later, which
 * is the value for format 0 and otherwise makes `record.blockAt(word)` the place of its block in `view`.
 */
export interface RecordView {
  /** What the record stands in, behind other records. */
  readonly bytes: Uint8Array
  readonly view: DataView
  /** Where in `bytes` the record starts. */
  readonly offset: number
  /** Bytes of the record with both its length words. */
  readonly length: number
  /** Number of its volume, and where the record starts in that file; -1 for a mark between two archives. */
  readonly volume: number
  readonly position: number
  /** Which of the archive's members it belongs to. */
  readonly member: number
  readonly version: ArchiveVersion
  readonly sec: number
  readonly nsec: number
  /** Value sets; 0 for a mark. */
  readonly count: number
  readonly pmids: Uint32Array
  readonly statuses: Int32Array
  readonly formats: Uint8Array
  readonly pairs: Int32Array
  /** Fills the columns; nothing when they are filled. PM_ERR_LOGREC when value sets do not fit into the record. */
  index(): void
  /**
   * Index of a metric's value set, -1 without one: `guess`, if that is one, or the first. Fills the columns, those of a sparse
   * reader at least up to the value set found.
   */
  find(pmid: Pmid, guess?: number): number
  /** Are all of its bytes in `view`? Of a large record a sparse reader reads only the parts that are asked for. */
  readonly isWhole: boolean
  /** Where in `view` the block is that a word of this record stands for. A sparse reader reads it only then. */
  blockAt(word: number): number
  /** Length of the block at a place of `view`; 0 for one that is not in the record. */
  blockSize(at: number): number
  /** Time of the record. */
  timestamp(): Timestamp
  /** A copy of value set `s`, independent of the reader. PM_ERR_LOGREC for values outside the record. */
  toSet(s: number): ValueSet
  /** A copy of the whole record; a mark has no sets. */
  toResult(): FetchResult
}

/** The part of a record's buffer that the blocks of one value set take. */
export interface Span {
  readonly from: number
  readonly to: number
}

const NO_BYTES = new Uint8Array(0)
/** Blocks that take no more bytes each than this are copied in one piece, with what little may stand between them. */
const DENSE = 24

/**
 * A copy of value set `s` of a record whose columns are filled. `span` says where its blocks are when they have been checked;
 * otherwise what `fault` makes of the first one outside the record is thrown.
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
  // One store for all three: that of a typed array costs more to make and to free than its words to copy.
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

/** Copies what is from `from` on; `word`, which pointed to blocks in it, then points into the copy. */
function copySpan(record: RecordView, word: Int32Array, bytes: Uint8Array, from: number): void {
  bytes.set(record.bytes.subarray(from, from + bytes.length))
  const shift = record.blockAt(0) - from
  for (let i = 0; i < word.length; i++) word[i] = 4 * word[i]! + shift
}

/** Copies the blocks that `word` points to, one behind the other; `word` then points into the copy. */
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
  if (size === 0) throw fault(`a value block at ${at - record.offset} is outside`)
  return size
}
