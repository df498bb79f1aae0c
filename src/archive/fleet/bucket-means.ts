/** Means over time in buckets of equal width, for values of many hosts beside each other. docs/reference/pmproxy.md */
import { nthSmallest } from '../../base/nth-smallest.ts'

/** Buckets of time. */
export interface BucketGrid {
  /** Start of the first bucket, in seconds since the epoch. */
  readonly start: number
  /** Seconds of a bucket. */
  readonly step: number
  readonly buckets: number
}

/** A mean for each bucket, NaN without values, and the seconds that it covers. */
export interface BucketRow {
  readonly means: Float64Array
  readonly seconds: Float64Array
}

/** Samples of one instance in order of time. */
export interface TimedValues {
  readonly times: Float64Array
  readonly values: Float64Array
}

/** How the instances of a metric become one value. */
export type Aggregate = 'sum' | 'mean' | 'max' | 'min'

/** A longer time between two samples, in intervals, is a gap. */
const GAP = 1.75

/**
 * Returns the means of an instance. A value fills the time since the value before it. Gaps stay empty: interruptions (`marks`),
 * missing samples, and decreases of counters, whose values are rates per second.
 */
export function bucketMeans(
  { times, values }: TimedValues,
  marks: Float64Array,
  isCounter: boolean,
  { start, step, buckets }: BucketGrid,
): BucketRow {
  const means = new Float64Array(buckets)
  const seconds = new Float64Array(buckets)
  const longest = GAP * intervalOf(times)
  let mark = 0
  for (let i = 1; i < times.length; i++) {
    const [from, to] = [times[i - 1]!, times[i]!]
    while (mark < marks.length && marks[mark]! < from) mark++
    const passed = to - from
    const isInterrupted = mark < marks.length && marks[mark]! < to
    if (!(passed > 0) || passed > longest || isInterrupted) continue
    const grown = values[i]! - values[i - 1]!
    if (isCounter && grown < 0) continue
    const value = isCounter ? grown / passed : values[i]!
    if (!Number.isFinite(value)) continue
    const last = Math.min(buckets - 1, Math.ceil((to - start) / step) - 1)
    for (let b = Math.max(0, Math.floor((from - start) / step)); b <= last; b++) {
      const share = Math.min(to, start + (b + 1) * step) - Math.max(from, start + b * step)
      if (share <= 0) continue
      means[b]! += value * share
      seconds[b]! += share
    }
  }
  for (let b = 0; b < buckets; b++) means[b] = seconds[b]! > 0 ? means[b]! / seconds[b]! : Number.NaN
  return { means, seconds }
}

/** Returns the median time between samples; infinite for fewer than two. */
export function intervalOf(times: ArrayLike<number>): number {
  if (times.length < 2) return Number.POSITIVE_INFINITY
  const gaps = new Float64Array(times.length - 1)
  for (let i = 0; i < gaps.length; i++) gaps[i] = times[i + 1]! - times[i]!
  return nthSmallest(gaps, gaps.length >> 1)
}

/** Combines the instances of a metric. Instances without a value in a bucket do not count there. */
export function combineInstances(rows: readonly BucketRow[], how: Aggregate, buckets: number): BucketRow {
  const means = new Float64Array(buckets)
  const seconds = new Float64Array(buckets)
  for (let b = 0; b < buckets; b++) {
    let [sum, low, high, count] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0]
    for (const row of rows) {
      const value = row.means[b]!
      if (Number.isNaN(value)) continue
      count++
      sum += value
      if (value < low) low = value
      if (value > high) high = value
      if (row.seconds[b]! > seconds[b]!) seconds[b] = row.seconds[b]!
    }
    const value = { sum, mean: sum / count, max: high, min: low }[how]
    means[b] = count === 0 ? Number.NaN : value
  }
  return { means, seconds }
}

/** Combines rows of consecutive archives, weighted by the time that each covers. */
export function joinRows(rows: readonly BucketRow[], buckets: number): BucketRow {
  if (rows.length === 1) return rows[0]!
  const means = new Float64Array(buckets)
  const seconds = new Float64Array(buckets)
  for (const row of rows)
    for (let b = 0; b < buckets; b++) {
      const covered = row.seconds[b]!
      if (covered === 0) continue
      means[b]! += row.means[b]! * covered
      seconds[b]! += covered
    }
  for (let b = 0; b < buckets; b++) means[b] = seconds[b]! > 0 ? means[b]! / seconds[b]! : Number.NaN
  return { means, seconds }
}
