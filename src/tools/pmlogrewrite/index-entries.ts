/** The temporal index of a rewritten archive. docs/formats/archive.md §6 */
import { type ArchiveVersion, writeStamp } from '../../archive/stamp.ts'
import type { TemporalIndex } from '../../archive/temporal-index.ts'
import type { ByteSink } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { addTimes, compareTimes } from '../../time/arithmetic.ts'

/** Bytes of a volume between two entries of the index. */
const INDEX_EVERY = 100_000

/** A position in a file of the output. */
export interface OutputPosition {
  readonly volume: number
  readonly offset: number
}

/** Maps positions in one input file to the output. */
export class PositionMap {
  readonly #old: number[] = []
  readonly #new: number[] = []
  readonly #volumes: number[] = []
  readonly #secs: number[] = []
  readonly #nsecs: number[] = []
  #oldEnd = 0
  #newEnd: number
  #volume: number

  /** The first record will be written at this position. */
  constructor(offset: number, volume: number) {
    this.#newEnd = offset
    this.#volume = volume
  }

  /** Adds a record that starts at `from`; its output, if any, starts at `to` of a volume. */
  add(from: number, to: number, volume: number): void {
    this.#old.push(from)
    this.#new.push(to)
    this.#volumes.push(volume)
    this.#volume = volume
  }

  /** Ends the record at `from`, and its output at `to`; `sec` and `nsec` are the record's time. */
  end(from: number, to: number, sec = 0, nsec = 0): void {
    this.#oldEnd = from
    this.#newEnd = to
    this.#secs.push(sec)
    this.#nsecs.push(nsec)
  }

  /** Maps a position; one within a record counts as the record's start. */
  of(place: number): number {
    return place >= this.#oldEnd
      ? this.#newEnd
      : (this.#new[Math.max(0, this.#recordAt(place))] ?? this.#newEnd)
  }

  /**
   * Finds the record that an index entry refers to: entries of older writers hold the end of the record of that time, others its start.
   * Undefined if the output has nothing there or later.
   */
  ofEntry(place: number, sec: number, nsec: number): OutputPosition | undefined {
    const count = this.#old.length
    let record = place >= this.#oldEnd ? count : Math.max(0, this.#recordAt(place))
    const isBoundary = place === this.#oldEnd || this.#old[record] === place
    const isAt = (i: number): boolean => this.#secs[i] === sec && this.#nsecs[i] === nsec
    if (isBoundary && record > 0 && isAt(record - 1) && !(record < count && isAt(record))) record--
    const offset = this.#new[record]
    const volume = this.#volumes[record]
    if (offset === undefined || volume === undefined) return undefined
    return volume === this.#volume && offset >= this.#newEnd ? undefined : { volume, offset }
  }

  #recordAt(place: number): number {
    const old = this.#old
    let low = 0
    let high = old.length
    while (low < high) {
      const mid = (low + high) >> 1
      if (old[mid]! <= place) low = mid + 1
      else high = mid
    }
    return low - 1
  }
}

interface Entry {
  readonly time: Timestamp
  readonly volume: number
  readonly meta: number
  readonly data: number
}

/** Collects the entries of the output's index. */
export class IndexRewriter {
  readonly #version: ArchiveVersion
  readonly #delta: Timestamp | undefined
  readonly #entries: Entry[] = []
  /** Positions of the current archive's records by volume number of the input. */
  readonly #volumes = new Map<number, PositionMap>()
  /** Entries to use if the input has no index. */
  #own: Entry[] = []
  #last: Entry | undefined
  #threshold = 0

  constructor(version: ArchiveVersion, delta: Timestamp | undefined) {
    this.#version = version
    this.#delta = delta
  }

  /** Starts the next archive. */
  begin(): void {
    this.#volumes.clear()
    this.#own = []
    this.#threshold = 0
  }

  /** Notes a record written at `data`. */
  record(time: Timestamp, volume: number, data: number, meta: number): void {
    const entry = { time, volume, meta, data }
    if (this.#last?.volume !== volume || data >= this.#threshold) {
      this.#own.push(entry)
      this.#threshold = data + INDEX_EVERY
    }
    this.#last = entry
  }

  /** Notes that a volume of the input was read completely. */
  volume(number: number, places: PositionMap): void {
    this.#volumes.set(number, places)
  }

  /** Adds the entries of an archive's index after reading all its volumes; without an index, entries made from its records. */
  add(index: TemporalIndex | undefined, meta: PositionMap): void {
    if (index === undefined || index.length === 0) {
      this.#entries.push(...this.#own)
      if (this.#last !== undefined) this.#entries.push(this.#last)
      return
    }
    for (let i = 0; i < index.length; i++) {
      const [sec, nsec] = [index.sec[i]!, index.nsec[i]!]
      const place = this.#volumes.get(index.volume[i]!)?.ofEntry(index.offset[i]!, sec, nsec)
      if (place === undefined) continue
      const time = this.#delta === undefined ? { sec, nsec } : addTimes({ sec, nsec }, this.#delta)
      this.#entries.push({
        time,
        volume: place.volume,
        meta: meta.of(index.metaOffset[i]!),
        data: place.offset,
      })
    }
    const end = this.#entries[this.#entries.length - 1]
    // The output's last record always gets an entry, even if the input's last entry was for a dropped record.
    if (this.#last !== undefined && (end === undefined || compareTimes(end.time, this.#last.time) < 0))
      this.#entries.push(this.#last)
  }

  write(sink: ByteSink): void {
    for (const { time, volume, meta, data } of this.#entries) {
      const bytes = new Uint8Array(this.#version === 2 ? 20 : 32)
      const view = new DataView(bytes.buffer)
      const next = writeStamp(view, 0, time, this.#version)
      view.setInt32(next, volume)
      if (this.#version === 2) {
        view.setInt32(next + 4, meta)
        view.setInt32(next + 8, data)
      } else {
        view.setBigInt64(next + 4, BigInt(meta))
        view.setBigInt64(next + 12, BigInt(data))
      }
      sink.write(bytes)
    }
  }
}
