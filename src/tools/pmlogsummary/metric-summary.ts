/**
 * Sums over the values of one metric, by instance. Rules of pmlogsummary(1):
 *
 *     counter    each interval gives a rate; intervals that end after a mark or a decrease are excluded from the covered time
 *     instant    values are averaged, and weighted by the time until the next one; intervals that end after a mark are excluded
 *     discrete   like instant, but a value lasts until the next mark and until the window ends
 */
import { InstanceSlots, RecordValues } from '../../archive/record-values.ts'
import type { RecordView } from '../../archive/record-view.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../model/types.ts'
import { PM_TIME_SEC, unpackUnits } from '../../model/units.ts'
import { Columns, type FastLoop, fastLoop, NEVER } from './columns.ts'
import { Extremes } from './extremes.ts'
import { toSeconds } from './scan.ts'

/** Value at which counters of a type wrap. */
const WRAPS: { readonly [type: number]: number } = {
  [PM_TYPE_32]: 2 ** 32,
  [PM_TYPE_U32]: 2 ** 32,
  [PM_TYPE_64]: 2 ** 64,
  [PM_TYPE_U64]: 2 ** 64,
}

/** Results of one instance. Times are nanoseconds since the archive's start. */
export interface InstanceSummary {
  readonly inst: number
  readonly stochastic: number
  readonly time: number
  readonly sum: number
  readonly minimum: number
  readonly minimumTime: number
  readonly maximum: number
  readonly maximumTime: number
  readonly count: number
  /** Seconds covered by the time average. */
  readonly span: number
}

/** Options of a summary. */
export interface SummaryRules {
  /** A decreasing counter has wrapped. */
  readonly wraps: boolean
  /** Only time averages are needed. */
  readonly isBrief: boolean
  /** Counters of time keep their unit instead of becoming utilizations. */
  readonly keepsUnits: boolean
  /** Expected number of instances. */
  readonly room: number
}

/** Returns whether a type is numeric; other metrics have no summary. */
export function isNumeric(type: number): boolean {
  return type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE
}

/** Sums of one metric. */
export class MetricSummary {
  readonly desc: MetricDesc
  readonly instances: InstanceSlots
  readonly #values: RecordValues
  readonly #columns: Columns
  readonly #extremes: Extremes | undefined
  readonly #fast: FastLoop | undefined
  /** Seconds per unit of a time counter, whose rate has no unit. */
  readonly #scale: number
  /** Amount to add after a decrease; 0 if a decrease means a restart. */
  readonly #wrap: number

  constructor(desc: MetricDesc, { wraps, isBrief, keepsUnits, room }: SummaryRules) {
    this.desc = desc
    this.instances = new InstanceSlots(room, desc.indom === PM_INDOM_NULL)
    this.#values = new RecordValues(desc, this.instances, 'type')
    this.#columns = new Columns(room)
    this.#extremes = isBrief ? undefined : new Extremes()
    this.#fast = isBrief ? fastLoop(desc) : undefined
    this.#scale = keepsUnits ? 1 : counterScale(desc)
    this.#wrap = wraps ? (WRAPS[desc.type] ?? 0) : 0
  }

  /** Adds the values of value set `s`; `mark` is the time of the last mark. Returns false if a value is unreadable. */
  take(record: RecordView, s: number, time: number, mark: number): boolean {
    const columns = this.#columns
    const count = record.statuses[s]!
    const { together } = columns
    let from = 0
    if (
      this.#fast !== undefined &&
      together !== NEVER &&
      together > mark &&
      time > together &&
      count === columns.length
    ) {
      from = this.#fast(record, s, this.instances.insts, columns, toSeconds(time - together))
      if (from === count) {
        columns.together = time
        return true
      }
    }
    const fault = this.#values.read(record, s, count)
    // A 64-bit type without a value block has no defined value; the reference ignores it.
    if (fault !== undefined && fault !== 'wide') return false
    columns.separate(from, time)
    if (this.instances.length > columns.length) columns.extendTo(this.instances.length)
    if (this.desc.sem === PM_SEM_COUNTER) this.#takeCounters(from, count, time, mark)
    else this.#takeValues(from, count, time, mark)
    if (count === columns.length && this.#areTogether(time)) columns.together = time
    return true
  }

  #areTogether(time: number): boolean {
    const { time: times, length } = this.#columns
    for (let slot = 0; slot < length; slot++) if (times[slot] !== time) return false
    return true
  }

