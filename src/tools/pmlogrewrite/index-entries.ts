/** The temporal index of a rewritten archive. docs/formats/archive.md §6 */
import { type ArchiveVersion, writeStamp } from '../../archive/stamp.ts'
import type { TemporalIndex } from '../../archive/temporal-index.ts'
import type { ByteSink } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { addTimes, compareTimes } from '../../time/arithmetic.ts'

/** Bytes of a volume after an entry of the index until the next one. */
const INDEX_EVERY = 100_000

/** A place in a file of the output. */
export interface Place {
  readonly volume: number
  readonly offset: number
}

/** Where records of one file of the input are in the output. */
export class Places {
  readonly #old: number[] = []
  readonly #new: number[] = []
  readonly #volumes: number[] = []
  readonly #secs: number[] = []
  readonly #nsecs: number[] = []
  #oldEnd = 0
  #newEnd: number
  #volume: number

  /** Nothing read yet; what is written first goes to this place. */
  constructor(offset: number, volume: number) {
    this.#newEnd = offset
    this.#volume = volume
  }

  /** A record starts at `from`; what becomes of it, if anything, starts at `to` of a volume. */
  add(from: number, to: number, volume: number): void {
    this.#old.push(from)
    this.#new.push(to)
    this.#volumes.push(volume)
    this.#volume = volume
  }

  /** The record ends at `from`, and what became of it at `to`; `sec` and `nsec` were its time. */
  end(from: number, to: number, sec = 0, nsec = 0): void {
    this.#oldEnd = from
    this.#newEnd = to
    this.#secs.push(sec)
    this.#nsecs.push(nsec)
  }

  /** Where in the output a place in the input is; one within a record counts as its start. */
  of(place: number): number {
    return place >= this.#oldEnd
      ? this.#newEnd
      : (this.#new[Math.max(0, this.#recordAt(place))] ?? this.#newEnd)
  }

  /**
   * Where the record is that an entry of an index means: those of older writers have the end of the record of that time, others its
   * start. Undefined when nothing of the output is there or behind.
   */
  ofEntry(place: number, sec: number, nsec: number): Place | undefined {
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

/** Collects the entries. */
export class IndexRewriter {
  readonly #version: ArchiveVersion
  readonly #delta: Timestamp | undefined
  readonly #entries: Entry[] = []
  /** Where records of the archive being read are, by the number of their volume in it. */
  readonly #volumes = new Map<number, Places>()
  /** What there would be without an index to go by. */
  #own: Entry[] = []
  #last: Entry | undefined
  #threshold = 0

  constructor(version: ArchiveVersion, delta: Timestamp | undefined) {
    this.#version = version
    this.#delta = delta
  }

  /** The records of another archive follow. */
  begin(): void {
    this.#volumes.clear()
    this.#own = []
    this.#threshold = 0
  }

  /** A record is written at `data`. */
  record(time: Timestamp, volume: number, data: number, meta: number): void {
    const entry = { time, volume, meta, data }
    if (this.#last?.volume !== volume || data >= this.#threshold) {
      this.#own.push(entry)
      this.#threshold = data + INDEX_EVERY
    }
    this.#last = entry
  }

  /** The volume of that number in the input was read to its end. */
  volume(number: number, places: Places): void {
    this.#volumes.set(number, places)
  }

  /** All volumes of an archive were read: adds the entries of its index, or if it has none those of its records. */
  add(index: TemporalIndex | undefined, meta: Places): void {
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
    // The end of the archive has an entry, also where that of the input went with its record.
    if (this.#last !== undefined && (end === undefined || compareTimes(end.time, this.#last.time) < 0))
      this.#entries.push(this.#last)
  }

  /** Writes all entries. */
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
