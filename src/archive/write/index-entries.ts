/** Writes the temporal index. docs/formats/archive.md §6 */
import type { ByteSink } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import { type ArchiveVersion, storedTime, writeStamp } from '../stamp.ts'
import { indexEntrySize } from '../temporal-index.ts'

/** Bytes of a volume between entries. */
const INDEX_EVERY = 100_000

/** A record of values or a mark, and its metadata. */
export interface IndexedRecord {
  readonly at: Timestamp
  readonly volume: number
  readonly offset: number
  /** End of the metadata before anything was written for this record. */
  readonly metaOffset: number
}

/** Entries of one archive. */
export class IndexEntries {
  readonly #sink: ByteSink
  readonly #version: ArchiveVersion
  #lastTime: Timestamp | undefined
  #volume: number | undefined
  readonly #isEven: boolean
  /** Offset in the volume at which the next entry is due. */
  #threshold = INDEX_EVERY
  /** Whether an entry failed, so that the next record needs one. */
  #isOwed = false

  /** `isEven`: an additional entry does not delay the next regular one. */
  constructor(sink: ByteSink, version: ArchiveVersion, isEven: boolean) {
    this.#sink = sink
    this.#version = version
    this.#isEven = isEven
  }

  /**
   * Called for each record, whose end in its volume is `end`; `isNeeded` if readers depend on an entry: the first of a volume, or one with a
   * new instance domain. Never throws: records can be found without entries, and a failed entry is made up for later.
   */
  onRecord(record: IndexedRecord, end: number, isNeeded: boolean): void {
    if (record.volume !== this.#volume) {
      this.#volume = record.volume
      this.#threshold = INDEX_EVERY
    }
    if (!isNeeded && !this.#isOwed && end <= this.#threshold) return
    try {
      this.write(record)
      this.#isOwed = false
      if (!this.#isEven || end > this.#threshold) this.#threshold = end + INDEX_EVERY
    } catch {
      this.#isOwed = true
    }
  }

  /** Writes an entry unless the previous one has this time or a later one. Throws the sink's error. */
  write({ at, volume, offset, metaOffset }: IndexedRecord): void {
    const time = storedTime(at, this.#version)
    if (this.#lastTime !== undefined && compareTimes(time, this.#lastTime) <= 0) return
    const bytes = new Uint8Array(indexEntrySize(this.#version))
    const view = new DataView(bytes.buffer)
    const next = writeStamp(view, 0, time, this.#version)
    view.setInt32(next, volume)
    if (this.#version === 2) {
      view.setInt32(next + 4, metaOffset)
      view.setInt32(next + 8, offset)
    } else {
      view.setBigInt64(next + 4, BigInt(metaOffset))
      view.setBigInt64(next + 12, BigInt(offset))
    }
    this.#sink.write(bytes)
    this.#lastTime = time
  }
}
