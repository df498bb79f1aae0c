/** Order of the legend: lines of instances by value, those without activity folded away. */
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import type { Stacking } from './stack.ts'

/** Charts with fewer lines show all of them. */
const FEWEST = 5

/** Indexes of lines in the order of the legend. */
export interface LegendOrder {
  readonly shown: readonly number[]
  /** Lines that are zero over the whole window. */
  readonly idle: readonly number[]
}

/**
 * Returns the order of the lines: with several instances of a metric by their mean over the window, the largest first, since newest
 * values would make entries jump each second. Stacks, and lines that are named one by one, keep their order.
 */
export function legendOrder(data: ChartData, stacking: Stacking | undefined): LegendOrder {
  const { lines } = data
  const all = lines.map((_, i) => i)
  const plots = new Set(lines.map(({ plot }) => plot))
  if (stacking !== undefined || plots.size === lines.length) return { shown: all, idle: [] }
  const means = meansOf(data)
  const byMean = all.sort((a, b) => (means[b] ?? -Infinity) - (means[a] ?? -Infinity) || a - b)
  if (lines.length < FEWEST) return { shown: byMean, idle: [] }
  const isIdle = (i: number): boolean => means[i] === 0 && !lines[i]!.values.some(isActive)
  const active = byMean.filter((i) => !isIdle(i))
  // A legend that only counts lines would not name what the chart is about.
  const shown = active.length === 0 ? byMean.slice(0, 1) : active
  return { shown, idle: byMean.filter((i) => !shown.includes(i)) }
}

/** Returns the mean of each line over the window; undefined without a value. */
export function meansOf({ lines, times, frame }: ChartData): (number | undefined)[] {
  const isInside = times.map((at) => at >= frame.from && at <= frame.to)
  return lines.map(({ values }) => meanOf(values, isInside))
}

const isActive = (value: number | null | undefined): boolean => value != null && value !== 0

function meanOf(values: ChartLine['values'], isInside: readonly boolean[]): number | undefined {
  let [total, count] = [0, 0]
  for (const [i, value] of values.entries())
    if (value != null && isInside[i]) {
      total += value
      count++
    }
  return count === 0 ? undefined : total / count
}
