/**
 * Exponential histograms with stable bucket bounds. docs/reference/agents/otel.md
 *
 * Bucket i of scale s holds values above b^i up to b^(i+1), b = 2^(2^-s). A client lowers the scale when its values
 * spread, which merges pairs of buckets: bucket i of scale s lies in bucket i >> 1 of scale s - 1. Bounds of scale 2 (four
 * per power of two) are a subset of the bounds of any finer scale, so counts up to those bounds are exact at any scale.
 */
import type { OtlpPoint } from './otlp.ts'

/** Finest scale exported. */
const SHOWN_SCALE = 2
/** Lowest valid scale: doubles have 11 bits of exponent. */
const MIN_SCALE = -11

/** Counts of an exponential histogram. */
export interface BucketCounts {
  readonly scale: number
  /** Values up to zero, including negative ones. */
  readonly zero: number
  /** By bucket number. */
  readonly counts: ReadonlyMap<number, number>
}

/** Returns the counts of a point, at an exported scale. */
export function bucketCountsOf({ scale, zeroCount, positive, negative }: OtlpPoint): BucketCounts {
  const counts = new Map<number, number>()
  for (const [i, count] of positive.counts.entries()) if (count > 0) counts.set(positive.offset + i, count)
  let zero = zeroCount
  for (const count of negative.counts) zero += count
  return coarsened({ scale, zero, counts }, SHOWN_SCALE)
}

/** Adds counts, at the coarser scale of the two. */
export function addBucketCounts(a: BucketCounts, b: BucketCounts): BucketCounts {
  const scale = Math.min(a.scale, b.scale)
  const counts = new Map(coarsened(a, scale).counts)
  for (const [i, count] of coarsened(b, scale).counts) counts.set(i, (counts.get(i) ?? 0) + count)
  return { scale, zero: a.zero + b.zero, counts }
}

/** Returns the cumulative count up to each bucket's upper bound, in ascending order. */
export function cumulated({
  scale,
  zero,
  counts,
}: BucketCounts): readonly (readonly [end: number, count: number])[] {
  const found: (readonly [number, number])[] = [[0, zero]]
  let sum = zero
  for (const i of [...counts.keys()].sort((a, b) => a - b)) {
    sum += counts.get(i)!
    found.push([2 ** ((i + 1) * 2 ** -scale), sum])
  }
  return found
}

function coarsened(grid: BucketCounts, scale: number): BucketCounts {
  const steps = Math.min(grid.scale, 64) - Math.max(scale, MIN_SCALE)
  if (steps <= 0) return grid
  const width = 2 ** steps
  const counts = new Map<number, number>()
  for (const [i, count] of grid.counts) {
    const into = Math.floor(i / width)
    counts.set(into, (counts.get(into) ?? 0) + count)
  }
  return { scale: Math.max(scale, MIN_SCALE), zero: grid.zero, counts }
}
