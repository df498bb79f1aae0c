/** Charts as pictures that can be scaled: title, what is drawn, legend. Colours are those of the page. */
import type { ChartData } from '../data/chart-data.ts'
import { resolveColor } from '../theme.ts'
import type { Frame } from '../time/control.ts'
import { momentText } from '../time/words.ts'
import { type Chart, isList } from '../view/view.ts'
import { lineColor, lineDash, readingOf } from './line-look.ts'
import { heatBody } from './svg-heat.ts'
import { gridBody, tableBody } from './svg-list.ts'
import { fitted, n, rect, text, textWidth, WIDTH, xml } from './svg-parts.ts'
import { timeBody } from './svg-time.ts'

/** What a picture is of. */
export interface Drawn {
  readonly chart: Chart
  readonly title: string
  readonly data: ChartData
  /** Keys of lines that are not drawn. */
  readonly hidden: ReadonlySet<string>
  readonly frame: Frame
  /** Name of the zone, '' for the reader's own. */
  readonly zone: string
}

/** A part of a picture: its top is 0. */
export interface Body {
  readonly parts: readonly string[]
  readonly height: number
}

/** Colours of the page by their names there. */
export type ColorOf = (name: string) => string

const MARGIN = 16
const TOP = 64
const LEGEND_LINE = 18

/** A picture of a chart. `color` says what a colour of CSS is on the page now. */
export function toSvg(drawn: Drawn, color: ColorOf = resolveColor): string {
  const { chart, title } = drawn
  const body = bodyOf(drawn, color)
  const hasLegend = chart.legend && !isList(chart.style) && chart.style !== 'heat'
  const legend = hasLegend ? legendOf(drawn, color) : { parts: [], height: 0 }
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

/** The span of time, or of a list the moment. */
function whenOf({ chart, frame, data, zone }: Drawn): string {
  const name = zone || Intl.DateTimeFormat().resolvedOptions().timeZone
  if (!isList(chart.style)) return `${momentText(frame.from, zone)} – ${momentText(frame.to, zone)}, ${name}`
  const newest = data.times.at(-1)
  return newest === undefined ? '' : `${momentText(newest, zone)}, ${name}`
}

function bodyOf(drawn: Drawn, color: ColorOf): Body {
  switch (drawn.chart.style) {
    case 'table':
      return tableBody(drawn, color)
    case 'grid':
      return gridBody(drawn, color)
    case 'heat':
      return heatBody(drawn, color)
    default:
      return timeBody(drawn, color)
  }
}

/** Names and newest values, in as many columns as there is room for. */
function legendOf({ chart, data, hidden }: Drawn, color: ColorOf): Body {
  const entries = data.lines.flatMap(({ key, label }, i) =>
    hidden.has(key)
      ? []
      : [
          {
            chip: chipOf(color(lineColor(data, i)), lineDash(data, i) !== undefined, color),
            words: `${label}  ${readingOf(data, chart.style, i, undefined, hidden)}`,
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

/** What stands before a name: its colour, in slats where the line is dashed, with an edge as it may be see-through. */
function chipOf(fill: string, isDashed: boolean, color: ColorOf): string {
  const slats = isDashed ? [rect(0, 0, 4, 10, fill), rect(6, 0, 4, 10, fill)] : [rect(0, 0, 10, 10, fill)]
  const edge = `<rect x="0.5" y="0.5" width="9" height="9" fill="none" stroke="${xml(color('var(--faint)'))}" stroke-opacity="0.4"/>`
  return [...slats, ...(isDashed ? [] : [edge])].join('')
}
