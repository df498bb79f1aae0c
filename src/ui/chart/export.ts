/** Charts as files: CSV, SVG and PNG. */
import type { ChartData } from '../data/chart-data.ts'
import { resolveColor } from '../theme.ts'
import type { Frame } from '../time/control.ts'
import { momentText } from '../time/words.ts'
import { showNumber, stepFor } from '../view/measure.ts'
import type { Chart } from '../view/view.ts'
import { heatLimits } from './heat-map.ts'
import { lineColor, lineDash, readingOf } from './line-look.ts'
import { drawnColumns, isStacked } from './stack.ts'

/** Hands a file to the browser. */
export function download(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** A name for a file of a chart. */
export function fileName(title: string, suffix: string): string {
  return `${title.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '') || 'chart'}.${suffix}`
}

const csvCell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** The values of a chart as comma separated values: a row a moment (ISO 8601, UTC), a column a line, in base units. */
export function toCsv({ times, lines }: ChartData): string {
  const rows = [['time', ...lines.map(({ label }) => label)].map(csvCell).join(',')]
  for (const [i, time] of times.entries()) {
    const cells = lines.map(({ values }) => (values[i] == null ? '' : String(values[i])))
    rows.push([new Date(time * 1000).toISOString(), ...cells].join(','))
  }
  return `${rows.join('\n')}\n`
}

const WIDTH = 900
const HEIGHT = 420
const LEFT = 90
const TOP = 44
const BOTTOM = 36
const LEGEND_LINE = 18

const xml = (text: string): string => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)

