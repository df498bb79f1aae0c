/** A position in an archive: steps through its records, over volumes and members. docs/formats/archive.md §9 */
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Archive } from './archive.ts'
import type { RecordView } from './record-view.ts'

/** Which way `seek` prepares to read. */
export type Direction = 'forward' | 'backward'

/** How to read. */
export interface ReaderOptions {
  /** Check value sets and blocks of each record when stepping on it (default). False: only its frame, and `index()` its sets. */
  readonly checkValues?: boolean
  /** Bytes of the buffer; default 1 MB. Grows for larger records. */
  readonly bufferBytes?: number
}

/**
 * Reads records one by one, in file order, marks included; between members of an archive it makes a mark of its own. Stands
 * between two records, at first before the first. Many readers may share an archive.
 */
export class RecordReader {
  /** The archive must stay open while it is read. */
  constructor(_archive: Archive, _options: ReaderOptions = {}) {
    throw new PcpError('PM_ERR_NYI')
  }

  /** Before the first record. */
  rewind(): void {}

  /** Behind the last record. */
  toEnd(): void {}

  /**
   * Forward: so that `next` gives the first record at or after `time`. Backward: so that `previous` gives the last record at or
   * before `time`. Never throws: what is damaged is reported when it is read.
   */
  seek(_time: Timestamp, _direction: Direction): void {}

  /**
   * The record behind the position, and steps over it; undefined at the end, where asking again later finds what was
   * appended since. PM_ERR_LOGREC for a damaged record (again each time), PM_ERR_LOGOVERLAP once between members.
   */
  next(): RecordView | undefined {
    return undefined
  }

  /** The record before the position, and steps back over it; undefined at the start. Errors as `next`. */
  previous(): RecordView | undefined {
    return undefined
  }
}
