/** A position in an archive that steps through its records, across volumes and members. docs/formats/archive.md §7 */
import { bytesSource } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { isError, PcpError } from '../model/errors.ts'
import { addTimes, compareTimes, laterOf, subtractTimes } from '../time/arithmetic.ts'
import type { Archive } from './archive.ts'
import { type Direction, SEARCH_BYTES } from './member-data.ts'
import type { RecordView } from './record-view.ts'
import { RecordWindow } from './record-window.ts'
import { writeStamp } from './stamp.ts'

/** Options of a reader. */
export interface ReaderOptions {
  /** Checks value sets and blocks of each record (default). If false, only its frame, and its sets by `index()`. */
  readonly checkValues?: boolean
  /**
   * Without `checkValues`: reads only those parts of large records that `find` and `blockAt` need. `bytes` is then incomplete
   * until `toSet` or `toResult` reads the rest.
   */
  readonly sparse?: boolean
  /** Reports a record torn by a power cut as damage, as PCP does; by default its volume ends there. */
  readonly reportsTears?: boolean
  /** Buffer size; default 1 MB. Grows for larger records. */
  readonly bufferBytes?: number
}

const BUFFER_BYTES = 1 << 20
/** Distance of the mark between two members from the records beside it. */
const MARK_DISTANCE: Timestamp = { sec: 0, nsec: 1_000_000 }

/** Positions at the start and the end of a volume that has not been opened. */
const START = -1
const END = Number.POSITIVE_INFINITY

/**
 * Reads records one by one in file order, including marks, and adds marks between members. The position is between two records,
 * initially before the first. Any number of readers may share an archive.
 */
export class RecordReader {
  readonly #archive: Archive
  readonly #window: RecordWindow
  readonly #reportsTears: boolean
  #seekWindow: RecordWindow | undefined
  #member = 0
  /** Index in the member's list of volumes. */
  #volume = 0
  #position = START
  /** Up to this time, records are read from earlier members. */
  #floor: Timestamp | undefined
  /** Members that were abandoned or overlap with earlier ones; each is reported once. */
  readonly #reported = new Set<number>()

  /** The archive must stay open while it is read. */
  constructor(archive: Archive, options: ReaderOptions = {}) {
    this.#archive = archive
    const { checkValues = true, bufferBytes = BUFFER_BYTES, sparse = false, reportsTears = false } = options
    this.#reportsTears = reportsTears || archive.stopsAtDamage
    this.#window = new RecordWindow(checkValues, bufferBytes, sparse)
  }

  /** Moves before the first record. */
  rewind(): void {
    this.#enter(0, 0, START)
  }

  /** Moves after the last record. */
  toEnd(): void {
    const member = this.#archive.data.length - 1
    this.#enter(member, this.#lastVolume(member), END)
  }

