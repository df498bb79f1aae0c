/** SVG images of tables and bar grids. */
import { paletteColor } from '../theme.ts'
import { showValue } from '../view/measure.ts'
import type { Body, ColorOf, PictureInput } from './drawn.ts'
import { heatLimits, shareOf } from './heat-map.ts'
import { fitted, rect, text, textWidth, WIDTH } from './svg-parts.ts'
import { gridList, type List, MAX_ROWS, tableList } from './table-rows.ts'

const MARGIN = 16
const LINE = 20
const WIDEST_NAME = 300
const BAR_HEIGHT = 10
/** Width of the value beside its bar. */
const VALUE = 84

/** Draws a table. */
export function tablePicture({ chart, data }: PictureInput, color: ColorOf): Body {
  const list = tableList(chart, data)
  const { columns, rows } = list
  const { left, width } = layout(list)
  const parts = heads(list, (i) => left + (i + 1) * width, width, color, 'end')
  for (const [row, { name, values }] of rows.slice(0, MAX_ROWS).entries()) {
    const base = (row + 2) * LINE - 6
    parts.push(text(MARGIN, base, fitted(name, left - MARGIN), color('var(--text)')))
    for (const [i, { measure, factor }] of columns.entries()) {
      const value = values[i]
      const shown = showValue(measure, value == null ? value : value * factor)
      parts.push(text(left + (i + 1) * width, base, shown, color('var(--text)'), { anchor: 'end' }))
    }
  }
  return { parts, height: (Math.min(rows.length, MAX_ROWS) + 1) * LINE }
}

/** Draws a bar for each value, relative to its limit or to the largest value. */
export function gridPicture({ chart, data }: PictureInput, color: ColorOf): Body {
  const list = gridList(chart, data)
  const { columns, rows } = list
  const { left, width } = layout(list)
  const limits = heatLimits(data)
  const barWidth = Math.max(10, width - VALUE)
  const parts = heads(list, (i) => left + i * width + 10, width, color, 'start')
  for (const [row, { name, values }] of rows.slice(0, MAX_ROWS).entries()) {
    const base = (row + 2) * LINE - 6
    parts.push(text(MARGIN, base, fitted(name, left - MARGIN), color('var(--text)')))
    for (const [i, { measure, plot }] of columns.entries()) {
      const value = values[i]
      if (value == null) continue
      const at = left + i * width + 10
      const share = shareOf(value, limits)
      parts.push(
        rect(at, base - BAR_HEIGHT + 1, barWidth, BAR_HEIGHT, color('var(--grid)')),
        rect(at, base - BAR_HEIGHT + 1, share * barWidth, BAR_HEIGHT, color(plot.color ?? paletteColor(i))),
        text(at + barWidth + 6, base, showValue(measure, value), color('var(--text)')),
      )
    }
  }
  return { parts, height: (Math.min(rows.length, MAX_ROWS) + 1) * LINE }
}

/** Returns the left edge of the columns and their width. */
function layout({ columns, rows }: List): { readonly left: number; readonly width: number } {
  const longest = Math.max(60, ...rows.map(({ name }) => textWidth(name)))
  const left = MARGIN + Math.min(WIDEST_NAME, longest) + 8
  return { left, width: (WIDTH - MARGIN - left) / Math.max(1, columns.length) }
}

function heads(
  { columns }: List,
  x: (i: number) => number,
  width: number,
  color: ColorOf,
  anchor: 'start' | 'end',
): string[] {
  return columns.map(({ title }, i) =>
    text(x(i), LINE - 6, fitted(title, width - 10), color('var(--faint)'), { anchor }),
  )
}