  /** Returns the rate of a counter that increased by `increment` in `seconds`. */
  rate(increment: number, seconds: number): number {
    return increment / (seconds * this.#scale)
  }

  /** Returns the increment of a counter; negative after a restart. */
  increment(last: number, value: number): number {
    return value < last ? value + this.#wrap - last : value - last
  }

  #takeCounters(from: number, count: number, time: number, mark: number): void {
    const { values, slots } = this.#values
    const { last, base, area, first, time: times } = this.#columns
    for (let i = from; i < count; i++) {
      const [value, slot] = [values[i]!, slots[i]!]
      const before = times[slot]!
      if (Number.isNaN(value) || (before !== NEVER && time <= before)) continue
      if (before === NEVER) {
        first[slot] = time
        base[slot] = value
        this.#extremes?.begin(slot, time)
      } else {
        const increment = this.increment(last[slot]!, value)
        const isLeftOut = increment < 0 || before <= mark
        if (isLeftOut) first[slot] = first[slot]! + time - before
        else this.#extremes?.addRate(slot, this.rate(increment, toSeconds(time - before)), time)
        if (isLeftOut || value < last[slot]!) {
          area[slot] = area[slot]! + last[slot]! - base[slot]! + (isLeftOut ? 0 : increment)
          base[slot] = value
        }
      }
      last[slot] = value
      times[slot] = time
    }
  }

  #takeValues(from: number, count: number, time: number, mark: number): void {
    const { values, slots } = this.#values
    const { last, area, first, time: times } = this.#columns
    for (let i = from; i < count; i++) {
      const [value, slot] = [values[i]!, slots[i]!]
      if (Number.isNaN(value)) continue
      const before = times[slot]!
      if (before === NEVER) first[slot] = time
      else if (before <= mark) first[slot] = first[slot]! + time - before
      else area[slot] = area[slot]! + last[slot]! * toSeconds(time - before)
      last[slot] = value
      times[slot] = time
      this.#extremes?.add(slot, value, time)
    }
  }

  /** Extends the last values of discrete metrics up to a mark or the end of the window. */
  extend(time: number): void {
    if (this.desc.sem !== PM_SEM_DISCRETE) return
    const columns = this.#columns
    columns.separate()
    for (let slot = 0; slot < columns.length; slot++) {
      const seconds = toSeconds(time - columns.time[slot]!)
      if (!(seconds >= 0)) continue
      columns.area[slot] = columns.area[slot]! + columns.last[slot]! * seconds
      columns.time[slot] = time
      this.#extremes?.repeat(slot, columns.last[slot]!)
    }
  }

  /** Returns the results of a slot; undefined if it had no numeric value. */
  summary(slot: number): InstanceSummary | undefined {
    const columns = this.#columns
    const time = slot < columns.length ? columns.timeOf(slot) : NEVER
    if (time === NEVER) return undefined
    const isCounter = this.desc.sem === PM_SEM_COUNTER
    const increments = isCounter ? columns.last[slot]! - columns.base[slot]! : 0
    const area = columns.area[slot]! + increments
    const span = toSeconds(time - columns.first[slot]!)
    const extremes = this.#extremes?.of(slot)
    return {
      inst: this.instances.insts[slot]!,
      stochastic: extremes?.average ?? Number.NaN,
      time: isCounter ? this.rate(area, span) : area / (span === 0 ? 1 : span),
      sum: isCounter ? area : (extremes?.sum ?? Number.NaN),
      minimum: extremes?.minimum ?? Number.NaN,
      minimumTime: extremes?.minimumTime ?? Number.NaN,
      maximum: extremes?.maximum ?? Number.NaN,
      maximumTime: extremes?.maximumTime ?? Number.NaN,
      count: extremes?.count ?? 0,
      span,
    }
  }
}

/** Returns the seconds per time unit of a counter; 1 without a time unit. */
function counterScale({ units }: MetricDesc): number {
  const { dimTime, scaleTime } = unpackUnits(units)
  if (dimTime === 0) return 1
  return scaleTime > PM_TIME_SEC ? 60 ** (PM_TIME_SEC - scaleTime) : 1000 ** (PM_TIME_SEC - scaleTime)
}
