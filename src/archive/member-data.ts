/** The data volumes of one archive as readers see them: where they end, and where to start looking for a time. docs/formats/archive.md §6, §8 */
import type { Timestamp } from '../base/timestamp.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { COMPRESSION_SUFFIXES } from './file-names.ts'
import { labelSize } from './label.ts'
import type { Member } from './member.ts'
import { RecordWindow, type WindowTarget } from './record-window.ts'
import { stampSize } from './stamp.ts'
import type { TemporalIndex } from './temporal-index.ts'
import { tearAt } from './torn.ts'
import { attempt } from './volume.ts'

/** Which way to read. */
export type Direction = 'forward' | 'backward'

/** Between two records of a member. */
export interface Place {
  /** Index in the member's list of volumes. */
  readonly volume: number
  /** Offset in that file. */
  readonly position: number
}

/** How many entries of a temporal index may be wrong before it is given up for one search. */
const MAX_TRIES = 8
/** Buffer to look for ends with. */
const BUFFER_BYTES = 1 << 16

/** What all readers of a member share. */
export class MemberData {
  readonly member: Member
  readonly #number: number
  readonly #targets: (WindowTarget | undefined)[] = []
  /** Where good records end in each volume, and how long the file was then. */
  readonly #ends: { readonly size: number; readonly position: number }[] = []
  #end: { readonly size: number; readonly time: Outcome<Timestamp> } | undefined
  #entries: readonly number[] | undefined

  /** `number` is the member's in its archive. */
  constructor(member: Member, number: number) {
    this.member = member
    this.#number = number
  }

  /** A volume, opened; undefined for one that readers skip, which may be opened later when it only had no record yet. */
  target(v: number): WindowTarget | undefined {
    const known = this.#targets[v]
    if (known !== undefined) return known
    const volume = this.member.volumes[v]!
    const opened = volume.tryOpen()
    if (opened === undefined) return undefined
    const target = {
      source: opened.source,
      path: volume.path,
      version: opened.label.version,
      volume: volume.number,
      member: this.#number,
      start: labelSize(opened.label.version),
    }
    this.#targets[v] = target
    return target
  }

  /**
   * Time of the last record that can be read, all damage behind it ignored; as long as its file does not grow it is looked for only
   * once. PM_ERR_LOGREC when there is none. @see pmGetArchiveEnd(3)
   */
  end(): Outcome<Timestamp> {
    const last = this.member.volumes.length - 1
    const size = this.target(last)?.source.size ?? 0
    if (this.#end?.size !== size) this.#end = { size, time: this.#findEnd(last) }
    return this.#end.time
  }

  /** Time of the last entry of the index: the end, of an archive that was closed in order. */
  indexedEnd(): Timestamp | undefined {
    const { index } = this.member
    const last = (index?.length ?? 0) - 1
    return last < 0 ? undefined : { sec: index!.sec[last]!, nsec: index!.nsec[last]! }
  }

  /** As `end` where that is cheap, and where the archive may grow: it is not compressed. */
  liveEnd(): Timestamp | undefined {
    const { path } = this.member.volumes[this.member.volumes.length - 1]!
    if (COMPRESSION_SUFFIXES.some((suffix) => path.endsWith(suffix))) return undefined
    const end = this.end()
    return isError(end) ? undefined : end
  }

  #findEnd(last: number): Outcome<Timestamp> {
    const window = new RecordWindow(true, BUFFER_BYTES)
    for (let v = last; v >= 0; v--) {
      const target = this.target(v)
      if (target !== undefined && this.#toGoodEnd(v, target, window)) return window.timestamp()
    }
    return new PcpError('PM_ERR_LOGREC', `${this.member.base}: no record can be read, so it has no end`)
  }

  /** Where the good records of a volume end: its size, unless the last record is incomplete. */
  goodEnd(v: number, target: WindowTarget): number {
    const known = this.#ends[v]
    if (known?.size !== target.source.size) this.#toGoodEnd(v, target, new RecordWindow(true, BUFFER_BYTES))
    return this.#ends[v]!.position
  }

  /** Brings a window to the last good record of a volume and remembers where it ends; false when there is none. */
  #toGoodEnd(v: number, target: WindowTarget, window: RecordWindow): boolean {
    window.attach(target)
    const { size } = target.source
    let position = this.#ends[v]?.size === size ? this.#ends[v]!.position : size
    let isGood = window.loadBefore(position) === 'record'
    if (!isGood) {
      position = this.#lastBoundary(v, target, window)
      while (window.load(position) === 'record') position += window.length
      isGood = window.loadBefore(position) === 'record'
    }
    this.#ends[v] = { size, position }
    return isGood
  }

