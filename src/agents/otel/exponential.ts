/**
 * Exponential histograms with buckets whose ends stay the same. docs/otel.md
 *
 * Bucket i of scale s holds values from above b^i up to b^(i+1), b = 2^(2^-s). A client lowers the scale when its values
 * spread; two buckets then become one: bucket i of scale s lies in bucket i >> 1 of scale s - 1. Ends of scale 2 (four to
 * each doubling) are a subset of the ends of any finer scale, so counting up to those ends is exact whatever comes.
 */
import type { OtlpPoint } from './otlp.ts'

/** Finest scale that is shown. */
const SHOWN_SCALE = 2
/** Scales outside cannot be of numbers: doubles have 11 bits of exponent. */
const MIN_SCALE = -11

/** Counts of an exponential histogram. */
export interface Grid {
  readonly scale: number
  /** Values up to zero: negative ones as well. */
  readonly zero: number
  /** By number of the bucket. */
  readonly counts: ReadonlyMap<number, number>
}

/** The counts of a point, at a scale that is shown. */
export function gridOf({ scale, zeroCount, positive, negative }: OtlpPoint): Grid {
  const counts = new Map<number, number>()
  for (const [i, count] of positive.counts.entries()) if (count > 0) counts.set(positive.offset + i, count)
  let zero = zeroCount
  for (const count of negative.counts) zero += count
  return coarsened({ scale, zero, counts }, SHOWN_SCALE)
}

/** Both together, at the coarser scale of the two. */
export function addGrids(a: Grid, b: Grid): Grid {
  const scale = Math.min(a.scale, b.scale)
  const counts = new Map(coarsened(a, scale).counts)
  for (const [i, count] of coarsened(b, scale).counts) counts.set(i, (counts.get(i) ?? 0) + count)
  return { scale, zero: a.zero + b.zero, counts }
}

/** How many values there are up to the end of each bucket, ends ascending: what follows from the counts alone. */
export function cumulated({ scale, zero, counts }: Grid): readonly (readonly [end: number, count: number])[] {
  const found: (readonly [number, number])[] = [[0, zero]]
  let sum = zero
  for (const i of [...counts.keys()].sort((a, b) => a - b)) {
    sum += counts.get(i)!
    found.push([2 ** ((i + 1) * 2 ** -scale), sum])
  }
  return found
}

function coarsened(grid: Grid, scale: number): Grid {
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
