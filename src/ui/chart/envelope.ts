/**
 * Lines that have more samples than there are pixels: drawn through what was least and most in each column of pixels, so that no spike is
 * lost. It is the picture that all samples would give.
 *
 *     means    ────────────      drawn    ─────│──────
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

/** Draws a line through least and most of each column of pixels; with `base` (a height) it is closed down to there, and goes through what is most. */
export function drawEnvelope(
  pen: Pen,
  { values, low = values, high = values }: Drawn,
  { from, to, x, y }: Stretch,
  base?: number,
): void {
  let column = Number.NaN
  let [least, most, last] = [0, 0, 0]
  let isDown = false
  const flush = (): void => {
    if (Number.isNaN(column)) return
    const [top, bottom] = [y(most), y(least)]
    if (!isDown) {
      pen.moveTo(column, base ?? top)
      last = top
    }
    // From where the line comes the nearer end is first.
    const isTopFirst = base !== undefined || Math.abs(last - top) <= Math.abs(last - bottom)
    pen.lineTo(column, isTopFirst ? top : bottom)
    last = isTopFirst ? bottom : top
    if (base === undefined && top !== bottom) pen.lineTo(column, last)
    isDown = true
  }
  const lift = (): void => {
    flush()
    if (base !== undefined && isDown) pen.lineTo(column, base)
    column = Number.NaN
    isDown = false
  }
  for (let i = from; i <= to; i++) {
    const [l, h] = [low[i], high[i]]
    if (l === undefined || h === undefined) continue
    if (l === null || h === null) {
      lift()
      continue
    }
    const place = Math.round(x(i))
    if (place === column) {
      if (l < least) least = l
      if (h > most) most = h
    } else {
      flush()
      column = place
      least = l
      most = h
    }
  }
  lift()
}
