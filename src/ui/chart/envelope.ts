/**
 * Lines with more samples than pixels, drawn so that no spike is lost. If values are means of many samples, each pixel column
 * gets a band from minimum to maximum behind the line; other lines go through minimum and maximum of each column.
 *
 *     means    ────────────      drawn    ─────┼──────
 *     maximum        ·                         │
 */
import type { Columns } from '../data/line.ts'

type Drawn = Columns<number | null | undefined>

/** Receives the corners of a path. */
export interface Path {
  moveTo(x: number, y: number): void
  lineTo(x: number, y: number): void
}

/** Position of a line: `xs` are whole ascending pixels; `from` and `to` are the first and last index. */
export interface LinePosition {
  readonly from: number
  readonly to: number
  x(index: number): number
  y(value: number): number
}

/** Returns minimum and maximum of some lines between two indexes; undefined without values. */
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

/** Calls `column` with minimum and maximum of each pixel column from left to right, and `gap` after each run without a gap. */
function eachColumn(
  { values, low = values, high = values }: Drawn,
  { from, to, x }: LinePosition,
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

/** Draws a line through minimum and maximum of each pixel column. With `base` (a y position) it draws a closed area along the maximum. */
export function drawEnvelope(pen: Path, line: Drawn, stretch: LinePosition, base?: number): void {
  let [before, last] = [0, 0]
  let isDown = false
  const column = (place: number, least: number, most: number): void => {
    const [top, bottom] = [stretch.y(most), stretch.y(least)]
    if (!isDown) {
      pen.moveTo(place, base ?? top)
      last = top
    }
    // Starts at the end that is closer to the previous column.
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

/** Draws the outline between minimum and maximum, each pixel column in its full width. */
export function drawBand(pen: Path, line: Drawn, stretch: LinePosition): void {
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
 * Returns one index of each run of samples that is at most `shortest` seconds long, within `from` and `to`; undefined if there are
 * none. Drawn as a line, such a run would be invisible.
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
