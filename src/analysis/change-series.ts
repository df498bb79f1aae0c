/** Values of one instance in both windows, as means by bucket; counters become rates. */
import type { ValueSink } from '../archive/scan.ts'
import type { MetricDesc } from '../model/desc.ts'
import { counterDelta, rateUnits } from '../model/rate.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE } from '../model/types.ts'
import type { ChangeGrid } from './change-grid.ts'

/** A metric to examine. */
export interface ChangeMetric {
  readonly name: string
  readonly desc: MetricDesc
}

/** Part of the span that a single interval of a counter may cover; its mean hides what happened within. */
const LONGEST_INTERVAL = 1 / 3

/** Collects the values of an instance in time order, in constant memory. */
export class ChangeSeries implements ValueSink {
  readonly metric: ChangeMetric
  readonly inst: number
  readonly isRate: boolean
  /** Sums and numbers of values by bucket. */
  readonly sums: Float64Array
  readonly counts: Uint32Array
  /** Seconds between values, as their mean; NaN before the second value. */
  get interval(): number {
    return this.#seconds / this.#steps
  }
  /** First and last value of a discrete metric, and the time of its last change; NaN for none. */
  first: number = Number.NaN
  last: number = Number.NaN
  changedAt: number = Number.NaN
  readonly #grid: ChangeGrid
  readonly #factor: number
  readonly #isDiscrete: boolean
  #seconds = 0
  #steps = 0
  #time = Number.NaN
  #value = Number.NaN

  constructor(metric: ChangeMetric, inst: number, grid: ChangeGrid) {
    const { sem, units } = metric.desc
    this.metric = metric
    this.inst = inst
    this.#grid = grid
    this.isRate = sem === PM_SEM_COUNTER
    this.#isDiscrete = sem === PM_SEM_DISCRETE
    this.#factor = this.isRate ? rateUnits(units).factor : 1
    this.sums = new Float64Array(grid.count)
    this.counts = new Uint32Array(grid.count)
  }

  /** Takes a value; ignores values that are not later than the previous one. */
  add(time: number, value: number): void {
    const seconds = time - this.#time
    if (seconds <= 0 || Number.isNaN(value)) return
    const before = this.#value
    this.#time = time
    this.#value = value
    if (this.#isDiscrete) {
      this.#note(time, value)
      return
    }
    if (seconds > 0) {
      this.#seconds += seconds
      this.#steps++
    }
    if (!this.isRate) this.#put(time, value)
    else if (seconds > 0) this.#putRate(time, seconds, counterDelta(before, value))
  }

  /** Marks an interruption of recording. */
  mark(): void {
    this.#time = Number.NaN
  }

  /**
   * A decrease is a wrap or a reset; values alone cannot distinguish them, so that interval has no rate. A rate belongs to the middle of
   * its interval, which may lie in the other window.
   */
  #putRate(time: number, seconds: number, growth: number | undefined): void {
    const { start, finish } = this.#grid.span
    if (growth === undefined || seconds > Math.max(this.#grid.width, (finish - start) * LONGEST_INTERVAL))
      return
    this.#put(time - seconds / 2, (growth / seconds) * this.#factor)
  }

  #put(time: number, value: number): void {
    const bucket = this.#grid.bucketOf(time)
    if (bucket < 0) return
    this.sums[bucket]! += value
    this.counts[bucket]!++
  }

  #note(time: number, value: number): void {
    const { before, span } = this.#grid
    if (time < before.start || time > span.finish) return
    if (Number.isNaN(this.first)) this.first = value
    // A change before the span is not one of the span.
    if (time < span.start) this.first = value
    else if (value !== this.last && value !== this.first) this.changedAt = time
    this.last = value
  }
}
