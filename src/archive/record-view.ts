/**
 * One record of a data volume where it stands in a reader's buffer. docs/formats/archive.md §5
 *
 *     0  length   4 time (8 or 12)   metrics   value sets   value blocks   length
 */
import type { Timestamp } from '../base/timestamp.ts'
import type { Pmid } from '../model/ids.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
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
  /** Where in `view` the block is that a word of this record stands for. A sparse reader reads it only then. */
  blockAt(word: number): number
  /** Time of the record. */
  timestamp(): Timestamp
  /** A copy of value set `s`, independent of the reader. PM_ERR_LOGREC for values outside the record. */
  toSet(s: number): ValueSet
  /** A copy of the whole record; a mark has no sets. */
  toResult(): FetchResult
}
