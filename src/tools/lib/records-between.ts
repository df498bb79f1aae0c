/** Reads the records of a time window. pmFetchArchive(3) */
import type { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import type { Timestamp } from '../../base/timestamp.ts'

/** The records of a window in one direction. Skips records whose time goes against it, as pmFetchArchive(3) does. */
export class RecordsBetween {
  readonly #reader: RecordReader
  readonly #reverse: boolean
  readonly #limit: Timestamp
  #sec: number
  #nsec: number

  /** From the first record at or after `start` to the last at or before `finish`, or in reverse. */
  constructor(reader: RecordReader, start: Timestamp, finish: Timestamp, reverse = false) {
    this.#reader = reader
    this.#reverse = reverse
    const [from, to] = reverse ? [finish, start] : [start, finish]
    this.#limit = to
    this.#sec = from.sec
    this.#nsec = from.nsec
    if (from.sec === Number.POSITIVE_INFINITY) reader.toEnd()
    else reader.seek(from, reverse ? 'backward' : 'forward')
  }

  /** Returns the next record; undefined after the last. Throws the reader's errors. */
  next(): RecordView | undefined {
    for (;;) {
      const record = this.#reverse ? this.#reader.previous() : this.#reader.next()
      if (record === undefined) return undefined
      const { sec, nsec } = record
      const { sec: limitSec, nsec: limitNsec } = this.#limit
      if (this.#isBefore(limitSec, limitNsec, sec, nsec)) return undefined
      if (this.#isBefore(sec, nsec, this.#sec, this.#nsec)) continue
      this.#sec = sec
      this.#nsec = nsec
      return record
    }
  }

  #isBefore(sec: number, nsec: number, otherSec: number, otherNsec: number): boolean {
    return this.#reverse
      ? sec > otherSec || (sec === otherSec && nsec > otherNsec)
      : sec < otherSec || (sec === otherSec && nsec < otherNsec)
  }
}
