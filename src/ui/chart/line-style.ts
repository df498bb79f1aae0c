/** Colour, dash and value text of a line, the same on the page, in the legend and in files. */
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { sampleFrom } from '../data/line.ts'
import { PALETTE, paletteColor } from '../theme.ts'
import { showValue } from '../view/measure.ts'
import { hashOf } from '../view/view.ts'
import { type Stacking, totalsOf } from './stack.ts'

/** Returns the colour of a line. The same instance of several sources has one colour; dashes distinguish the sources. */
export function lineColor({ lines }: ChartData, i: number): string {
  const { plot } = lines[i]!
  // With several instances, all would get the colour of the plot.
  const sharesPlot = lines.some((line, other) => other !== i && line.plot === plot)
  if (plot.color !== undefined && !sharesPlot) return plot.color
  return paletteColor(slotsOf(lines).get(contentOf(lines[i]!))!)
}

const slots = new WeakMap<ChartData['lines'], ReadonlyMap<string, number>>()

/**
 * Returns the places of lines in the palette. An instance prefers the place that its name gives, so that it has one colour in all charts
 * and after a reload; if that is taken, the next free one. Metrics without instances take places in their order.
 */
function slotsOf(lines: ChartData['lines']): ReadonlyMap<string, number> {
  const known = slots.get(lines)
  if (known !== undefined) return known
  const found = new Map<string, number>()
  const metrics = new Set<string>()
  let taken = new Set<number>()
  for (const line of lines) {
    const content = contentOf(line)
    metrics.add(line.plot.metric)
    if (found.has(content)) continue
    if (taken.size === PALETTE) taken = new Set()
    const order = metrics.size - 1
    let slot = (line.instance === null ? found.size : hashOf(line.instance) + order) % PALETTE
    while (taken.has(slot)) slot = (slot + 1) % PALETTE
    taken.add(slot)
    found.set(content, slot)
  }
  slots.set(lines, found)
  return found
}

/** Identifies a line across sources, which may have different instances. */
const contentOf = ({ plot, instance }: ChartLine): string => `${plot.metric} ${instance ?? ''}`

/** Dash patterns, for sources after the first, and for lines whose colours others have. */
const DASHES: readonly (readonly number[])[] = [
  [6, 4],
  [2, 3],
  [10, 3, 2, 3],
]

/** Returns the dash pattern of a line; undefined for the first source and as long as colours are not used again. */
export function lineDash({ lines }: ChartData, i: number): readonly number[] | undefined {
  const round = Math.floor([...slotsOf(lines).keys()].indexOf(contentOf(lines[i]!)) / PALETTE)
  const at = sourceIndex(lines, i) + round
  return at === 0 ? undefined : DASHES[(at - 1) % DASHES.length]
}

/** Returns the index of the source of a line. */
function sourceIndex(lines: ChartData['lines'], i: number): number {
  const sources = new Set<string | undefined>()
  for (const { plot } of lines) {
    sources.add(plot.source)
    if (plot.source === lines[i]!.plot.source) break
  }
  return sources.size - 1
}

const NOTHING: ReadonlySet<string> = new Set()

/** Formats a line's value at a sample, by default the newest. In charts of shares it is the share of the total, unless the line is `hidden`. */
export function readingOf(
  data: ChartData,
  stacking: Stacking | undefined,
  i: number,
  at?: number,
  hidden: ReadonlySet<string> = NOTHING,
): string {
  const { values, key } = data.lines[i]!
  const index = at ?? newestIndex(data, values)
  const value = valueAt(values, index)
  if (stacking !== 'share' || value == null) return showValue(data.measure, value)
  if (hidden.has(key)) return showValue(data.measure, undefined)
  const whole = totalsOf(data)[index] ?? 0
  return showValue({ ...data.measure, kind: 'share' }, whole > 0 ? value / whole : undefined)
}

/** Returns the index of the newest value in the window; a later one only continues the line to the edge. */
export function newestIndex(data: ChartData, values: ChartLine['values']): number {
  const end = dataEnd(data)
  return values.findLastIndex((value, i) => value != null && data.times[i]! <= end)
}

/** Share of the window by which a host's clock may be ahead of the page's. */
const AHEAD = 1 / 20

/** Returns the end of the window, with some room for a host's clock. */
export function dataEnd({ frame: { from, to } }: ChartData): number {
  return to === Infinity ? to : to + AHEAD * (to - from)
}

/** Checks whether all values lie outside of the window. */
export function isElsewhere(data: ChartData): boolean {
  const { times, frame } = data
  return times.length > 0 && (times[0]! > dataEnd(data) || times.at(-1)! < frame.from)
}

/** Returns the value that holds at a sample index, at which only another line may have a sample. */
export function valueAt(values: ChartLine['values'], index: number): number | null | undefined {
  return values[sampleFrom(values, index, -1)]
}