/** A chart as a picture that can be scaled; its colours are those of the page now. */
export function toSvg(chart: Chart, title: string, data: ChartData, frame: Frame, zone: string): string {
  const plotWidth = WIDTH - LEFT - 16
  const plotHeight = HEIGHT - TOP - BOTTOM
  const color = (name: string): string => resolveColor(`var(--${name})`)
  const legendRows = chart.legend ? Math.ceil(data.lines.length / 4) : 0
  const height = HEIGHT + legendRows * LEGEND_LINE + 8
  const columns = drawnColumns(
    data.lines.map(({ values }) => values),
    chart.style,
  )
  const [low, high] =
    chart.style === 'utilization'
      ? [0, 1]
      : heatLimits({ ...data, lines: data.lines.map((line, i) => ({ ...line, values: columns[i]! })) })
  const measure = chart.style === 'utilization' ? { ...data.measure, kind: 'share' as const } : data.measure
  const x = (time: number): number => LEFT + ((time - frame.from) / (frame.to - frame.from)) * plotWidth
  const y = (value: number): number => TOP + plotHeight - ((value - low) / (high - low)) * plotHeight
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="${color('surface')}"/>`,
    `<text x="16" y="26" font-size="16" fill="${color('text')}">${xml(title)}</text>`,
    `<clipPath id="p"><rect x="${LEFT}" y="${TOP}" width="${plotWidth}" height="${plotHeight}"/></clipPath>`,
  ]
  const { divisor, unit } = stepFor(measure, Math.max(Math.abs(low), Math.abs(high)))
  for (let i = 0; i <= 4; i++) {
    const value = low + ((high - low) * i) / 4
    const at = y(value).toFixed(1)
    parts.push(
      `<path d="M${LEFT} ${at}H${WIDTH - 16}" stroke="${color('grid')}"/>`,
      `<text x="${LEFT - 8}" y="${at}" dy="4" text-anchor="end" fill="${color('faint')}">${showNumber(value / divisor)} ${xml(unit)}</text>`,
    )
  }
  for (let i = 0; i <= 4; i++) {
    const time = frame.from + ((frame.to - frame.from) * i) / 4
    parts.push(
      `<text x="${x(time).toFixed(1)}" y="${HEIGHT - 12}" text-anchor="middle" fill="${color('faint')}">${momentText(time, zone).slice(frame.to - frame.from < 86_400 ? 11 : 0)}</text>`,
    )
  }
  const isFilled = chart.style !== 'plot'
  const onEachOther = isStacked(chart.style)
  const order = data.lines.map((_, i) => (onEachOther ? data.lines.length - 1 - i : i))
  parts.push('<g clip-path="url(#p)">')
  for (const i of order) {
    const stroke = resolveColor(lineColor(data, i))
    const below = onEachOther && i > 0 ? columns[i - 1] : undefined
    for (const path of pathsOf(
      data.times,
      columns[i]!,
      isFilled ? below : undefined,
      x,
      y,
      isFilled ? y(Math.max(0, low)) : undefined,
    ))
      parts.push(
        isFilled
          ? `<path d="${path}" fill="${stroke}" fill-opacity="${onEachOther ? 0.6 : 0.2}" stroke="${stroke}"/>`
          : `<path d="${path}" fill="none" stroke="${stroke}" stroke-width="1.5" stroke-dasharray="${lineDash(data, i)?.join(' ') ?? 'none'}"/>`,
      )
  }
  parts.push('</g>')
  if (chart.legend)
    for (const [i, line] of data.lines.entries()) {
      const left = LEFT + (i % 4) * (plotWidth / 4)
      const top = HEIGHT + Math.floor(i / 4) * LEGEND_LINE
      parts.push(
        `<rect x="${left}" y="${top - 9}" width="10" height="10" fill="${resolveColor(lineColor(data, i))}"/>`,
        `<text x="${left + 15}" y="${top}" fill="${color('text')}">${xml(line.label)} ${xml(
          readingOf(data, chart.style, i),
        )}</text>`,
      )
    }
  return `${parts.join('\n')}\n</svg>\n`
}

/** A path for each stretch without a gap. With a base it is closed: along `below`, or at `base`. */
function pathsOf(
  times: readonly number[],
  values: readonly (number | null | undefined)[],
  below: readonly (number | null | undefined)[] | undefined,
  x: (time: number) => number,
  y: (value: number) => number,
  base: number | undefined,
): string[] {
  const paths: string[] = []
  let points: number[] = []
  const finish = (): void => {
    if (points.length > 1) {
      const place = (i: number, value: number): string => `${x(times[i]!).toFixed(1)} ${value.toFixed(1)}`
      let path = `M${points.map((i) => place(i, y(values[i]!))).join('L')}`
      if (base !== undefined)
        path += `L${points
          .toReversed()
          .map((i) => place(i, below?.[i] == null ? base : y(below[i]!)))
          .join('L')}Z`
      paths.push(path)
    }
    points = []
  }
  for (const [i, value] of values.entries())
    if (value === null) finish()
    else if (value !== undefined) points.push(i)
  finish()
  return paths
}

/** A chart as it stands on the page: its canvas, below its title and above its legend. */
export async function toPng(
  chart: Chart,
  title: string,
  data: ChartData,
  drawn: HTMLCanvasElement,
): Promise<Blob> {
  const ratio = drawn.width / Math.max(1, drawn.clientWidth)
  const rows = chart.legend ? data.lines.length : 0
  const canvas = document.createElement('canvas')
  canvas.width = drawn.width
  canvas.height = drawn.height + ratio * (36 + rows * LEGEND_LINE + 8)
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('This browser draws no pictures')
  context.fillStyle = resolveColor('var(--surface)')
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = resolveColor('var(--text)')
  context.font = `${16 * ratio}px system-ui, sans-serif`
  context.fillText(title, 12 * ratio, 24 * ratio)
  context.drawImage(drawn, 0, 36 * ratio)
  context.font = `${12 * ratio}px system-ui, sans-serif`
  for (let i = 0; i < rows; i++) {
    const top = drawn.height + ratio * (36 + 14 + i * LEGEND_LINE)
    context.fillStyle = resolveColor(lineColor(data, i))
    context.fillRect(16 * ratio, top - 9 * ratio, 10 * ratio, 10 * ratio)
    context.fillStyle = resolveColor('var(--text)')
    context.fillText(data.lines[i]!.label, 32 * ratio, top)
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob === null ? reject(new Error('The picture could not be made')) : resolve(blob),
    ),
  )
}
