/** The temporal index being written: which records get an entry. docs/formats/archive.md §6 */
import type { ByteSink } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { type ArchiveVersion, writeStamp } from '../stamp.ts'
import { indexEntrySize } from '../temporal-index.ts'

/** Bytes of a volume after an entry until the next one. */
const INDEX_EVERY = 100_000

/** A record of values or a mark, and the metadata it needs. */
export interface IndexedRecord {
  readonly at: Timestamp
  readonly volume: number
  readonly offset: number
  /** Where the metadata ended before anything was written for this record. */
  readonly metaOffset: number
}

/** The entries of one archive. */
export class IndexEntries {
  readonly #sink: ByteSink
  readonly #version: ArchiveVersion
  #lastTime: Timestamp | undefined
  #volume: number | undefined
  readonly #isEven: boolean
  /** Where in the volume the next entry is due. */
  #threshold = INDEX_EVERY
  /** An entry could not be written: the next record gets one instead. */
  #isOwed = false

  /** `isEven`: an entry that was needed early does not put off the next one. */
  constructor(sink: ByteSink, version: ArchiveVersion, isEven: boolean) {
    this.#sink = sink
    this.#version = version
    this.#isEven = isEven
  }

  /**
   * Follows each record, whose end in its volume is `end`; `isNeeded` when readers look for it: the first of a volume, or one with a
   * new instance domain. Never throws: records can be found without their entries, and a failed entry is made up for by a later one.
   */
  follow(record: IndexedRecord, end: number, isNeeded: boolean): void {
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

  /** Writes an entry unless the one before has this time or a later one. Throws the sink's error. */
  write({ at, volume, offset, metaOffset }: IndexedRecord): void {
    const time = this.#stored(at)
    if (this.#lastTime !== undefined && !isLater(time, this.#lastTime)) return
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

  /** Rounds a time to what version 2 stores: whole microseconds. */
  #stored({ sec, nsec }: Timestamp): Timestamp {
    return { sec, nsec: this.#version === 2 ? nsec - (nsec % 1000) : nsec }
  }
}

function isLater(a: Timestamp, b: Timestamp): boolean {
  return a.sec > b.sec || (a.sec === b.sec && a.nsec > b.nsec)
}
