/** Charts as SVG images: title, drawing and legend in the colours of the page. */
import { resolveColor } from '../theme.ts'
import { formatTime, zoneName } from '../time/format.ts'
import * as drawings from './drawings.ts'
import type { Body, ColorOf, PictureInput } from './drawn.ts'
import { kindOf } from './kinds/registry.ts'
import { lineColor, lineDash, readingOf } from './line-style.ts'
import { fitted, n, rect, text, textWidth, WIDTH, xml } from './svg-parts.ts'

const MARGIN = 16
const TOP = 64
const LEGEND_LINE = 18

/** Draws a chart as SVG. `color` resolves a CSS colour to its current value on the page. */
export function toSvg(drawn: PictureInput, color: ColorOf = resolveColor): string {
  const { chart, title } = drawn
  const kind = kindOf(chart.style)
  const body = kind.svg(drawn, color, drawings)
  const legend = chart.legend && kind.legend ? legendOf(drawn, color) : { parts: [], height: 0 }
  const height = TOP + body.height + legend.height + MARGIN
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    rect(0, 0, WIDTH, height, color('var(--surface)')),
    text(MARGIN, 26, fitted(title, 0.75 * (WIDTH - 2 * MARGIN)), color('var(--text)'), { size: 16 }),
    text(MARGIN, 44, whenOf(drawn), color('var(--faint)')),
    `<g transform="translate(0 ${TOP})">`,
    ...body.parts,
    '</g>',
    `<g transform="translate(0 ${TOP + body.height})">`,
    ...legend.parts,
    '</g>',
  ]
  return `${parts.join('\n')}\n</svg>\n`
}

/** Formats the time window, or for lists the time of the values. */
function whenOf({ chart, frame, data, zone }: PictureInput): string {
  const name = zoneName(zone)
  if (kindOf(chart.style).list === undefined)
    return `${formatTime(frame.from, zone)} – ${formatTime(frame.to, zone)}, ${name}`
  const newest = data.times.at(-1)
  return newest === undefined ? '' : `${formatTime(newest, zone)}, ${name}`
}

/** Draws names and newest values, in as many columns as fit. */
function legendOf({ chart, data, hidden }: PictureInput, color: ColorOf): Body {
  const { stacking } = kindOf(chart.style)
  const entries = data.lines.flatMap(({ key, label }, i) =>
    hidden.has(key)
      ? []
      : [
          {
            chip: chipOf(color(lineColor(data, i)), lineDash(data, i) !== undefined, color),
            words: `${label}  ${readingOf(data, stacking, i, undefined, hidden)}`,
          },
        ],
  )
  const room = WIDTH - 2 * MARGIN
  const longest = Math.max(0, ...entries.map(({ words }) => textWidth(words))) + 32
  const columns = Math.max(1, Math.floor(room / longest))
  const parts = entries.flatMap(({ chip, words }, i) => {
    const left = MARGIN + (i % columns) * (room / columns)
    const base = 18 + Math.floor(i / columns) * LEGEND_LINE
    return [
      `<g transform="translate(${n(left)} ${base - 9})">${chip}</g>`,
      text(left + 15, base, fitted(words, room / columns - 20), color('var(--text)')),
    ]
  })
  return { parts, height: 8 + Math.ceil(entries.length / columns) * LEGEND_LINE }
}

/** Draws the colour sample of a line: striped if the line is dashed, outlined because the colour may be transparent. */
function chipOf(fill: string, isDashed: boolean, color: ColorOf): string {
  const slats = isDashed ? [rect(0, 0, 4, 10, fill), rect(6, 0, 4, 10, fill)] : [rect(0, 0, 10, 10, fill)]
  const edge = `<rect x="0.5" y="0.5" width="9" height="9" fill="none" stroke="${xml(color('var(--faint)'))}" stroke-opacity="0.4"/>`
  return [...slats, ...(isDashed ? [] : [edge])].join('')
}
