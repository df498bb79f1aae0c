/** Short excursions: part of the span is unusual, even beside the most unusual part of equal length before it. docs/decisions/what-changed.md */
import type { ChangeGrid } from './change-grid.ts'
import { deviation, median } from './robust.ts'

/** The most unusual part of a span. */
export interface Excursion {
  /** How far its mean is beyond that of any part before, in units of the noise; positive or negative. */
  readonly excess: number
  /** The deviation of the means of parts of its length before, in units of the noise. */
  readonly swing: number
  /** Its buckets within the span, from `from`, inclusive, to `to`. */
  readonly from: number
  readonly to: number
}

/** Lengths of parts, as shares of the span. Longer ones are found by the mean of the whole span. */
const LENGTHS = [1 / 4, 1 / 8, 1 / 16]
/** Parts overlap: one begins at each such share of a length. */
const STRIDE = 1 / 4
/** Parts of equal length that the window before must have; their extremes show the usual range. */
const ENOUGH_PARTS = 4

/** Returns the best of the excursions of all lengths: the one with the largest excess over its swing; undefined without any excess. */
export function excursionOf(
  deviations: Float64Array,
  { beforeCount, count }: ChangeGrid,
): Excursion | undefined {
  const before = centred(deviations.subarray(0, beforeCount))
  const later = centred(deviations.subarray(beforeCount))
  let best: Excursion | undefined
  for (const share of LENGTHS) {
    const length = Math.round((count - beforeCount) * share)
    if (length < 1 || beforeCount < ENOUGH_PARTS * length) continue
    const earlier = partsOf(before, length)
    const now = partsOf(later, length)
    const swing = deviation(earlier.means.filter((mean) => !Number.isNaN(mean)))
    const usual = extremesOf(earlier.means)
    const extremes = extremesOf(now.means)
    for (const sign of [1, -1] as const) {
      const at = sign > 0 ? extremes.highest : extremes.lowest
      if (at < 0) continue
      const excess = sign * now.means[at]! - Math.max(0, sign > 0 ? usual.high : -usual.low)
      if (
        excess <= 0 ||
        (best !== undefined && excess / (swing + 1) <= Math.abs(best.excess) / (best.swing + 1))
      )
        continue
      const from = at * now.stride
      best = { excess: sign * excess, swing, from, to: from + length }
    }
  }
  return best
}

/**
 * Returns values about the median of their window. A trend moves both medians, so a series that grows as before has no excursion, nor has one with a
 * lasting new level.
 */
function centred(values: Float64Array): Float64Array {
  const centre = median(values.filter((value) => !Number.isNaN(value)))
  return values.map((value) => value - centre)
}

/** Returns the means of overlapping parts; NaN for those of which less than half has values. */
function partsOf(
  values: Float64Array,
  length: number,
): { readonly means: Float64Array; readonly stride: number } {
  const stride = Math.max(1, Math.floor(length * STRIDE))
  const sums = new Float64Array(values.length + 1)
  const counts = new Uint32Array(values.length + 1)
  for (const [i, value] of values.entries()) {
    const isValue = !Number.isNaN(value)
    sums[i + 1] = sums[i]! + (isValue ? value : 0)
    counts[i + 1] = counts[i]! + (isValue ? 1 : 0)
  }
  // Buckets without a value are the usual case for a metric with a long interval.
  const least = Math.max(1, (length * counts[values.length]!) / values.length / 2)
  const means = Float64Array.from(
    { length: Math.floor((values.length - length) / stride) + 1 },
    (_, part) => {
      const [from, to] = [part * stride, part * stride + length]
      const number = counts[to]! - counts[from]!
      return number < least ? Number.NaN : (sums[to]! - sums[from]!) / number
    },
  )
  return { means, stride }
}

function extremesOf(means: Float64Array): {
  readonly high: number
  readonly low: number
  /** Indexes; -1 for none. */
  readonly highest: number
  readonly lowest: number
} {
  let [high, low, highest, lowest] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, -1, -1]
  for (const [i, mean] of means.entries()) {
    if (mean > high) [high, highest] = [mean, i]
    if (mean < low) [low, lowest] = [mean, i]
  }
  return { high, low, highest, lowest }
}
