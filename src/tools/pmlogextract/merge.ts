/** Merges inputs by time into one output. pmlogextract(1) */
import { MetadataCopy, WrittenMetadata } from '../../archive/transfer/metadata-copy.ts'
import { RecordCopy, type Wanted } from '../../archive/transfer/record-copy.ts'
import type { ArchiveWriter } from '../../archive/write/writer.ts'
import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import type { Pmid } from '../../model/ids.ts'
import type { SizeLimit } from '../../pmlogger/sizes.ts'
import { addTimes, compareTimes } from '../../time/arithmetic.ts'
import type { Input } from './input.ts'

/** What to write. */
export interface MergeRules {
  readonly start: Timestamp
  readonly finish: Timestamp
  /** The window moves on to the next day when it has passed. */
  readonly isDaily: boolean
  /** Most records. */
  readonly samples: number
  readonly isMarked: boolean
  readonly volumeLimit: SizeLimit | undefined
  readonly wants: (pmid: Pmid) => Wanted
  /** All metrics that are wanted, when they are few enough to look for. */
  readonly few: ReadonlySet<Pmid> | undefined
  /** Hears about each volume begun for `volumeLimit`, before its first record. */
  readonly onVolume: (volume: number, at: Timestamp) => void
}

/** Bytes after which others get their turn: a signal among them. */
const TURN_BYTES = 16 << 20
const DAY: Timestamp = { sec: 86400, nsec: 0 }
const MARK_DISTANCE: Timestamp = { sec: 0, nsec: 1_000_000 }

/** Merges; ask it for one stretch after the other until it is done. */
export class Merge {
  /** Records written so far, marks included. */
  written = 0
  readonly #inputs: readonly Input[]
  readonly #writer: ArchiveWriter
  readonly #rules: MergeRules
  readonly #copy: RecordCopy
  readonly #metadata = new Map<Input, MetadataCopy>()
  readonly #open: Set<Input>
  #start: Timestamp
  #finish: Timestamp
  /** When inputs ended: a mark goes there before what comes next. */
  #marks: Timestamp[] = []
  /** Records in this volume, and when its first one was. */
  #inVolume = 0
  #volumeStart: Timestamp | undefined

  constructor(inputs: readonly Input[], writer: ArchiveWriter, rules: MergeRules) {
    this.#inputs = inputs
    this.#writer = writer
    this.#rules = rules
    this.#start = rules.start
    this.#finish = rules.finish
    this.#copy = new RecordCopy(writer.version, rules.wants)
    const written = new WrittenMetadata()
    for (const input of inputs) {
      this.#metadata.set(input, new MetadataCopy(input.archive, written))
      input.begin(rules.start, rules.few)
    }
    this.#open = new Set(inputs.filter(({ record }) => record !== undefined))
  }

  /** Bytes there are to read, about. */
  get bytes(): number {
    return this.#inputs.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Bytes read so far. */
  get bytesRead(): number {
    return this.#inputs.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
  }

  /** Writes for a while; false when everything is written. */
  step(): boolean {
    const end = this.bytesRead + TURN_BYTES
    while (this.written < this.#rules.samples) {
      const input = this.#earliest()
      if (input === undefined) return false
      const time = input.record!.timestamp()
      if (compareTimes(time, this.#finish) > 0) {
        this.#writeMarks(this.#finish)
        if (!this.#nextDay(time)) return false
        continue
      }
      this.#write(input, time)
      input.advance()
      if (input.record === undefined) this.#ended(input)
      if (this.bytesRead >= end) return true
    }
    return false
  }

  #earliest(): Input | undefined {
    let first: Input | undefined
    let sec = 0
    let nsec = 0
    for (const input of this.#open) {
      const record = input.record!
      if (first !== undefined && (record.sec - sec || record.nsec - nsec) >= 0) continue
      first = input
      sec = record.sec
      nsec = record.nsec
    }
    return first
  }

  /** An input has no more records: unless the next one continues it, or there is none, a mark follows. */
  #ended(input: Input): void {
    this.#open.delete(input)
    const next = this.#earliest()
    if (next === undefined || input.last === undefined) return
    if (!this.#rules.isMarked && input.isContinuedBy(next)) return
    this.#marks.push(addTimes(input.last, MARK_DISTANCE))
  }

  /** Writes marks up to a time, when something comes before them that they end; those beyond wait. */
  #writeMarks(until: Timestamp): void {
    if (this.#marks.length === 0) return
    const marks = this.#marks.sort(compareTimes)
    this.#marks = []
    for (const at of marks) {
      if (compareTimes(at, this.#start) < 0 || this.written === 0) continue
      if (compareTimes(at, until) > 0) this.#marks.push(at)
      else if (this.written < this.#rules.samples) this.#mark(at)
    }
  }

  #mark(at: Timestamp): void {
    this.#writer.mark(at)
    this.#count(at)
  }

  #write(input: Input, time: Timestamp): void {
    const record = input.record!
    if (record.count === 0) {
      if (this.written > 0) this.#mark(time) // otherwise there is nothing before it that it could end
      return
    }
    const bytes = this.#copy.copy(record)
    if (bytes === undefined) return
    this.#writeMarks(time)
    if (this.written >= this.#rules.samples) return
    if (this.#isVolumeFull(time)) {
      this.#inVolume = 0
      this.#volumeStart = undefined
      this.#rules.onVolume(this.#writer.switchVolume(time), time)
    }
    this.#metadata.get(input)!.before(record, this.#copy, this.#writer)
    this.#writer.record(time, bytes)
    this.#count(time)
  }

  #count(time: Timestamp): void {
    this.written++
    this.#inVolume++
    this.#volumeStart ??= time
  }

  #isVolumeFull(time: Timestamp): boolean {
    const limit = this.#rules.volumeLimit
    if (limit === undefined || this.#inVolume === 0) return false
    switch (limit.kind) {
      case 'samples':
        return this.#inVolume >= limit.count
      case 'bytes':
        return this.#writer.volumeBytes >= limit.bytes
      case 'time':
        return (toSeconds(time) - toSeconds(this.#volumeStart!)) * 1000 >= limit.ms
    }
  }

  /** Moves the window to the day of a time that is beyond it; false when there is only one window. */
  #nextDay(time: Timestamp): boolean {
    if (!this.#rules.isDaily) return false
    while (compareTimes(time, this.#finish) > 0) {
      this.#start = addTimes(this.#start, DAY)
      this.#finish = addTimes(this.#finish, DAY)
    }
    for (const input of [...this.#open]) {
      if (compareTimes(input.record!.timestamp(), this.#start) < 0) input.seek(this.#start)
      if (input.record === undefined) this.#open.delete(input)
    }
    const last = this.#writer.lastTime
    if (last !== undefined && this.#open.size > 0) {
      this.#marks = []
      this.#mark(addTimes(last, MARK_DISTANCE))
    }
    return true
  }
}
