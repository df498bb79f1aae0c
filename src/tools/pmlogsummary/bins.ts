/** Distribution of each instance's values, counted in a second pass when the range is known. */
import { RecordValues } from '../../archive/record-values.ts'
import type { RecordView } from '../../archive/record-view.ts'
import { PM_SEM_COUNTER } from '../../model/types.ts'
import type { MetricSummary } from './metric-summary.ts'
import { toSeconds } from './scan.ts'

/** The bins of one metric. */
export class MetricBins {
  readonly #summary: MetricSummary
  readonly #values: RecordValues
  readonly #bins: number
  readonly #counts: Uint32Array
  readonly #last: Float64Array
  readonly #time: Float64Array
  readonly #minimum: Float64Array
  readonly #width: Float64Array

  /** Takes the extremes from a complete summary. */
  constructor(summary: MetricSummary, bins: number) {
    const { length } = summary.instances
    this.#summary = summary
    this.#values = new RecordValues(summary.desc, summary.instances, 'type')
    this.#bins = bins
    this.#counts = new Uint32Array(length * bins)
    this.#last = new Float64Array(length)
    this.#time = new Float64Array(length).fill(Number.POSITIVE_INFINITY)
    this.#minimum = new Float64Array(length)
    this.#width = new Float64Array(length)
    for (let slot = 0; slot < length; slot++) {
      const known = summary.summary(slot)
      if (known === undefined) continue
      this.#minimum[slot] = known.minimum
      this.#width[slot] = (known.maximum - known.minimum) / bins
    }
  }

  /** Counts values; parameters as for `MetricSummary.take`. */
  take(record: RecordView, s: number, time: number, mark: number): boolean {
    const count = record.statuses[s]!
    const fault = this.#values.read(record, s, count)
    if (fault !== undefined && fault !== 'wide') return false
    const { values, slots } = this.#values
    const isCounter = this.#summary.desc.sem === PM_SEM_COUNTER
    for (let i = 0; i < count; i++) {
      const [slot, value] = [slots[i]!, values[i]!]
      if (Number.isNaN(value)) continue
      if (!isCounter) this.#put(slot, value)
      else if (!this.#addCounter(slot, value, time, mark)) continue
      this.#last[slot] = value
      this.#time[slot] = time
    }
    return true
  }

  /** Counts a counter's rate; returns false if no time has passed. */
  #addCounter(slot: number, value: number, time: number, mark: number): boolean {
    const seconds = toSeconds(time - this.#time[slot]!)
    if (this.#time[slot] === Number.POSITIVE_INFINITY) return true
    if (!(seconds > 0)) return false
    const increment = this.#summary.increment(this.#last[slot]!, value)
    if (increment >= 0 && this.#time[slot]! > mark) this.#put(slot, this.#summary.rate(increment, seconds))
    return true
  }

  #put(slot: number, value: number): void {
    const width = this.#width[slot]!
    let bin = 0
    while (bin < this.#bins - 1 && value > this.#minimum[slot]! + width * (bin + 1)) bin++
    const at = slot * this.#bins + bin
    this.#counts[at] = this.#counts[at]! + 1
  }

  /** Returns upper limits and counts of an instance's bins. If all values are equal, only the first bin has a limit. */
  of(slot: number): { readonly limit: number | undefined; readonly count: number }[] {
    const width = this.#width[slot]!
    return Array.from({ length: this.#bins }, (_, bin) => ({
      limit: width === 0 && bin > 0 ? undefined : this.#minimum[slot]! + width * (bin + 1),
      count: this.#counts[slot * this.#bins + bin]!,
    }))
  }
}
