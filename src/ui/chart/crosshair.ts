/** The time under the pointer, shared by crosshair, dots, tooltip and legend. */
import { firstAtOrAfter, sampleFrom } from '../data/line.ts'

type Column = readonly (number | null | undefined)[]

/** Position of the crosshair. */
export interface Crosshair {
  /** Seconds since the epoch: the time of a sample, or of the pointer where nothing was recorded. */
  readonly at: number
  /** Seconds on either side within which an isolated sample is picked. */
  readonly slack: number
}

/**
 * Returns the index of a line's sample at a time: the nearest one where the line is drawn. In gaps and beyond the ends only samples
 * within `slack` seconds count; undefined without one.
 */
export function sampleAt(
  times: readonly number[],
  values: Column,
  { at, slack }: Crosshair,
): number | undefined {
  const middle = firstAtOrAfter(times, at)
  // Times at which only other lines have samples are not gaps.
  const after = sampleFrom(values, middle, 1)
  if (times[after] === at) return values[after] === null ? undefined : after
  const before = sampleFrom(values, middle - 1, -1)
  const [left, right] = [distance(times, values, before, at), distance(times, values, after, at)]
  const nearest = left <= right ? before : after
  const isDrawn = Number.isFinite(left) && Number.isFinite(right)
  return isDrawn || Math.min(left, right) <= slack ? nearest : undefined
}

/** Returns the distance in seconds; Infinity without a value. */
function distance(times: readonly number[], values: Column, index: number, at: number): number {
  return values[index] == null ? Infinity : Math.abs(times[index]! - at)
}

/** Returns the crosshair position for a pointer: the nearest sample of any line, else the time of the pointer. */
export function crosshairAt(
  times: readonly number[],
  columns: readonly Column[],
  pointer: Crosshair,
): Crosshair {
  let nearest: number | undefined
  for (const column of columns) {
    const index = sampleAt(times, column, pointer)
    if (index === undefined) continue
    const time = times[index]!
    if (nearest === undefined || Math.abs(time - pointer.at) < Math.abs(nearest - pointer.at)) nearest = time
  }
  return nearest === undefined ? pointer : { ...pointer, at: nearest }
}
