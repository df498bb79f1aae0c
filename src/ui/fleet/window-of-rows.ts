/** The part of a long list that is in the document. */

/** Rows around the visible ones, so that scrolling finds them drawn. */
const MARGIN = 10

/** Rows from `first` on, up to and without `end`; heights of the other rows, in pixels. */
export interface RowWindow {
  readonly first: number
  readonly end: number
  readonly above: number
  readonly below: number
}

/** Returns the rows to draw at a scroll position. */
export function rowWindow(count: number, rowHeight: number, scrolled: number, height: number): RowWindow {
  const top = Math.max(0, Math.min(scrolled, count * rowHeight - height))
  const first = Math.max(0, Math.floor(top / rowHeight) - MARGIN)
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + MARGIN)
  return { first, end, above: first * rowHeight, below: (count - end) * rowHeight }
}
