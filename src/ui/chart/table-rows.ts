/** Rows of tables: one for each instance, with the newest value of each column. */
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { asShare, type Measure, measureOf } from '../view/measure.ts'
import type { Chart, PlainUnit, Plot } from '../view/view.ts'

/** Maximum number of rows on the page and in images. */
export const MAX_ROWS = 200

export interface TableRow {
  readonly instance: string
  /** Name of the instance for users. */
  readonly name: string
  readonly values: readonly (number | null)[]
}

/** Returns the rows of all instances with a value in the newest sample of some column; instances that have ended get no row. */
export function rowsOf(columns: readonly (readonly ChartLine[])[]): TableRow[] {
  const rows = new Map<string, { readonly name: string; readonly values: (number | null)[] }>()
  for (const [i, lines] of columns.entries()) {
    const newest = newestOf(lines)
    for (const { instance, name, values } of lines) {
      const key = instance ?? ''
      let row = rows.get(key)
      if (row === undefined) {
        row = { name: name ?? key, values: columns.map(() => null) }
        rows.set(key, row)
      }
      row.values[i] = values[newest] ?? null
    }
  }
  return Array.from(rows, ([instance, row]) => ({ instance, ...row })).filter(({ values }) =>
    values.some((value) => value !== null),
  )
}

/** Returns the index of a column's newest sample; columns of other sources may have later ones. */
function newestOf(lines: readonly ChartLine[]): number {
  let newest = -1
  for (const { values } of lines)
    newest = Math.max(
      newest,
      values.findLastIndex((value) => value !== undefined),
    )
  return newest
}

/** A column: one plot. */
export interface ListColumn {
  readonly plot: Plot
  readonly title: string
  readonly measure: Measure
  /** Factor from a row's value to the base unit of the measure. */
  readonly factor: number
}

/** Contents of a table or bar grid. */
export interface List {
  readonly columns: readonly ListColumn[]
  readonly rows: readonly TableRow[]
}

/** Returns the plots that have lines. */
function plotsOf({ plots }: Chart, { lines }: ChartData): readonly PlotLines[] {
  return plots
    .map((plot) => ({ plot, lines: lines.filter((line) => line.plot === plot) }))
    .filter((column) => column.lines.length > 0)
}

interface PlotLines {
  readonly plot: Plot
  readonly lines: readonly ChartLine[]
}

/** Returns the rows of a table. Each column has its own measure; rows are sorted by the first column, largest first. */
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

/** Returns the rows of a bar grid, whose values share an axis and are in base units already. */
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
      row.instance === '' ? { ...row, instance: rowName(columns), name: rowName(columns) } : row,
    ),
  }
}

/** Returns the name of the single row of metrics without instances. */
function rowName(columns: readonly PlotLines[]): string {
  return columns.length > 1 ? 'all' : columns[0]!.lines[0]!.label
}

/** Returns the measure of a table cell, as each column has its own. */
export function cellMeasure({ info, plot }: ChartLine, unit: PlainUnit | undefined): Measure {
  return asShare(measureOf(info.units, info.sem), plot.unit ?? unit)
}
