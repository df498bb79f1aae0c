/** Durations: a cumulative histogram, and percentiles since the last reading. */
import type { Counter, Gauge, GaugeOptions } from '../mmv/index.ts'
import type { NodeContext } from './context.ts'
import { ProcessInstances } from './family.ts'

/** Upper bounds of the histogram's ranges, in milliseconds. */
const BOUNDS: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]
/** Eight ranges per doubling of the microseconds: percentiles are exact within 6 %. */
const STEP_BITS = 3
const STEPS = 2 ** STEP_BITS
const RANGES = 32 * STEPS
/** An integer, because all readers know its sentinel for no value. */
const MICROSECONDS: GaugeOptions = { type: 'u64', units: 'microsec' }

/** Percentiles of durations since the last reset. Recording takes a few nanoseconds. */
export class RecentDurations {
  readonly #counts = new Uint32Array(RANGES)
  #count = 0
  #mostUs = 0

  /** Number of recorded durations. */
  get count(): number {
    return this.#count
  }

  /** The longest duration in microseconds; NaN without durations. */
  get max(): number {
    return this.#count === 0 ? Number.NaN : this.#mostUs
  }

  record(ms: number): void {
    const us = Math.min(Math.max(ms * 1000, 0), 2 ** 31)
    this.#counts[rangeOf(us)]!++
    this.#count++
    if (us > this.#mostUs) this.#mostUs = us
  }

  /** A percentile in microseconds; NaN without durations. */
  percentile(percent: number): number {
    if (this.#count === 0) return Number.NaN
    let left = Math.ceil((this.#count * percent) / 100)
    for (let i = 0; i < RANGES; i++) {
      left -= this.#counts[i]!
      if (left <= 0) return Math.min(middleOf(i), this.#mostUs)
    }
    return this.max
  }

  reset(): void {
    if (this.#count === 0) return
    this.#counts.fill(0)
    this.#count = 0
    this.#mostUs = 0
  }
}

/** Index of a range: one per microsecond below 8 µs, above that eight per power of two. */
function rangeOf(us: number): number {
  const whole = us >>> 0
  if (whole < STEPS) return whole
  const shift = 31 - Math.clz32(whole) - STEP_BITS
  return (shift + 1) * STEPS + ((whole >>> shift) - STEPS)
}

function middleOf(range: number): number {
  if (range < STEPS) return range
  const shift = Math.floor(range / STEPS) - 1
  return ((range % STEPS) + STEPS + 0.5) * 2 ** shift
}

/** Items and domain of the metrics of one kind of duration. */
export interface DurationItems {
  /** The first of eight items. */
  readonly item: number
  readonly serial: number
  /** Description of the timed operation: `Answers to HTTP requests`. */
  readonly what: string
}

/** Metrics NAME.time, NAME.count, NAME.bucket, and NAME.p50, p90, p99 and max of the last interval. */
export class Durations {
  readonly #recent = new RecentDurations()
  readonly #count: Counter
  readonly #time: Counter
  readonly #buckets: readonly Counter[]
  readonly #percentiles: readonly (readonly [percent: number, gauge: Gauge])[]
  readonly #max: Gauge

  constructor(context: NodeContext, name: string, { item, serial, what }: DurationItems) {
    this.#count = context.counter(`${name}.count`, item, `${what}: count`)
    this.#time = context.counter(`${name}.time`, item + 1, `${what}: total time`, { units: 'microsec' })
    const ranges = new ProcessInstances(context.writer, context.self, {
      serial,
      help: `${what}: ranges of time`,
    })
    const bucket = ranges.instances.counter(`node.${name}.bucket`, {
      item: item + 2,
      help: `${what}: count by duration, in ranges of milliseconds`,
    })
    const labels = [...BOUNDS.map((bound) => `upto-${bound}`), `above-${BOUNDS.at(-1)}`]
    this.#buckets = labels.map((label) => bucket.of(ranges.of(label)))
    this.#percentiles = [50, 90, 99].map((percent, i) => [
      percent,
      context.gauge(`${name}.p${percent}`, item + 3 + i, `${what}: duration at percentile ${percent}`, {
        ...MICROSECONDS,
        text: 'Of the last interval; no value if there were none.',
      }),
    ])
    this.#max = context.gauge(`${name}.max`, item + 6, `${what}: longest of the last interval`, MICROSECONDS)
  }

  record(ms: number): void {
    let i = 0
    while (i < BOUNDS.length && ms > BOUNDS[i]!) i++
    this.#buckets[i]!.inc()
    this.#count.inc()
    this.#time.add(ms * 1000)
    this.#recent.record(ms)
  }

  /** Publishes the percentiles at the end of an interval. */
  sample(): void {
    for (const [percent, gauge] of this.#percentiles) gauge.set(this.#recent.percentile(percent))
    this.#max.set(this.#recent.max)
    this.#recent.reset()
  }
}
