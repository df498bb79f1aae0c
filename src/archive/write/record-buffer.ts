/**
 * Encodes result and mark records in one reused buffer. docs/formats/archive.md
 *
 *     v2  0 length   4 sec   8 usec                          12 metrics   16 value sets, blocks   length
 *     v3  0 length   4 sec, low   8 sec, high   12 nsec      16 metrics   20 value sets, blocks   length
 */
import type { Timestamp } from '../../base/timestamp.ts'
import type { ValueSet } from '../../model/values.ts'
import { valueSetsSize, writeValueSets } from '../../wire/value-sets.ts'
import { type ArchiveVersion, stampSize, writeStamp } from '../stamp.ts'

/** Block positions count words from two words before the record: they are relative to a PDU header, which is longer. */
const BLOCK_ORIGIN = -8

/** Encodes records. Results are valid until its next use. */
export class RecordBuffer {
  #bytes = new Uint8Array(4096)
  #view = new DataView(this.#bytes.buffer)

  /** Encodes values at one time. At least one set is required: a record without any is a mark. */
  result(version: ArchiveVersion, at: Timestamp, sets: readonly ValueSet[]): Uint8Array {
    const body = 4 + stampSize(version) + 4
    const length = body + valueSetsSize(sets) + 4
    this.#begin(version, at, length, sets.length)
    writeValueSets(this.#view, this.#bytes, body, sets, BLOCK_ORIGIN)
    return this.#bytes.subarray(0, length)
  }

  /** Encodes a mark, which breaks continuity. */
  mark(version: ArchiveVersion, at: Timestamp): Uint8Array {
    const length = 4 + stampSize(version) + 8
    this.#begin(version, at, length, 0)
    return this.#bytes.subarray(0, length)
  }

  #begin(version: ArchiveVersion, at: Timestamp, length: number, metrics: number): void {
    if (length > this.#bytes.length) {
      this.#bytes = new Uint8Array(2 ** Math.ceil(Math.log2(length)))
      this.#view = new DataView(this.#bytes.buffer)
    }
    const view = this.#view
    view.setInt32(0, length)
    const next = writeStamp(view, 4, at, version)
    view.setInt32(next, metrics)
    view.setInt32(length - 4, length)
  }
}
