/** Heat maps on a canvas: a row for each line, time to the right, values as colours. */
import { useEffect, useMemo } from 'preact/hooks'
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { firstAtOrAfter, sampleFrom } from '../data/line.ts'
import { resolveColor } from '../theme.ts'
import type { Frame } from '../time/control.ts'
import { type Step, sampleBy } from './reading.ts'
import type { SharedScale } from './shared-scale.ts'

/** Returns the range of the colour scale: the limits of the chart, else the range of the values. */
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

/** Returns the position of a value between two limits, from 0 to 1. */
export function shareOf(value: number, [low, high]: readonly [number, number]): number {
  return Math.min(1, Math.max(0, (value - low) / (high - low)))
}

/** Returns the size of a canvas on the page, in pixels. */
function roomOf({ clientWidth, clientHeight }: HTMLCanvasElement): readonly [number, number] {
  const pixels = (length: number): number => Math.max(1, Math.round(length * devicePixelRatio))
  return [pixels(clientWidth), pixels(clientHeight)]
}

/** Checks whether the resolution of a canvas matches its size on the page. */
export function fits(canvas: HTMLCanvasElement): boolean {
  const [width, height] = roomOf(canvas)
  return canvas.width === width && canvas.height === height
}

/** Draws all rows over the whole canvas. */
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
      // Slightly wider, so that the background does not show between neighbours.
      context.fillRect(toX(from), top, Math.max(ratio, toX(to) - toX(from) + 0.5), rowHeight - gap)
    }
  }
}

/** A time span in which a row has one colour. */
export interface HeatRun {
  readonly from: number
  readonly to: number
  /** Index of the colour; 0 is the low end. */
  readonly shade: number
}

/**
 * Returns the coloured spans of a row, in one of `shades` colours. Each value fills the time since the previous value of its row,
 * except after a gap. Neighbouring spans of one colour are merged.
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

/** Colours of the scale, and the position of the middle one: below it, small shares of time differ too. The style sheet has the same. */
const [SHADES, MIDDLE] = [61, 18]

/** Returns the colour scale from low to high, in distinguishable steps. */
export function heatColors(color: (name: string) => string = resolveColor): string[] {
  const low = channelsOf(color('var(--heat-low)'))
  const middle = channelsOf(color('var(--heat-middle)'))
  const high = channelsOf(color('var(--heat-high)'))
  return Array.from({ length: SHADES }, (_, i) => {
    const [from, to, share] =
      i <= MIDDLE ? [low, middle, i / MIDDLE] : [middle, high, (i - MIDDLE) / (SHADES - 1 - MIDDLE)]
    return `rgb(${from.map((part, c) => Math.round(part + (to[c]! - part) * share)).join(' ')})`
  })
}

function channelsOf(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16)
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255]
}

/** A sample of a row, by the index of its time. */
export interface HeatPlace {
  readonly row: number
  readonly index: number
}

/** A line at a time. Indices of rows and samples change when instances come and when samples are aggregated anew. */
export interface HeatReading {
  /** Key of the line. */
  readonly key: string
  readonly time: number
}

type HeatData = Pick<ChartData, 'times' | 'lines' | 'frame'>

/** Returns the reading at a canvas position (0 to 1 on each axis); undefined outside of the values. */
export function heatAt(data: ChartData, frame: Frame, x: number, y: number): HeatReading | undefined {
  const time = frame.from + x * (frame.to - frame.from)
  const line = data.lines[Math.floor(y * data.lines.length)]
  if (line === undefined) return undefined
  const { key, values } = line
  const index = sampleDrawnAt(data, values, time)
  // A value fills the time since its predecessor, so the first value of a row or after a gap fills none.
  const before = sampleFrom(values, index - 1, -1)
  return values[index] != null && values[before] != null ? { key, time: data.times[index]! } : undefined
}

/** Returns the sample of a reading, which may have been made with other data; undefined if the line has ended. */
export function heatSample(data: HeatData, { key, time }: HeatReading): HeatPlace | undefined {
  const row = data.lines.findIndex((one) => one.key === key)
  const line = data.lines[row]
  return line && { row, index: sampleDrawnAt(data, line.values, time) }
}

/** Returns the index of the first sample of a row at or after a time. Rows need not have a sample at every time of the chart. */
function sampleDrawnAt({ times }: HeatData, values: ChartLine['values'], time: number): number {
  return sampleFrom(values, firstAtOrAfter(times, time), 1)
}

/**
 * Returns the sample that a step moves to; without `at`, from the time `start` in the first row, or else its newest. In a row without
 * samples it is the same time.
 */
export function heatMove(
  data: HeatData,
  at: HeatReading | undefined,
  [rows, samples]: Step,
  start?: number,
): HeatReading | undefined {
  const from = at && heatSample(data, at)
  const row = from === undefined ? 0 : Math.max(0, from.row + rows)
  const line = data.lines[Math.min(data.lines.length - 1, row)]
  if (line === undefined) return undefined
  const { key, values } = line
  const shown = from && data.times[from.index]
  // Rows need not have samples at the same times.
  const index = sampleBy(data, (i) => values[i] != null, shown ?? at?.time ?? start, samples)
  const time = index === undefined ? at?.time : data.times[index]
  return time === undefined ? undefined : { key, time }
}

/** Returns the limits of a chart, widened to those of its shared `scale`. */
export function useLimits(
  id: string,
  data: ChartData,
  scale: SharedScale | undefined,
): readonly [number, number] {
  const own = useMemo(() => heatLimits(data), [data])
  useEffect(() => () => scale?.drop(id), [scale, id])
  if (scale === undefined || data.limits !== undefined) return own
  scale.version // subscribes to changes by other charts
  return scale.include(id, data.measure, own)
}
