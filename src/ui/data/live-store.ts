/** Live values of one host at one interval, as they arrive. */
import { IntervalEstimator } from '../../archive/chart-interval.ts'
import { elapsed } from '../time/seconds.ts'
import { RATE, rateOf } from '../view/measure.ts'
import type { Gap } from './gaps.ts'
import { firstAtOrAfter, type Line, ratesOf } from './line.ts'
import type { LiveListener, RowValues } from './live.ts'
import { isFailure, type MetricOutcome } from './responses.ts'

/** Samples kept of a metric, unless fewer are wanted. */
export const KEPT = 3600

/** Values kept of a metric. Its columns end with the newest row and may be shorter than the list of times. */
interface Kept {
  outcome: MetricOutcome
  names: readonly string[]
  ids: readonly number[]
  readonly byInst: Map<number, KeptInstance>
  /** Time of the first row in which the metric could have had a value. */
  since?: number
  /** Why the newest row has no values. */
  refusal?: string | undefined
  /** Times of rows that are not samples of this metric: its lines continue across them. */
  skips: Set<number>
  /** No live row has arrived for it; rows from before may. */
  isNew: boolean
}

interface KeptInstance {
  name: string | null
  readonly values: (number | null)[]
  /** Rows since the instance had a value. */
  missing: number
}

/** The times of some rows, and the gaps among them. */
interface Moments {
  /** Indexes of the rows among the newest ones, without the skipped ones; undefined for all. */
  readonly at: readonly number[] | undefined
  /** Times of the rows. */
  readonly rows: readonly number[]
  /** Times of the rows and one time within each gap. */
  readonly times: readonly number[]
  /** Indexes of the rows after a gap. */
  readonly gaps: readonly number[]
}

/** A row later than this many intervals and seconds means missed rows, e.g. because the page was frozen. */
const LATE_INTERVALS = 5
const LATE_SEC = 10

/**
 * A hastened row gives way to the next one if it follows the row before it sooner than this part of the interval: its rates are noise. New
 * metrics have no rate in it; as their first sample, it stays.
 */
const EARLY = 0.5
/** Rows of new metrics that may be so early: the server hastens two, and a tick may follow soon. */
const FIRST_ROWS = 3

/** Intervals after which the next sample is overdue. */
const PATIENCE = 3

/** Checks whether a value of this age, in seconds, is overdue. */
export function isOverdue(age: number, every: number): boolean {
  return age > PATIENCE * every
}

/** Instance id of the single value of a metric without instances. */
const ONLY = -1

/** Collects the rows of one subscription. */
export class LiveStore implements LiveListener {
  readonly #onChange: () => void
  /** Returns the number of samples that charts want of a metric. */
  readonly #wanted: (metric: string) => number
  readonly #byName = new Map<string, Kept>()
  #order: Kept[] = []
  #times: number[] = []
  #trouble: string | undefined
  /** Rows since the metrics changed. */
  #rows = 0
  /** Rows have been missed, so lines start anew. */
  #isBroken = false
  #holes: Gap[] = []
  readonly #lateSec: number
  readonly #every: number
  #pace: IntervalEstimator
  /** Times of rows after a few missed rows. Their rates are correct; lines have gaps there. */
  readonly #gapsBefore = new Set<number>()
  readonly #clock: () => number
  /** Arrival of the newest row, by the clock. */
  #heardAt: number | undefined

  /** Rows are expected `every` so many seconds; `clock` returns seconds. */
  constructor(wanted: (metric: string) => number, onChange: () => void, every = 1, clock = elapsed) {
    this.#every = every
    this.#clock = clock
    this.#wanted = wanted
    this.#onChange = onChange
    this.#pace = new IntervalEstimator(undefined, every)
    this.#lateSec = Math.max(LATE_SEC, LATE_INTERVALS * every)
  }

  /** Why there are no new values at present. */
  get problem(): string | undefined {
    return this.#trouble
  }

  /** Seconds between rows. */
  get every(): number {
    return this.#every
  }

  /** Seconds since the newest row arrived; undefined before the first one. */
  get quietSec(): number | undefined {
    return this.#heardAt === undefined ? undefined : this.#clock() - this.#heardAt
  }

  /** Can rows arrive? The server sends none if the host has none of the metrics. */
  get isExpecting(): boolean {
    return this.#order.length === 0 || this.#order.some(({ outcome }) => !isFailure(outcome))
  }

