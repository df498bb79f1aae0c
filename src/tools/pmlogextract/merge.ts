/** Merges inputs by time into one output. pmlogextract(1) */
import { MetadataCopy, WrittenMetadata } from '../../archive/transfer/metadata-copy.ts'
import { type InstanceSelection, RecordCopy } from '../../archive/transfer/record-copy.ts'
import type { ArchiveWriter } from '../../archive/write/writer.ts'
import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import type { Pmid } from '../../model/ids.ts'
import type { SizeLimit } from '../../pmlogger/sizes.ts'
import { addTimes, compareTimes } from '../../time/arithmetic.ts'
import type { Input } from './input.ts'

/** Options of a merge. */
export interface MergeRules {
  readonly start: Timestamp
  readonly finish: Timestamp
  /** Repeat the window on each following day. */
  readonly isDaily: boolean
  /** Maximum number of records. */
  readonly samples: number
  readonly isMarked: boolean
  readonly volumeLimit: SizeLimit | undefined
  readonly wants: (pmid: Pmid) => InstanceSelection
  /** All wanted metrics, if they are few enough for sparse reading. */
  readonly few: ReadonlySet<Pmid> | undefined
  /** Called for each volume begun because of `volumeLimit`, before its first record. */
  readonly onVolume: (volume: number, at: Timestamp) => void
}

/** Bytes per step, so that signals are handled in between. */
const TURN_BYTES = 16 << 20
const DAY: Timestamp = { sec: 86400, nsec: 0 }
const MARK_DISTANCE: Timestamp = { sec: 0, nsec: 1_000_000 }

/** A merge in progress; call `step` until it returns false. */
export class Merge {
  /** Records written so far, including marks. */
  written = 0
  readonly #inputs: readonly Input[]
  readonly #writer: ArchiveWriter
  readonly #rules: MergeRules
  readonly #copy: RecordCopy
  readonly #metadata = new Map<Input, MetadataCopy>()
  readonly #open: Set<Input>
  #start: Timestamp
  #finish: Timestamp
  /** End times of inputs; a mark is written there before the next record. */
  #marks: Timestamp[] = []
  /** Number of records in this volume, and the time of its first. */
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

  /** Total bytes to read, approximately. */
  get bytes(): number {
    return this.#inputs.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Bytes read so far. */
  get bytesRead(): number {
    return this.#inputs.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
  }

  /** Writes for a while; returns false when everything is written. */
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

  /** Handles the end of an input: a mark follows, unless the next input continues it or it was the last one. */
  #ended(input: Input): void {
    this.#open.delete(input)
    const next = this.#earliest()
    if (next === undefined || input.last === undefined) return
    if (!this.#rules.isMarked && input.isContinuedBy(next)) return
    this.#marks.push(addTimes(input.last, MARK_DISTANCE))
  }

  /** Writes marks up to a time if records precede them; later marks stay pending. */
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
      if (this.written > 0) this.#mark(time) // no mark before the first record
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
    this.#metadata.get(input)!.before(record, this.#copy, this.#writer, () => this.#others(input, time))
    this.#writer.record(time, bytes)
    this.#count(time)
  }

  /** Returns the metadata of the other inputs that have records before and after this time, or at it. */
  #others(input: Input, time: Timestamp): readonly MetadataCopy[] {
    return [...this.#open]
      .filter((other) => other !== input && compareTimes(other.last ?? other.record!.timestamp(), time) <= 0)
      .map((other) => this.#metadata.get(other)!)
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

  /** Moves the window to the day of a later time; returns false if the window does not repeat. */
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