  /**
   * Returns whether a power cut explains the damaged record at `position`; the volume then ends there. An impossible length is other
   * damage if the index has a record behind it.
   */
  isTorn(v: number, target: WindowTarget, position: number): boolean {
    const tear = attempt(target.path, () => tearAt(target.source, position, stampSize(target.version) + 12))
    if (tear !== 'cut') return tear !== undefined
    const { index, volumes } = this.member
    const window = new RecordWindow(false, BUFFER_BYTES, true)
    window.attach(target)
    for (let i = (index?.length ?? 0) - 1; i >= 0; i--) {
      const offset = index!.offset[i]!
      if (index!.volume[i] !== volumes[v]!.number || offset <= position || offset >= target.source.size)
        continue
      if (window.load(offset) === 'record') return false
    }
    return true
  }

  /** Returns the first tear of a volume before `position`. */
  tearBefore(v: number, target: WindowTarget, position: number): number | undefined {
    const window = new RecordWindow(true, BUFFER_BYTES)
    window.attach(target)
    let at = this.#lastBoundary(v, target, window, position)
    while (at < position && window.load(at) === 'record') at += window.length
    return at < position && this.isTorn(v, target, at) ? at : undefined
  }

  /** The last place that the index knows to be between two records. */
  #lastBoundary(
    v: number,
    target: WindowTarget,
    window: RecordWindow,
    before: number = target.source.size + 1,
  ): number {
    const { index, volumes } = this.member
    const number = volumes[v]!.number
    for (let i = (index?.length ?? 0) - 1; i >= 0; i--) {
      const position = index!.offset[i]!
      if (index!.volume[i] !== number || position >= before) continue
      if (position > target.start && window.loadBefore(position) === 'record') return position
    }
    return target.start
  }

  /**
   * A place to look for a time from, as the index has it. Forward: no record before it is as late as `time`. Backward: no record
   * behind it is as early. Undefined when the index does not help, or does not agree with the records.
   */
  anchor({ sec, nsec }: Timestamp, direction: Direction, window: RecordWindow): Place | undefined {
    const { index } = this.member
    if (index === undefined) return undefined
    const entries = this.#usable(index)
    // Entries before `low` are earlier than the time (forward), or not later than it (backward).
    let low = 0
    let high = entries.length
    while (low < high) {
      const mid = (low + high) >> 1
      const order = index.sec[entries[mid]!]! - sec || index.nsec[entries[mid]!]! - nsec
      if (order < 0 || (order === 0 && direction === 'backward')) low = mid + 1
      else high = mid
    }
    const step = direction === 'forward' ? -1 : 1
    let tries = MAX_TRIES
    for (let i = direction === 'forward' ? low - 1 : low; i >= 0 && i < entries.length; i += step) {
      const place = this.#checked(index, entries[i]!, window)
      if (place !== undefined) return place
      if (--tries === 0) return undefined
    }
    return undefined
  }

  /** Entries of volumes that are there; none at all when they are not in order. */
  #usable(index: TemporalIndex): readonly number[] {
    if (this.#entries !== undefined) return this.#entries
    const numbers = new Set(this.member.volumes.map(({ number }) => number))
    const entries: number[] = []
    for (let i = 0; i < index.length; i++) if (numbers.has(index.volume[i]!)) entries.push(i)
    const isOrdered = entries.every((e, i) => i === 0 || isInOrder(index, entries[i - 1]!, e))
    this.#entries = isOrdered ? entries : []
    return this.#entries
  }

  /** The place of an entry, when the records on both sides of it agree with it. */
  #checked(index: TemporalIndex, entry: number, window: RecordWindow): Place | undefined {
    const volume = this.member.volumes.findIndex(({ number }) => number === index.volume[entry])
    const target = this.target(volume)
    const position = index.offset[entry]!
    if (target === undefined || position < target.start || position > target.source.size) return undefined
    window.attach(target)
    const order = (): number => window.sec - index.sec[entry]! || window.nsec - index.nsec[entry]!
    const before = window.loadBefore(position)
    if (before === 'damage' || (before === 'record' && order() > 0)) return undefined
    const isLastsTime = before === 'record' && order() === 0
    const behind = window.load(position)
    if (behind === 'damage' || (behind === 'record' && order() < 0)) return undefined
    const isFirstsTime = behind === 'record' && order() === 0
    // Other volumes are not opened for this: the one record at an end of this one has to agree exactly.
    if (before === 'end' && volume > 0 && !isFirstsTime) return undefined
    if (behind === 'end' && volume + 1 < this.member.volumes.length && !isLastsTime) return undefined
    return { volume, position }
  }
}

function isInOrder(index: TemporalIndex, a: number, b: number): boolean {
  const time = index.sec[a]! - index.sec[b]! || index.nsec[a]! - index.nsec[b]!
  const place = index.volume[a]! - index.volume[b]! || index.offset[a]! - index.offset[b]!
  return time <= 0 && place <= 0
}
