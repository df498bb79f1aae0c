/** Many lines at once: a row each, time to the right, values as colour. Drawn on a canvas. */
import { useEffect, useMemo } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { firstAtOrAfter, sampleFrom } from '../data/line.ts'
import { resolveColor } from '../theme.ts'
import type { Frame } from '../time/control.ts'
import type { SharedScale } from './shared-scale.ts'

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

/** Where a value is between two limits, from 0 to 1. */
export function shareOf(value: number, [low, high]: readonly [number, number]): number {
  return Math.min(1, Math.max(0, (value - low) / (high - low)))
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

/** Draws the rows over the whole canvas. */
export function drawHeat(
  canvas: HTMLCanvasElement,
  data: ChartData,
  frame: Frame,
  limits: readonly [number, number],
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
    for (const { from, to, shade } of heatRuns(data.times, values, limits, colors.length)) {
      context.fillStyle = colors[shade]!
      // A little more than the width: between neighbours the background would shine through.
      context.fillRect(toX(from), top, Math.max(ratio, toX(to) - toX(from) + 0.5), rowHeight - gap)
    }
  }
}

/** A span of time in which a row has one colour. */
export interface HeatRun {
  readonly from: number
  readonly to: number
  /** From 0, of the limit's low end. */
  readonly shade: number
}

/**
 * The colours of a row, of `shades` that there are. Each value fills the time since the one before, of the same row; after a gap,
 * none. Neighbours of one colour are one.
 */
export function heatRuns(
  times: readonly number[],
  values: readonly (number | null | undefined)[],
  limits: readonly [number, number],
  shades: number,
): HeatRun[] {
  const runs: { from: number; to: number; shade: number }[] = []
  let open: (typeof runs)[number] | undefined
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (value === undefined) continue
    if (value === null) {
      open = undefined
      continue
    }
    const to = times[i]!
    const shade = Math.round(shareOf(value, limits) * (shades - 1))
    if (open?.shade === shade) open.to = to
    else {
      open = { from: open?.to ?? to, to, shade }
      runs.push(open)
    }
  }
  return runs
}

/** From the colour of nothing to that of the limit, in steps that are told apart. */
export function heatColors(color: (name: string) => string = resolveColor): string[] {
  const low = channelsOf(color('var(--heat-low)'))
  const middle = channelsOf(color('var(--heat-middle)'))
  const high = channelsOf(color('var(--heat-high)'))
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
  const values = data.lines[row]?.values
  if (values === undefined) return undefined
  // Where other rows have a sample this one need not.
  const index = sampleFrom(values, firstAtOrAfter(data.times, time), 1)
  // A value fills the time since the one before it: the first of a row, and of what follows a gap, none.
  const before = sampleFrom(values, index - 1, -1)
  return values[index] != null && values[before] != null ? { row, index } : undefined
}

/** Returns the limits of a chart, wide enough for those of its `scale`. */
export function useLimits(
  id: string,
  data: ChartData,
  scale: SharedScale | undefined,
): readonly [number, number] {
  const own = useMemo(() => heatLimits(data), [data])
  useEffect(() => () => scale?.drop(id), [scale, id])
  if (scale === undefined || data.limits !== undefined) return own
  scale.version // drawn again when another chart needs more
  return scale.include(id, data.measure, own)
}