  /** Are rows overdue? */
  get isOverdue(): boolean {
    return this.isExpecting && isOverdue(this.quietSec ?? 0, this.#every)
  }

  /** Are there enough samples for rates? */
  get isRunning(): boolean {
    return this.#times.length > 1
  }

  /** Times of the first and last values. */
  get span(): { readonly start: number; readonly end: number } | undefined {
    const start = this.#times[0]
    return start === undefined ? undefined : { start, end: this.#times.at(-1)! }
  }

  /** Returns the time of a metric's oldest value, or of the first row without one; undefined before the first row. */
  startOf(metric: string): number | undefined {
    const kept = this.#byName.get(metric)
    if (kept === undefined) return undefined
    let most = 0
    for (const { values } of kept.byInst.values()) if (values.length > most) most = values.length
    return most === 0 ? kept.since : this.#times[Math.max(0, this.#times.length - most)]
  }

  /** The gaps where rows were missed. */
  get holes(): readonly Gap[] {
    return this.#holes
  }

  /** Returns the metadata of a metric or its error; undefined until the server has answered. */
  outcome(metric: string): MetricOutcome | undefined {
    const outcome = this.#byName.get(metric)?.outcome
    if (outcome === undefined || isFailure(outcome) || outcome.sem !== 'counter') return outcome
    return { ...outcome, sem: RATE, units: rateOf(outcome.units).units }
  }

  /** Returns why the newest row has no values of a metric; undefined if it has some, or for no known reason. */
  refusal(metric: string): string | undefined {
    return this.#byName.get(metric)?.refusal
  }

  topic(metrics: readonly MetricOutcome[]): void {
    this.#order = metrics.map((outcome) => {
      const known = this.#byName.get(outcome.name)
      if (known === undefined)
        return { outcome, names: [], ids: [], byInst: new Map(), skips: new Set(), isNew: true }
      known.outcome = outcome
      return known
    })
    this.#rows = 0
    this.#byName.clear()
    for (const kept of this.#order) this.#byName.set(kept.outcome.name, kept)
    this.#trouble = undefined
    this.#onChange()
  }

  instances(metric: number, ids: readonly number[], names: readonly string[]): void {
    const kept = this.#order[metric]
    if (kept === undefined) return
    kept.ids = ids
    kept.names = names
  }

  row(time: number, values: readonly RowValues[], isPast = false): void {
    const newest = this.#times.at(-1)
    if (isPast && newest !== undefined) {
      if (time <= newest) {
        this.#fill(time, values)
        return
      }
      if (time - newest <= this.#lateSec) this.#isBroken = false
    }
    if (this.#isEarly) this.#giveWay(newest!)
    this.#forgetFrom(time)
    const last = this.#times.at(-1)
    if (last !== undefined && (this.#isBroken || time - last > this.#lateSec)) {
      this.#addRow((last + time) / 2, [])
      this.#holes.push({ start: last, end: time })
      this.#pace.interrupt(time)
    }
    this.#isBroken = false
    if (this.#pace.next(time)) this.#gapsBefore.add(time)
    this.#heardAt = this.#clock()
    this.#addRow(time, values)
    this.#rows++
    this.#trouble = undefined
    this.#onChange()
  }

  /** Is the newest row only there until the next one? */
  get #isEarly(): boolean {
    const [before, newest] = this.#times.slice(-2)
    if (this.#rows > FIRST_ROWS || newest === undefined || this.#holes.at(-1)?.end === newest) return false
    return newest - before! < EARLY * this.#every
  }

  /** Discards the newest row. If it is the first sample of new metrics, only the others skip it. */
  #giveWay(newest: number): void {
    if (!this.#order.some(({ since }) => since === newest)) this.#forgetFrom(newest)
    else for (const { since, skips } of this.#order) if (since! < newest) skips.add(newest)
  }

  /** Gives a row from before to metrics that are back on the page. Others know it, from before the connection was lost. */
  #fill(time: number, values: readonly RowValues[]): void {
    const at = firstAtOrAfter(this.#times, time)
    if (this.#times[at] !== time) return
    const later = this.#times.length - 1 - at
    for (const [i, kept] of this.#order.entries()) {
      if (!kept.isNew) continue
      if (kept.since === undefined) {
        kept.since = time
        kept.skips = new Set(this.#times.slice(at))
      }
      kept.skips.delete(time)
      for (const [instance, value] of this.#instancesOf(kept, values[i])) {
        const { values: column } = instance
        if (column.length === 0) column.push(...new Array<null>(later + 1).fill(null))
        column[column.length - 1 - later] = value
        instance.missing = later
      }
    }
    this.#onChange()
  }

  #addRow(time: number, values: readonly RowValues[]): void {
    this.#times.push(time)
    if (this.#times.length > KEPT + KEPT / 4) {
      this.#times = this.#times.slice(-KEPT)
      this.#holes = this.#holes.filter(({ start }) => start >= this.#times[0]!)
      for (const gap of this.#gapsBefore) if (gap <= this.#times[0]!) this.#gapsBefore.delete(gap)
      for (const { skips } of this.#order)
        for (const skip of skips) if (skip < this.#times[0]!) skips.delete(skip)
    }
    for (const [i, kept] of this.#order.entries()) {
      kept.since ??= time
      kept.isNew = false
      const own = values[i]
      kept.refusal = typeof own === 'string' ? own : undefined
      this.#add(kept, own)
    }
  }

  /** Discards rows from `time` on, after a clock was set back; otherwise lines would run backwards. */
  #forgetFrom(time: number): void {
    let count = 0
    while (count < this.#times.length && this.#times.at(-1 - count)! >= time) count++
    if (count === 0) return
    this.#times = this.#times.slice(0, -count)
    this.#pace = new IntervalEstimator(undefined, this.#every)
    const newest = this.#times.at(-1)
    if (newest !== undefined) this.#pace.next(newest)
    for (const gap of this.#gapsBefore) if (gap >= time) this.#gapsBefore.delete(gap)
    for (const kept of this.#order) if (kept.since !== undefined && kept.since > time) kept.since = time
    this.#holes = this.#holes.filter(({ end }) => end < time)
    for (const { byInst, skips } of this.#order) {
      for (const skip of skips) if (skip >= time) skips.delete(skip)
      for (const [inst, instance] of byInst) {
        instance.values.splice(-count)
        instance.missing = Math.max(0, instance.missing - count)
        if (instance.values.length === 0) byInst.delete(inst)
      }
    }
  }

  /** Returns the instances in a row, with their values. */
  *#instancesOf(kept: Kept, values: RowValues | undefined): Iterable<readonly [KeptInstance, number | null]> {
    if (values == null || typeof values === 'string') return
    const isPlain = !isFailure(kept.outcome) && kept.outcome.indom === null
    for (const [i, value] of values.entries()) {
      const inst = isPlain ? ONLY : kept.ids[i]
      if (inst === undefined) break
      let instance = kept.byInst.get(inst)
      if (instance === undefined) {
        instance = { name: null, values: [], missing: 0 }
        kept.byInst.set(inst, instance)
      }
      if (!isPlain) instance.name = kept.names[i]!
      yield [instance, value]
    }
  }

  #add(kept: Kept, values: RowValues | undefined): void {
    const most = Math.min(this.#times.length, this.#wanted(kept.outcome.name))
    for (const instance of kept.byInst.values()) instance.missing++
    for (const [instance, value] of this.#instancesOf(kept, values)) {
      instance.values.push(value)
      instance.missing = 0
    }
    for (const [inst, { values: column, missing }] of kept.byInst) {
      if (missing > 0) column.push(null)
      if (missing >= most) kept.byInst.delete(inst)
      else if (column.length > most + most / 4 + 1) column.splice(0, column.length - most)
    }
  }

  trouble(message: string | undefined): void {
    this.#trouble = message
    if (message !== undefined) this.#isBroken = true
    this.#onChange()
  }

  /** Returns the lines of a metric, with counters as rates, in the order in which instances appeared. */
  lines(metric: string): Line[] {
    const kept = this.#byName.get(metric)
    if (kept === undefined || isFailure(kept.outcome)) return []
    const factor = kept.outcome.sem === 'counter' ? rateOf(kept.outcome.units).factor : undefined
    const byLength = new Map<number, Moments>()
    return Array.from(kept.byInst.values(), ({ name, values }) => {
      let moments = byLength.get(values.length)
      if (moments === undefined) {
        moments = this.#moments(values.length, kept.skips)
        byLength.set(values.length, moments)
      }
      const { at, rows, times, gaps } = moments
      const newest = values.length > this.#times.length ? values.slice(-this.#times.length) : values
      const own = at === undefined ? newest : at.map((index) => newest[index]!)
      const shown = factor === undefined ? own : ratesOf(rows, own, factor)
      return { instance: name, times, values: withGaps(shown, gaps, () => null) }
    })
  }

  /** Returns the times of the last `count` rows that are not skipped. */
  #moments(count: number, skips: ReadonlySet<number>): Moments {
    const newest = count >= this.#times.length ? this.#times : this.#times.slice(-count)
    const at = skips.size === 0 ? undefined : [...newest.keys()].filter((i) => !skips.has(newest[i]!))
    const rows = at === undefined ? newest : at.map((i) => newest[i]!)
    const gaps = [...this.#gapsBefore]
      .map((time) => firstAtOrAfter(rows, time))
      // The row after the gap may be skipped.
      .filter((i) => i > 0 && i < rows.length)
    return { at, rows, gaps, times: withGaps(rows, gaps, (i) => (rows[i - 1]! + rows[i]!) / 2) }
  }
}

/** Returns a list with an extra entry before each index in `gaps` (ascending). */
function withGaps<T>(list: readonly T[], gaps: readonly number[], gap: (at: number) => T): readonly T[] {
  if (gaps.length === 0) return list
  const parts: T[] = []
  let done = 0
  for (const at of gaps) {
    for (; done < at; done++) parts.push(list[done]!)
    parts.push(gap(at))
  }
  for (; done < list.length; done++) parts.push(list[done]!)
  return parts
}
