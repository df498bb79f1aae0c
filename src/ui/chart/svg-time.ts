/** SVG images of charts over time: axes, and lines, areas or bars. */
import type { ChartLine } from '../data/chart-data.ts'
import type { Measure } from '../view/measure.ts'
import { axisLabels, naturalRange } from './axis.ts'
import type { Body, ColorOf, PictureInput } from './drawn.ts'
import { drawBand, drawEnvelope, extentOf } from './envelope.ts'
import { lineColor, lineDash } from './line-style.ts'
import { drawnColumns, type Stacking } from './stack.ts'
import { markParts, marksHeight } from './svg-marks.ts'
import { n, rect, text, WIDTH, xml } from './svg-parts.ts'
import { timeMarks } from './time-marks.ts'

const LEFT = 90
const RIGHT = 24
const HEIGHT = 340
const PLOT_WIDTH = WIDTH - LEFT - RIGHT

type Column = readonly (number | null | undefined)[]

/** Scales of the two axes. */
interface Scales {
  readonly x: (time: number) => number
  readonly y: (value: number) => number
  readonly low: number
  readonly high: number
}

/** Input of `Marks`. */
interface Plotted {
  readonly times: readonly number[]
  /** The lines, and the columns to draw for them. */
  readonly lines: readonly ChartLine[]
  readonly columns: readonly Column[]
  readonly strokes: readonly Stroke[]
  readonly scales: Scales
}

/** Draws the values between the axes. */
type Marks = (plotted: Plotted) => string[]

/** Draws a chart with its axes. */
export function timePicture(drawn: PictureInput, color: ColorOf, marks: Marks, stacking?: Stacking): Body {
  const { data, hidden, frame, zone } = drawn
  const shown = data.lines.map((line, i) => ({ line, i })).filter(({ line }) => !hidden.has(line.key))
  const columns = drawnColumns(data, hidden, stacking)
  const [low, high] = limitsOf(drawn, columns, stacking)
  const top = marksHeight(drawn)
  const scales: Scales = {
    low,
    high,
    x: (time) => LEFT + ((time - frame.from) / (frame.to - frame.from)) * PLOT_WIDTH,
    y: (value) => HEIGHT - ((value - low) / (high - low)) * (HEIGHT - top),
  }
  const measure: Measure = stacking === 'share' ? { ...data.measure, kind: 'share' } : data.measure
  const grid = color('var(--grid)')
  const faint = color('var(--faint)')
  const parts = [
    `<clipPath id="plot"><rect x="${LEFT}" y="${top}" width="${PLOT_WIDTH}" height="${HEIGHT - top}"/></clipPath>`,
  ]
  const values = valueMarks(low, high, measure)
  const isZero =
    data.limits === undefined && stacking !== 'share' && !columns.some((one) => one.some(Boolean))
  for (const [i, label] of axisLabels(measure, values, isZero).entries()) {
    const at = n(scales.y(values[i]!))
    parts.push(
      `<path d="M${LEFT} ${at}H${WIDTH - RIGHT}" stroke="${xml(grid)}"/>`,
      text(LEFT - 8, Number(at) + 4, label, faint, { anchor: 'end' }),
    )
  }
  for (const { at, label } of timeMarks(frame, TIMES, zone)) {
    const x = scales.x(at)
    parts.push(
      `<path d="M${n(x)} ${top}V${HEIGHT}" stroke="${xml(grid)}"/>`,
      text(x, HEIGHT + 18, label, faint, { anchor: 'middle' }),
    )
  }
  parts.push('<g clip-path="url(#plot)">')
  const strokes = shown.map(({ i }) => ({ color: color(lineColor(data, i)), dash: lineDash(data, i) }))
  const lines = shown.map(({ line }) => line)
  parts.push(...marks({ times: data.times, lines, columns, strokes, scales }))
  parts.push('</g>', ...markParts(drawn, { left: LEFT, width: PLOT_WIDTH, height: HEIGHT }, color))
  return { parts, height: HEIGHT + 28 }
}

/** Draws lines. */
export const lineMarks: Marks = (plotted) => drawLines(plotted, false)

/** Draws lines filled down to zero. */
export const areaMarks: Marks = (plotted) => drawLines(plotted, true)