  /**
   * Forward: makes `next` return the first record at or after `time`. Backward: makes `previous` return the last record at or
   * before `time`. The next step reports any damage on the way.
   */
  seek(time: Timestamp, direction: Direction): void {
    this.#seekWindow ??= new RecordWindow(false, SEARCH_BYTES, true)
    const isForward = direction === 'forward'
    this.#approach(time, direction, this.#seekWindow)
    for (;;) {
      const [member, volume, position] = [this.#member, this.#volume, this.#position]
      if (this.#passes(time, isForward, this.#seekWindow)) continue
      this.#enter(member, volume, position)
      return
    }
  }

  /** Steps over a record if it is on this side of `time`; otherwise the caller has to step back. */
  #passes(time: Timestamp, isForward: boolean, window: RecordWindow): boolean {
    try {
      const record = isForward ? this.#forward(window) : this.#backward(window)
      if (record === undefined) return false
      const order = record.sec - time.sec || record.nsec - time.nsec
      return isForward ? order < 0 : order > 0
    } catch (error) {
      if (error instanceof PcpError) return false
      throw error
    }
  }

  /** Moves to a position from which steps in `direction` reach `time`. */
  #approach(time: Timestamp, direction: Direction, window: RecordWindow): void {
    const { data } = this.#archive
    const isForward = direction === 'forward'
    let member = 0
    for (let m = 1; m < data.length; m++) {
      const order = compareTimes(data[m]!.member.label.start, time)
      if (isForward ? order < 0 : order <= 0) member = m
    }
    while (member > 0 && isWithin(time, this.#archive.floorOf(member))) member--
    const place = data[member]!.anchor(time, direction, window)
    if (place !== undefined) this.#enter(member, place.volume, place.position)
    else if (isForward) this.#enter(member, 0, START)
    else if (member + 1 < data.length) this.#enter(member + 1, 0, START)
    else this.#enter(member, this.#lastVolume(member), END)
  }

  /**
   * Returns the next record and steps over it; undefined at the end, where a later call finds appended records. In a single archive
   * each call throws PM_ERR_LOGREC for a damaged record; of several archives the rest of the damaged one is skipped with a warning, and so
   * are records of a member from the time of earlier members.
   */
  next(): RecordView | undefined {
    return this.#forward(this.#window)
  }

  /** Returns the record before the position and steps back over it; undefined at the start. Errors as `next`. */
  previous(): RecordView | undefined {
    return this.#backward(this.#window)
  }

  #forward(window: RecordWindow): RecordView | undefined {
    for (;;) {
      const data = this.#archive.data[this.#member]!
      const target = data.target(this.#volume)
      if (target !== undefined) {
        window.attach(target)
        if (this.#position === START) this.#position = target.start
        else if (this.#position === END) this.#position = data.goodEnd(this.#volume, target)
        const found = window.load(this.#position)
        if (found === 'record') {
          this.#position += window.length
          if (isWithin(window, this.#floor)) continue
          return window
        }
        if (
          found === 'damage' &&
          (this.#reportsTears || !data.isTorn(this.#volume, target, this.#position))
        ) {
          this.#giveUp(window)
          const last =
            window.loadBefore(this.#position) === 'record' ? window.timestamp() : data.member.label.start
          return this.#crossForward(last)
        }
      }
      if (this.#volume < this.#lastVolume(this.#member)) this.#enter(this.#member, this.#volume + 1, START)
      else {
        const end = this.#member + 1 < this.#archive.data.length ? data.end() : data.member.label.start
        return this.#crossForward(isError(end) ? data.member.label.start : end)
      }
    }
  }

  #backward(window: RecordWindow): RecordView | undefined {
    let isGivenUp = false
    for (;;) {
      const data = this.#archive.data[this.#member]!
      const target = data.target(this.#volume)
      if (target !== undefined && this.#position !== START) {
        window.attach(target)
        if (this.#position === END) this.#position = data.goodEnd(this.#volume, target)
        const found = window.loadBefore(this.#position)
        if (found === 'record' && isWithin(window, this.#floor)) return this.#crossBackward()
        if (found === 'record') {
          this.#position = window.position
          return window
        }
        if (found === 'damage') {
          const tear = data.tearBefore(this.#volume, target, this.#position)
          if (tear !== undefined) {
            this.#position = tear
            continue
          }
          this.#giveUp(window)
          isGivenUp = true
        }
      }
      if (this.#volume > 0 && !isGivenUp) this.#enter(this.#member, this.#volume - 1, END)
      else {
        this.#enter(this.#member, 0, START)
        return this.#member === 0 ? undefined : this.#crossBackward()
      }
    }
  }

  /** Reports damage: an error for a single archive, a warning for one of several unless the archive stops at damage. */
  #giveUp(window: RecordWindow): void {
    const damage = window.damage()
    if (this.#archive.data.length === 1 || this.#archive.stopsAtDamage) throw damage
    if (!this.#reported.has(this.#member)) this.#archive.warn(damage)
    this.#reported.add(this.#member)
  }

  /** Moves to the next member; returns the mark after the last record, which has this time. Undefined after the last member. */
  #crossForward(last: Timestamp): RecordView | undefined {
    const next = this.#archive.data[this.#member + 1]
    if (next === undefined) return undefined
    const end = laterOf(last, this.#floor ?? last)
    this.#enter(this.#member + 1, 0, START)
    if (compareTimes(end, next.member.label.start) > 0) {
      this.#floor = laterOf(end, this.#floor ?? end)
      this.#warnOfOverlap()
    }
    return mark(addTimes(end, MARK_DISTANCE))
  }

  /** Moves to the previous member; returns the mark before this one. */
  #crossBackward(): RecordView {
    const { start } = this.#archive.data[this.#member]!.member.label
    const floor = this.#floor
    if (floor !== undefined) this.#warnOfOverlap()
    this.#enter(this.#member - 1, this.#lastVolume(this.#member - 1), END)
    return mark(floor === undefined ? subtractTimes(start, MARK_DISTANCE) : addTimes(floor, MARK_DISTANCE))
  }

  #warnOfOverlap(): void {
    if (this.#reported.has(this.#member)) return
    this.#reported.add(this.#member)
    this.#archive.warn(overlap(this.#archive, this.#member))
  }

  #enter(member: number, volume: number, position: number): void {
    if (member !== this.#member) this.#floor = this.#archive.floorOf(member)
    this.#member = member
    this.#volume = volume
    this.#position = position
  }

  #lastVolume(member: number): number {
    return this.#archive.data[member]!.member.volumes.length - 1
  }
}

/** Returns whether a time is not after a floor. */
function isWithin({ sec, nsec }: Pick<Timestamp, 'sec' | 'nsec'>, floor: Timestamp | undefined): boolean {
  return floor !== undefined && (sec - floor.sec || nsec - floor.nsec) <= 0
}

function overlap(archive: Archive, member: number): PcpError {
  const [before, behind] = [archive.data[member - 1]!.member.base, archive.data[member]!.member.base]
  return new PcpError('PM_ERR_LOGOVERLAP', `${before} ends after ${behind} starts: they overlap in time`)
}

/** Returns a mark record that is in no file. */
function mark(time: Timestamp): RecordView {
  const bytes = new Uint8Array(24)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, 24)
  writeStamp(view, 4, time, 3)
  view.setInt32(20, 24)
  const window = new RecordWindow(true, 0)
  window.attach({ source: bytesSource(bytes), path: 'mark', version: 3, volume: -1, member: -1, start: 0 })
  window.load(0)
  window.position = -1
  return window
}
