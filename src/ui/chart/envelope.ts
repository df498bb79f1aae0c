/**
 * Lines that have more samples than there are pixels: no spike is lost. Where values are means of many, a band from what was least to what
 * was most is drawn in each column of pixels, and the line before it; others go through least and most of each column.
 *
 *     means    ────────────      drawn    ─────┼──────
 *     most           ·                         │
 */
import type { Columns } from '../data/line.ts'

type Drawn = Columns<number | null | undefined>

/** Gets the corners of a line. */
export interface Pen {
  moveTo(x: number, y: number): void
  lineTo(x: number, y: number): void
}

/** Where a line is drawn: `xs` are whole pixels, ascending; `from` and `to` are the first and last index. */
export interface Stretch {
  readonly from: number
  readonly to: number
  x(index: number): number
  y(value: number): number
}

/** The least and most of some lines between two indexes; undefined when they have no values there. */
export function extentOf(
  lines: readonly Drawn[],
  from: number,
  to: number,
): readonly [low: number, high: number] | undefined {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { values, low = values, high = values } of lines)
    for (let i = from; i <= to; i++) {
      const [l, h] = [low[i], high[i]]
      if (l != null && l < least) least = l
      if (h != null && h > most) most = h
    }
  return least <= most ? [least, most] : undefined
}

/** Calls `column` with what was least and most in each column of pixels, from left to right, and `gap` behind each stretch without a gap. */
function eachColumn(
  { values, low = values, high = values }: Drawn,
  { from, to, x }: Stretch,
  column: (place: number, least: number, most: number) => void,
  gap: () => void,
): void {
  let place = Number.NaN
  let [least, most] = [0, 0]
  const flush = (): void => {
    if (!Number.isNaN(place)) column(place, least, most)
    place = Number.NaN
  }
  for (let i = from; i <= to; i++) {
    const [l, h] = [low[i], high[i]]
    if (l === undefined || h === undefined) continue
    if (l === null || h === null) {
      flush()
      gap()
      continue
    }
    const next = Math.round(x(i))
    if (next !== place) {
      flush()
      place = next
      least = l
      most = h
    } else {
      if (l < least) least = l
      if (h > most) most = h
    }
  }
  flush()
  gap()
}

/** Draws a line through least and most of each column of pixels; with `base` (a height) it is closed down to there, and goes through what is most. */
export function drawEnvelope(pen: Pen, line: Drawn, stretch: Stretch, base?: number): void {
  let [before, last] = [0, 0]
  let isDown = false
  const column = (place: number, least: number, most: number): void => {
    const [top, bottom] = [stretch.y(most), stretch.y(least)]
    if (!isDown) {
      pen.moveTo(place, base ?? top)
      last = top
    }
    // From where the line comes the nearer end is first.
    const isTopFirst = base !== undefined || Math.abs(last - top) <= Math.abs(last - bottom)
    pen.lineTo(place, isTopFirst ? top : bottom)
    last = isTopFirst ? bottom : top
    if (base === undefined && top !== bottom) pen.lineTo(place, last)
    isDown = true
    before = place
  }
  eachColumn(line, stretch, column, () => {
    if (base !== undefined && isDown) pen.lineTo(before, base)
    isDown = false
  })
}

/** Draws the outline of what lies between least and most: each column of pixels in its whole width. */
export function drawBand(pen: Pen, line: Drawn, stretch: Stretch): void {
  let lower: (readonly [x: number, y: number])[] = []
  const column = (place: number, least: number, most: number): void => {
    const [top, bottom] = [stretch.y(most), stretch.y(least)]
    if (lower.length === 0) pen.moveTo(place - 0.5, top)
    else pen.lineTo(place - 0.5, top)
    pen.lineTo(place + 0.5, top)
    lower.push([place - 0.5, bottom], [place + 0.5, bottom])
  }
  eachColumn(line, stretch, column, () => {
    for (const [x, y] of lower.reverse()) pen.lineTo(x, y)
    lower = []
  })
}

/**
 * Returns an index of each run of samples that is no longer than `shortest` seconds, within `from` and `to`; undefined without one. As a
 * line such a run would be too short to be seen.
 */
export function loneSamples(
  times: readonly number[],
  values: readonly (number | null | undefined)[],
  { from, to, shortest }: { readonly from: number; readonly to: number; readonly shortest: number },
): number[] | undefined {
  const found: number[] = []
  let first = -1
  let last = -1
  const end = (): void => {
    if (first >= 0 && times[last]! - times[first]! <= shortest) found.push(last)
    first = -1
  }
  for (let i = 0; i < times.length; i++) {
    const value = values[i]
    if (value === undefined) continue
    if (value === null) end()
    else {
      if (first < 0) first = i
      last = i
    }
  }
  end()
  const shown = found.filter((i) => times[i]! >= from && times[i]! <= to)
  return shown.length === 0 ? undefined : shown
}
