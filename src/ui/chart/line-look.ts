/** How one line of a chart looks, and what it reads: the same on the page, in its legend and in files. */
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { sampleFrom } from '../data/line.ts'
import { paletteColor } from '../theme.ts'
import { showValue } from '../view/measure.ts'
import { type Stacking, wholesOf } from './stack.ts'

/** The colour of a line. What is the same of several sources has the same colour: what tells it apart is the dash. */
export function lineColor({ lines }: ChartData, i: number): string {
  const { plot } = lines[i]!
  // Several instances of one plot would all have its colour.
  const sharesPlot = lines.some((line, other) => other !== i && line.plot === plot)
  if (plot.color !== undefined && !sharesPlot) return plot.color
  const before = new Set<string>()
  for (const line of lines) {
    if (contentOf(line) === contentOf(lines[i]!)) break
    before.add(contentOf(line))
  }
  return paletteColor(before.size)
}

/** Sources need not have the same instances. */
const contentOf = ({ plot, instance }: ChartLine): string => `${plot.metric} ${instance ?? ''}`

/** Lengths of strokes and gaps, a row for each source after the first. */
const DASHES: readonly (readonly number[])[] = [
  [6, 4],
  [2, 3],
  [10, 3, 2, 3],
]

/** The dash of a line; none for those of the first source. */
export function lineDash({ lines }: ChartData, i: number): readonly number[] | undefined {
  const at = sourceIndex(lines, i)
  return at === 0 ? undefined : DASHES[(at - 1) % DASHES.length]
}

/** Which of the chart's sources a line is of. */
function sourceIndex(lines: ChartData['lines'], i: number): number {
  const sources = new Set<string | undefined>()
  for (const { plot } of lines) {
    sources.add(plot.source)
    if (plot.source === lines[i]!.plot.source) break
  }
  return sources.size - 1
}

const NOTHING: ReadonlySet<string> = new Set()

/** What a line reads at a sample, or newest: in a chart of shares its share of all, unless it is `hidden`. */
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
  const whole = wholesOf(data)[index] ?? 0
  return showValue({ ...data.measure, kind: 'share' }, whole > 0 ? value / whole : undefined)
}

/** The newest value that is shown: one that follows is there for the line to lead to. */
export function newestIndex(data: ChartData, values: ChartLine['values']): number {
  const end = endOf(data)
  return values.findLastIndex((value, i) => value != null && data.times[i]! <= end)
}

/** Until when values count as shown: the clock of a host may be a little ahead of the page's. */
const AHEAD = 1 / 20

function endOf({ frame: { from, to } }: ChartData): number {
  return to === Infinity ? to : to + AHEAD * (to - from)
}

/** Are all of its values of another time than is shown? */
export function isElsewhere(data: ChartData): boolean {
  const { times, frame } = data
  return times.length > 0 && (times[0]! > endOf(data) || times.at(-1)! < frame.from)
}

/** The value that holds at a sample, which may be one of another line only. */
export function valueAt(values: ChartLine['values'], index: number): number | null | undefined {
  return values[sampleFrom(values, index, -1)]
}
