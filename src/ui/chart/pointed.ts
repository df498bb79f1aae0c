/** What the pointer is over in a chart: one moment, which the crosshair, its dots, the tip and the legend all read. */
import { firstAtOrAfter, sampleFrom } from '../data/line.ts'

type Column = readonly (number | null | undefined)[]

/** Position of the crosshair. */
export interface Pointed {
  /** Seconds since the epoch: that of a sample, or of the pointer where nothing was recorded. */
  readonly at: number
  /** Seconds on either side in which a sample without a neighbour is read. */
  readonly slack: number
}

/**
 * The sample that a line reads at a moment: the nearest one where the line is drawn; undefined across a gap and beyond its
 * ends, where only a sample within `slack` seconds is.
 */
export function sampleAt(
  times: readonly number[],
  values: Column,
  { at, slack }: Pointed,
): number | undefined {
  const middle = firstAtOrAfter(times, at)
  // Moments of other lines only are no gap in this one.
  const after = sampleFrom(values, middle, 1)
  if (times[after] === at) return values[after] === null ? undefined : after
  const before = sampleFrom(values, middle - 1, -1)
  const [left, right] = [distance(times, values, before, at), distance(times, values, after, at)]
  const nearest = left <= right ? before : after
  const isDrawn = Number.isFinite(left) && Number.isFinite(right)
  return isDrawn || Math.min(left, right) <= slack ? nearest : undefined
}

/** Infinity where there is no value. */
function distance(times: readonly number[], values: Column, index: number, at: number): number {
  return values[index] == null ? Infinity : Math.abs(times[index]! - at)
}

/** The crosshair's position for a pointer: the nearest sample that any line reads there, else the pointer's own moment. */
export function pointedAt(times: readonly number[], columns: readonly Column[], pointer: Pointed): Pointed {
  let nearest: number | undefined
  for (const column of columns) {
    const index = sampleAt(times, column, pointer)
    if (index === undefined) continue
    const time = times[index]!
    if (nearest === undefined || Math.abs(time - pointer.at) < Math.abs(nearest - pointer.at)) nearest = time
  }
  return nearest === undefined ? pointer : { ...pointer, at: nearest }
}