/** Draws bands from minimum to maximum behind the lines. */
function drawLines({ times, lines, strokes, scales }: Plotted, isFilled: boolean): string[] {
  const parts: string[] = []
  const stretch = { from: 0, to: times.length - 1, x: (i: number) => scales.x(times[i]!), y: scales.y }
  for (const [j, line] of lines.entries()) {
    if (line.low === undefined) continue
    const band = new PathText()
    drawBand(band, line, stretch)
    parts.push(`<path d="${band}" fill="${xml(strokes[j]!.color)}" fill-opacity="0.35"/>`)
  }
  for (const [j, { values }] of lines.entries()) {
    const { color: stroke, dash } = strokes[j]!
    if (isFilled) {
      const area = new PathText()
      drawEnvelope(area, { values }, stretch, scales.y(Math.max(0, scales.low)))
      parts.push(`<path d="${area}" fill="${xml(stroke)}" fill-opacity="0.2"/>`)
    }
    const path = new PathText()
    drawEnvelope(path, { values }, stretch)
    const dashes = dash === undefined ? '' : ` stroke-dasharray="${dash.join(' ')}"`
    parts.push(
      `<path d="${path}" fill="none" stroke="${xml(stroke)}" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"${dashes}/>`,
    )
  }
  return parts
}

/** A pen that writes SVG path data. */
class PathText {
  #text = ''

  moveTo(x: number, y: number): void {
    this.#text += `M${n(x)} ${n(y)}`
  }

  lineTo(x: number, y: number): void {
    this.#text += `L${n(x)} ${n(y)}`
  }

  toString(): string {
    return this.#text
  }
}

/** Returns the limits of the chart, else from 0 to a little above the values. */
function limitsOf(
  { data, hidden }: PictureInput,
  columns: readonly Column[],
  stacking: Stacking | undefined,
): readonly [number, number] {
  if (data.limits !== undefined) return data.limits
  if (stacking === 'share') return [0, 1]
  const lines =
    stacking === undefined
      ? data.lines.filter(({ key }) => !hidden.has(key))
      : columns.map((values) => ({ values }))
  const [least, most] = extentOf(lines, 0, data.times.length - 1) ?? [0, 1]
  return naturalRange(least, most, false)
}

const MARKS = 6

/** Returns round tick values: powers of two for bytes, else multiples of 1, 2 or 5. */
function valueMarks(low: number, high: number, { kind }: Measure): number[] {
  const least = (high - low) / MARKS
  const ten = 10 ** Math.floor(Math.log10(least))
  const step =
    kind === 'bytes' && least >= 1
      ? 2 ** Math.ceil(Math.log2(least))
      : ([1, 2, 5, 10].find((times) => times * ten >= least) ?? 10) * ten
  const first = Math.ceil(low / step - 1e-9)
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step)
}

/** Maximum number of time labels. */
const TIMES = 8

interface Stroke {
  readonly color: string
  readonly dash: readonly number[] | undefined
}

/** Draws the area between each column and the one below it. */
export const stackMarks: Marks = ({ times, columns, strokes, scales: { x, y, low } }) =>
  columns.flatMap((column, j) => {
    const fill = xml(strokes[j]!.color)
    return stretches(column).map((points) => {
      const place = (i: number, value: number): string => `${n(x(times[i]!))} ${n(y(value))}`
      const top = points.map((i) => place(i, column[i]!))
      const below = points.toReversed().map((i) => place(i, columns[j - 1]?.[i] ?? Math.max(0, low)))
      return `<path d="M${top.join('L')}L${below.join('L')}Z" fill="${fill}" fill-opacity="0.85"/>`
    })
  })

/** Returns the indexes of the values between gaps. */
function stretches(column: Column): number[][] {
  const found: number[][] = []
  let points: number[] = []
  for (const [i, value] of [...column, null].entries())
    if (value != null) points.push(i)
    else if (value === null) {
      if (points.length > 1) found.push(points)
      points = []
    }
  return found
}

const WIDEST_BAR = 60

/** Draws a bar for each sample, over the taller bars behind it. */
export const barMarks: Marks = ({ times, columns, strokes, scales: { x, y, low } }) => {
  let gap = PLOT_WIDTH
  for (let i = 1; i < times.length; i++) gap = Math.min(gap, x(times[i]!) - x(times[i - 1]!))
  const width = Math.max(1, Math.min(WIDEST_BAR, 0.8 * gap))
  const base = y(Math.max(0, low))
  return columns.toReversed().flatMap((column, j) => {
    const { color } = strokes[columns.length - 1 - j]!
    return column.flatMap((value, i) => {
      if (value == null) return []
      const top = Math.min(base, y(value))
      return rect(x(times[i]!) - width / 2, top, width, Math.abs(base - y(value)), color)
    })
  })
}
