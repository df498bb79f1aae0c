/** The rows of a table: an instance each, with the newest value of each column. */
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { asShare, type Measure, measureOf } from '../view/measure.ts'
import type { Chart, PlainUnit, Plot } from '../view/view.ts'

/** Rows of a table on the page and in pictures: more would be slow, and too many to read. */
export const MOST_ROWS = 200

/** A row of a table. */
export interface TableRow {
  readonly instance: string
  readonly values: readonly (number | null)[]
}

/** Rows of what has a value in the newest sample of some column: of what has ended there is none. */
export function rowsOf(columns: readonly (readonly ChartLine[])[]): TableRow[] {
  const rows = new Map<string, (number | null)[]>()
  for (const [i, lines] of columns.entries()) {
    const newest = newestOf(lines)
    for (const { instance, values } of lines) {
      const key = instance ?? ''
      let row = rows.get(key)
      if (row === undefined) {
        row = columns.map(() => null)
        rows.set(key, row)
      }
      row[i] = values[newest] ?? null
    }
  }
  return Array.from(rows, ([instance, values]) => ({ instance, values })).filter(({ values }) =>
    values.some((value) => value !== null),
  )
}

/** Where the newest sample of a column is: another one, of another source say, may have a later one. */
function newestOf(lines: readonly ChartLine[]): number {
  let newest = -1
  for (const { values } of lines)
    newest = Math.max(
      newest,
      values.findLastIndex((value) => value !== undefined),
    )
  return newest
}

/** A column of a list: a plot. */
export interface ListColumn {
  readonly plot: Plot
  readonly title: string
  readonly measure: Measure
  /** A value of a row times this is in the measure's base unit. */
  readonly factor: number
}

/** Everything that a list shows. */
export interface List {
  readonly columns: readonly ListColumn[]
  readonly rows: readonly TableRow[]
}

/** The plots that have lines. */
function plotsOf({ plots }: Chart, { lines }: ChartData): readonly PlotLines[] {
  return plots
    .map((plot) => ({ plot, lines: lines.filter((line) => line.plot === plot) }))
    .filter((column) => column.lines.length > 0)
}

interface PlotLines {
  readonly plot: Plot
  readonly lines: readonly ChartLine[]
}

/** A table: each column has its own measure, and the largest value of the first one is on top. */
export function tableList(chart: Chart, data: ChartData): List {
  const columns = plotsOf(chart, data)
  return {
    columns: columns.map(({ plot, lines }) => {
      const measure = cellMeasure(lines[0]!, chart.unit)
      return { plot, title: data.heads.get(plot) ?? '', measure, factor: measure.factor }
    }),
    rows: rowsOf(columns.map(({ lines }) => lines)).sort(
      (a, b) => (b.values[0] ?? -Infinity) - (a.values[0] ?? -Infinity) || 0,
    ),
  }
}

/** A grid: one axis for all, whose base units values are in already. */
export function gridList(chart: Chart, data: ChartData): List {
  const columns = plotsOf(chart, data)
  return {
    columns: columns.map(({ plot }) => ({
      plot,
      title: data.heads.get(plot) ?? '',
      measure: data.measure,
      factor: 1,
    })),
    rows: rowsOf(columns.map(({ lines }) => lines)).map((row) =>
      row.instance === '' ? { ...row, instance: rowName(columns) } : row,
    ),
  }
}

/** What stands for the one row of metrics without instances. */
function rowName(columns: readonly PlotLines[]): string {
  return columns.length > 1 ? 'all' : columns[0]!.lines[0]!.label
}

/** The measure of a line in a table, where each column has its own. */
export function cellMeasure({ info, plot }: ChartLine, unit: PlainUnit | undefined): Measure {
  return asShare(measureOf(info.units, info.sem), plot.unit ?? unit)
}
