/** The data volumes of one archive: their ends, and where to start a search. docs/formats/archive.md §6, §8 */
import type { FilePart } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { compareTimes } from '../time/arithmetic.ts'
import { COMPRESSION_SUFFIXES } from './file-names.ts'
import { labelSize } from './label.ts'
import type { Member } from './member.ts'
import { RecordWindow, type WindowTarget } from './record-window.ts'
import { markSize, stampSize } from './stamp.ts'
import type { TemporalIndex } from './temporal-index.ts'
import { tearAt } from './torn.ts'
import { attempt } from './volume.ts'

export type Direction = 'forward' | 'backward'

/** A position between two records of a member. */
export interface RecordPosition {
  /** Index in the member's list of volumes. */
  readonly volume: number
  /** Offset in that file. */
  readonly position: number
}

/** An entry of the index beside a time, and about how many bytes from it in which direction the records of that time are. */
export interface NearEntry extends RecordPosition {
  readonly direction: Direction
  readonly distance: number
}

/** Wrong entries of a temporal index after which one search ignores it. */
const MAX_TRIES = 8
/** Bytes that a search reads before and after an entry of the index, to check it. */
export const SEARCH_BYTES: number = 1 << 16
/** Buffer size for finding ends. */
const BUFFER_BYTES = 1 << 16

/** Bytes and seconds by which reading passes the place of a time between two entries. */
const [NEAR_BYTES, NEAR_SEC] = [1 << 12, 15]

/** Least seconds, and least ratio to the usual seconds a byte, of a jump in time. */
const [LEAST_JUMP_SEC, JUMP_RATIO] = [60, 1.5]

/** State that all readers of a member share. */
export class MemberData {
  readonly member: Member
  readonly #number: number
  readonly #targets: (WindowTarget | undefined)[] = []
  /** End of good records in each volume, and the file size then. */
  readonly #ends: { readonly size: number; readonly position: number }[] = []
  #end: { readonly size: number; readonly time: Outcome<Timestamp> } | undefined
  #entries: readonly number[] | undefined
  #jumps: { readonly length: number; readonly times: readonly Timestamp[] } | undefined

  /** `number` is the member's index in its archive. */
  constructor(member: Member, number: number) {
    this.member = member
    this.#number = number
  }

  /** Returns a volume, opened again if it was closed; undefined if readers skip it. A volume without a record may be opened later. */
  target(v: number): WindowTarget | undefined {
    const volume = this.member.volumes[v]!
    const opened = volume.tryOpen()
    if (opened === undefined) return undefined
    const known = this.#targets[v]
    if (known?.source === opened.source) return known
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
   * Returns the time of the last readable record, ignoring damage after it; cached until the file grows.
   * PM_ERR_LOGREC if no record is readable. @see pmGetArchiveEnd(3)
   */
  end(): Outcome<Timestamp> {
    const last = this.member.volumes.length - 1
    const size = this.target(last)?.source.size ?? 0
    if (this.#end?.size !== size) this.#end = { size, time: this.#findEnd(last) }
    return this.#end.time
  }

  /** Returns the time of the last index entry: the end, if the archive was closed properly. */
  indexedEnd(): Timestamp | undefined {
    const { index } = this.member
    const last = (index?.length ?? 0) - 1
    return last < 0 ? undefined : { sec: index!.sec[last]!, nsec: index!.nsec[last]! }
  }

  /** As `end` for archives that may grow, that is, uncompressed ones, for which it is cheap. */
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
    return new PcpError('PM_ERR_LOGREC', `${this.member.base}: no record is readable`)
  }

  /** Returns the end of good records in a volume: its size, unless the last record is incomplete. */
  goodEnd(v: number, target: WindowTarget): number {
    const known = this.#ends[v]
    if (known?.size !== target.source.size) this.#toGoodEnd(v, target, new RecordWindow(true, BUFFER_BYTES))
    return this.#ends[v]!.position
  }

  /** Moves a window to the last good record of a volume and caches its end; returns false if no record is good. */
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
   * Returns whether a power cut explains the damaged record at `position`; the volume then ends there. An impossible length does not
   * count if the index has a later record.
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

  /** Returns the last record boundary in the index. */
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
   * Returns a position to search for a time from, according to the index. Forward: no record before it is as late as `time`. Backward: no
   * record after it is as early. Undefined if the index has none or contradicts the records.
   */
  anchor(time: Timestamp, direction: Direction, window: RecordWindow): RecordPosition | undefined {
    const { index } = this.member
    if (index === undefined) return undefined
    const entries = this.#usable(index)
    const low = countBefore(index, entries, time, direction)
    const step = direction === 'forward' ? -1 : 1
    let tries = MAX_TRIES
    for (let i = direction === 'forward' ? low - 1 : low; i >= 0 && i < entries.length; i += step) {
      const place = this.#checked(index, entries[i]!, window)
      if (place !== undefined) return place
      if (--tries === 0) return undefined
    }
    return undefined
  }

  /**
   * Returns the parts of the volumes that a search for `from` and reading on until a record after `to` need, according to the index. Empty
   * without a usable index.
   */
  partsOf(from: Timestamp, to: Timestamp): FilePart[] {
    const { index, volumes } = this.member
    const entries = index === undefined ? [] : this.#usable(index)
    if (index === undefined || entries.length === 0) return []
    const first = entries[countBefore(index, entries, from, 'forward') - 1]
    const last = entries[countBefore(index, entries, to, 'backward')]
    return volumes.flatMap(({ number, path }) => {
      if (first !== undefined && number < index.volume[first]!) return []
      if (last !== undefined && number > index.volume[last]!) return []
      const start = number === index.volume[first ?? -1] ? index.offset[first!]! - SEARCH_BYTES : 0
      const end = number === index.volume[last ?? -1] ? index.offset[last!]! : Number.POSITIVE_INFINITY
      const offset = Math.max(0, start)
      const label = { path, offset: 0, length: 1 }
      return [...(offset > 0 ? [label] : []), { path, offset, length: end - offset }]
    })
  }

  /**
   * Returns the times of those entries of the index after which recording was interrupted: those at a mark, as `indexesMarks` of a writer
   * makes them, and those with more time until the next entry than its bytes usually take, a minute or longer. At most `most`, newest first,
   * all at or before `time`.
   */
  jumpsBefore(time: Timestamp, most: number): Timestamp[] {
    const jumps = this.#allJumps()
    const end = jumps.findLastIndex((at) => compareTimes(at, time) <= 0) + 1
    return jumps.slice(Math.max(0, end - most), end).reverse()
  }

  /** Returns all of them in ascending order; cached until the index grows. */
  #allJumps(): readonly Timestamp[] {
    const { index } = this.member
    if (index === undefined) return []
    if (this.#jumps?.length !== index.length)
      this.#jumps = { length: index.length, times: this.#findJumps(index) }
    return this.#jumps.times
  }

  #findJumps(index: TemporalIndex): Timestamp[] {
    const entries = this.#usable(index)
    const mark = markSize(this.member.label.version)
    const steps: { readonly at: Timestamp; readonly seconds: number; readonly bytes: number }[] = []
    for (let i = 1; i < entries.length; i++) {
      const [a, b] = [entries[i - 1]!, entries[i]!]
      const bytes = index.offset[b]! - index.offset[a]!
      if (index.volume[a] !== index.volume[b] || bytes <= 0) continue
      const seconds = index.sec[b]! - index.sec[a]!
      steps.push({ at: { sec: index.sec[a]!, nsec: index.nsec[a]! }, seconds, bytes })
    }
    const rates = steps.filter(({ bytes }) => bytes !== mark).map(({ seconds, bytes }) => seconds / bytes)
    const usual = rates.sort((a, b) => a - b)[rates.length >> 1] ?? 0
    const isJump = (seconds: number, bytes: number): boolean =>
      seconds >= LEAST_JUMP_SEC && seconds > JUMP_RATIO * usual * bytes
    return steps.filter(({ seconds, bytes }) => bytes === mark || isJump(seconds, bytes)).map(({ at }) => at)
  }

