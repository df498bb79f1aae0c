/** Many lines at once: a row each, time to the right, values as colour. Drawn on a canvas. */
import type { ChartData } from '../data/chart-data.ts'
import { firstAtOrAfter } from '../data/line.ts'
import { resolveColor } from '../theme.ts'
import type { Frame } from '../time/control.ts'

/** The limits of the colours: those of the chart, or what the values need. */
export function heatLimits(data: ChartData): readonly [number, number] {
  if (data.limits !== undefined) return data.limits
  let high = 0
  let low = 0
  for (const { values } of data.lines)
    for (const value of values)
      if (value != null) {
        if (value > high) high = value
        if (value < low) low = value
      }
  return [low, high > low ? high : low + 1]
}

/** Pixels that a canvas takes on the page. */
function roomOf({ clientWidth, clientHeight }: HTMLCanvasElement): readonly [number, number] {
  const pixels = (length: number): number => Math.max(1, Math.round(length * devicePixelRatio))
  return [pixels(clientWidth), pixels(clientHeight)]
}

/** Has the canvas as many pixels as it takes on the page? */
export function fits(canvas: HTMLCanvasElement): boolean {
  const [width, height] = roomOf(canvas)
  return canvas.width === width && canvas.height === height
}

/** Draws the rows over the whole canvas. Each value fills the time since the one before; neighbours of one colour are one field. */
export function drawHeat(
  canvas: HTMLCanvasElement,
  data: ChartData,
  frame: Frame,
  [low, high]: readonly [number, number],
): void {
  const ratio = devicePixelRatio
  const [width, height] = roomOf(canvas)
  if (!fits(canvas)) {
    canvas.width = width
    canvas.height = height
  }
  const context = canvas.getContext('2d')
  if (context === null) return
  context.clearRect(0, 0, width, height)
  const colors = heatColors()
  const rowHeight = height / Math.max(1, data.lines.length)
  const toX = (time: number): number => ((time - frame.from) / (frame.to - frame.from)) * width
  const gap = rowHeight > 6 * ratio ? ratio : 0
  for (const [row, { values }] of data.lines.entries()) {
    const top = row * rowHeight
    const colorOf = (value: number | null | undefined): string | undefined => {
      if (value == null) return undefined
      const share = Math.min(1, Math.max(0, (value - low) / (high - low)))
      return colors[Math.round(share * (colors.length - 1))]!
    }
    let first = 0
    for (let i = 0; i < values.length; i++) {
      const color = colorOf(values[i])
      if (i + 1 < values.length && color === colorOf(values[i + 1])) continue
      if (color !== undefined) {
        const from = toX(data.times[Math.max(0, first - 1)]!)
        const to = toX(data.times[i]!)
        context.fillStyle = color
        // A little more than the width: between neighbours the background would shine through.
        context.fillRect(from, top, Math.max(ratio, to - from + 0.5), rowHeight - gap)
      }
      first = i + 1
    }
  }
}

/** From the colour of nothing to that of the limit, in steps that are told apart. */
function heatColors(): string[] {
  const low = channelsOf(resolveColor('var(--heat-low)'))
  const middle = channelsOf(resolveColor('var(--heat-middle)'))
  const high = channelsOf(resolveColor('var(--heat-high)'))
  return Array.from({ length: 65 }, (_, i) => {
    const [from, to, share] = i <= 32 ? [low, middle, i / 32] : [middle, high, (i - 32) / 32]
    return `rgb(${from.map((part, c) => Math.round(part + (to[c]! - part) * share)).join(' ')})`
  })
}

function channelsOf(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16)
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255]
}

/** The sample that holds at a place of the canvas, from 0 to 1 each way; nothing outside of the values. */
export function heatAt(
  data: ChartData,
  frame: Frame,
  x: number,
  y: number,
): { readonly row: number; readonly index: number } | undefined {
  const time = frame.from + x * (frame.to - frame.from)
  const row = Math.floor(y * data.lines.length)
  const index = firstAtOrAfter(data.times, time)
  return index === data.times.length || row < 0 || row >= data.lines.length ? undefined : { row, index }
}
