/** Values as a sortable table: a row for each instance, a column for each metric. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import type { ChartLine } from '../data/chart-data.ts'
import { showValue } from '../view/measure.ts'
import type { PlainUnit } from '../view/view.ts'
import { oldText } from './age.tsx'
import type { ViewProps } from './drawn.ts'
import { cellMeasure, MAX_ROWS, rowsOf, type TableRow } from './table-rows.ts'

/** Renders the newest value of each line. */
export function TableView({ chart, data }: ViewProps): ComponentChild {
  const order = useSignal<{ readonly column: number; readonly isUp: boolean }>({ column: 0, isUp: false })
  const filter = useSignal('')
  const columns = chart.plots
    .map((plot) => ({ plot, lines: data.lines.filter((line) => line.plot === plot) }))
    .filter(({ plot, lines }) => lines.length > 0 || plot.optional !== true)
  const olds = columns.map(({ lines }) => oldText(data, lines))
  const { column, isUp } = order.value
  const wanted = filter.value.toLowerCase()
  const all = rowsOf(columns.map(({ lines }) => lines)).filter(({ instance, name }) =>
    `${name} ${instance}`.toLowerCase().includes(wanted),
  )
  all.sort((a, b) => (isUp ? 1 : -1) * compare(a, b, column))
  const sortBy = (which: number) => (): void => {
    order.value = { column: which, isUp: order.value.column === which ? !order.value.isUp : which < 0 }
  }
  const sortOf = (which: number): 'ascending' | 'descending' | 'none' =>
    which !== column ? 'none' : isUp ? 'ascending' : 'descending'
  return (
    <div class="table">
      <input
        type="search"
        placeholder="Filter"
        aria-label={`Filter ${chart.title}`}
        value={filter.value}
        onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
      />
      <div class="table-scroll">
        <table>
          <thead>
            <tr>
              <th aria-sort={sortOf(-1)}>
                <button type="button" onClick={sortBy(-1)}>
                  Instance
                </button>
              </th>
              {columns.map(({ plot }, i) => (
                <th key={i} aria-sort={sortOf(i)} class="number">
                  <button type="button" title={plot.expr ?? plot.metric} onClick={sortBy(i)}>
                    {data.heads.get(plot)}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all.slice(0, MAX_ROWS).map(({ instance, name, values }) => (
              <tr key={instance}>
                <th scope="row" title={instance}>
                  {name}
                </th>
                {columns.map(({ lines }, i) => (
                  <td key={i} class={`number${olds[i] === undefined ? '' : ' old'}`} title={olds[i]}>
                    {shownIn(lines[0], values[i] ?? null, chart.unit)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {all.length > MAX_ROWS && (
        <p class="more">{all.length - MAX_ROWS} more rows; filter or sort to see them</p>
      )}
    </div>
  )
}

function shownIn(line: ChartLine | undefined, value: number | null, unit: PlainUnit | undefined): string {
  if (line === undefined || value === null) return '–'
  const measure = cellMeasure(line, unit)
  return showValue(measure, value * measure.factor)
}

function compare(a: TableRow, b: TableRow, column: number): number {
  if (column < 0) return a.name < b.name ? -1 : 1
  // Ties and missing values are ordered by the columns that follow.
  for (let at = column; at < a.values.length; at++) {
    const difference = (a.values[at] ?? -Infinity) - (b.values[at] ?? -Infinity)
    if (difference < 0 || difference > 0) return difference
  }
  return 0
}
