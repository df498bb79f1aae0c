/** The rows of a table: an instance each, with the newest value of each column. */
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { asShare, type Measure, measureOf } from '../view/measure.ts'
import type { Chart, PlainUnit, Plot } from '../view/view.ts'

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
  /** A table's have the largest value of the first column first. */
  readonly rows: readonly TableRow[]
}

/** The columns and rows of a list. */
export function listOf(chart: Chart, data: ChartData): List {
  const isTable = chart.style === 'table'
  const columns = chart.plots
    .map((plot) => ({ plot, lines: data.lines.filter((line) => line.plot === plot) }))
    .filter(({ lines }) => lines.length > 0)
  const found = rowsOf(columns.map(({ lines }) => lines))
  return {
    columns: columns.map(({ plot, lines }) => {
      const measure = isTable ? cellMeasure(lines[0]!, chart.unit) : data.measure
      // The values of a grid are in base units already: it has one axis.
      return { plot, title: data.heads.get(plot) ?? '', measure, factor: isTable ? measure.factor : 1 }
    }),
    rows: isTable
      ? found.sort((a, b) => (b.values[0] ?? -Infinity) - (a.values[0] ?? -Infinity) || 0)
      : found.map((row) => (row.instance === '' ? { ...row, instance: rowName(columns) } : row)),
  }
}

/** What stands for the one row of metrics without instances. */
function rowName(columns: readonly { readonly lines: readonly ChartLine[] }[]): string {
  return columns.length > 1 ? 'all' : columns[0]!.lines[0]!.label
}

/** The measure of a line in a table, where each column has its own. */
export function cellMeasure({ info, plot }: ChartLine, unit: PlainUnit | undefined): Measure {
  return asShare(measureOf(info.units, info.sem), plot.unit ?? unit)
}
