/**
 * Stacked lines. They have no bands from minimum to maximum: the extremes of the parts need not coincide, so they do not add up, and
 * each band would cover the part above it.
 */
import type { ChartData } from '../data/chart-data.ts'
import { held } from '../data/line.ts'

/** How lines are stacked: as sums, or as shares of the total. */
export type Stacking = 'sum' | 'share'

type Column = readonly (number | null | undefined)[]

/** The data that stacking needs. */
export type StackData = Pick<ChartData, 'times' | 'rest'> & {
  readonly lines: readonly Pick<ChartData['lines'][number], 'key' | 'plot' | 'values'>[]
}

/**
 * Returns the columns of the lines not in `hidden`: stacked on the previous ones, or as shares of the total. Unknown values add
 * nothing; where all are unknown, or all of a plot for a while, or a line ends between the samples of all, there is a gap. Without
 * `stacking` columns are unchanged.
 */
export function drawnColumns(
  data: StackData,
  hidden: ReadonlySet<string>,
  stacking: Stacking | undefined,
): Column[] {
  const lines = data.lines.filter(({ key }) => !hidden.has(key))
  const shown = lines.map(({ values }) => values)
  if (stacking === undefined) return shown
  const wholes = stacking === 'share' ? totalsOf(data) : undefined
  const { times } = data
  const full = shown.map((values) => held(values, times))
  // An index that only ends a line is not a measurement; drawing it would make the part drop to zero.
  const isEndOnly = (i: number): boolean =>
    shown.some((values) => values[i] === null) && data.lines.every(({ values }) => values[i] == null)
  const isKnown = times.map((_, i) => !isEndOnly(i) && full.some((column) => column[i] !== null))
  // Without a part that was there before and is there later, the sum would drop although nothing happened.
  for (const plot of new Set(lines.map((line) => line.plot))) {
    const own = full.filter((_, n) => lines[n]!.plot === plot)
    const has = times.map((_, i) => own.some((column) => column[i] !== null))
    for (let i = has.indexOf(true), end = has.lastIndexOf(true); i < end; i++) if (!has[i]) isKnown[i] = false
  }
  const sums = new Float64Array(times.length)
  return full.map((column) =>
    column.map((value, i) => {
      if (!isKnown[i]) return null
      sums[i]! += value ?? 0
      if (wholes === undefined) return sums[i]!
      const whole = wholes[i]!
      return whole !== null && whole > 0 ? sums[i]! / whole : null
    }),
  )
}

const known = new WeakMap<StackData['lines'], readonly (number | null)[]>()

/**
 * Returns the totals of which shares are computed: the sum of all lines at each sample, including hidden lines and those too small
 * to draw. Null if a metric has no value at all, as the total is then unknown.
 */
export function totalsOf({ times, lines, rest = [] }: StackData): readonly (number | null)[] {
  const before = known.get(lines)
  if (before !== undefined) return before
  const byPlot = new Map<unknown, (number | null)[][]>()
  for (const { plot, values } of [...lines, ...rest]) {
    const columns = byPlot.get(plot) ?? []
    columns.push(held(values, times))
    byPlot.set(plot, columns)
  }
  const plots = [...byPlot.values()]
  const wholes = times.map((_, i) => {
    let whole: number | null = plots.length === 0 ? null : 0
    for (const columns of plots) {
      let part: number | null = null
      for (const column of columns) if (column[i] !== null) part = (part ?? 0) + column[i]!
      whole = whole === null || part === null ? null : whole + part
    }
    return whole
  })
  known.set(lines, wholes)
  return wholes
}