  /** Returns the nearer one of the entries beside a time, in its volume if they are in two; undefined without an index. */
  nearEntry(time: Timestamp): NearEntry | undefined {
    const { index, volumes } = this.member
    if (index === undefined) return undefined
    const entries = this.#usable(index)
    const next = countBefore(index, entries, time, 'forward')
    const [a, b] = [entries[next - 1], entries[next]]
    const placeOf = (entry: number, direction: Direction, bytes: number): NearEntry => ({
      volume: volumes.findIndex(({ number }) => number === index.volume[entry]),
      position: index.offset[entry]!,
      direction,
      distance: Math.ceil(bytes) + NEAR_BYTES,
    })
    if (a === undefined) return b === undefined ? undefined : placeOf(b, 'backward', NEAR_BYTES)
    if (b === undefined || index.volume[a] !== index.volume[b]) return placeOf(a, 'forward', NEAR_BYTES)
    const [bytes, seconds] = [index.offset[b]! - index.offset[a]!, index.sec[b]! - index.sec[a]!]
    const share = seconds > 0 ? (time.sec - index.sec[a]!) / seconds : 0
    // Reading ends with the first record beyond the time.
    const beyond = (NEAR_SEC * bytes) / Math.max(seconds, NEAR_SEC)
    return share < 0.5
      ? placeOf(a, 'forward', bytes * share + beyond)
      : placeOf(b, 'backward', bytes * (1 - share) + beyond)
  }

  /** Returns the entries of existing volumes; none if they are not in order. */
  #usable(index: TemporalIndex): readonly number[] {
    if (this.#entries !== undefined) return this.#entries
    const numbers = new Set(this.member.volumes.map(({ number }) => number))
    const entries: number[] = []
    for (let i = 0; i < index.length; i++) if (numbers.has(index.volume[i]!)) entries.push(i)
    const isOrdered = entries.every((e, i) => i === 0 || isInOrder(index, entries[i - 1]!, e))
    this.#entries = isOrdered ? entries : []
    return this.#entries
  }

  /** Returns the position of an entry if the records on both sides agree with it. */
  #checked(index: TemporalIndex, entry: number, window: RecordWindow): RecordPosition | undefined {
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
    // Other volumes are not opened for this, so the single neighbouring record has to agree exactly.
    if (before === 'end' && volume > 0 && !isFirstsTime) return undefined
    if (behind === 'end' && volume + 1 < this.member.volumes.length && !isLastsTime) return undefined
    return { volume, position }
  }
}

/** Returns the number of entries before a time, in direction `backward` also of those at it. */
function countBefore(
  index: TemporalIndex,
  entries: readonly number[],
  { sec, nsec }: Timestamp,
  direction: Direction,
): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const mid = (low + high) >> 1
    const order = index.sec[entries[mid]!]! - sec || index.nsec[entries[mid]!]! - nsec
    if (order < 0 || (order === 0 && direction === 'backward')) low = mid + 1
    else high = mid
  }
  return low
}

function isInOrder(index: TemporalIndex, a: number, b: number): boolean {
  const time = index.sec[a]! - index.sec[b]! || index.nsec[a]! - index.nsec[b]!
  const place = index.volume[a]! - index.volume[b]! || index.offset[a]! - index.offset[b]!
  return time <= 0 && place <= 0
}
