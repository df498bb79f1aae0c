/** The rows of a table: an instance each, with the newest value of each column. */
import type { ChartLine } from '../data/chart-data.ts'

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
