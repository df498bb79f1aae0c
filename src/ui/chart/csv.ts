/** Charts as comma separated values: what is seen, in base units, for spreadsheets and programs. */
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { momentText, zoneName } from '../time/words.ts'
import type { Measure } from '../view/measure.ts'
import type { Chart } from '../view/view.ts'
import * as drawings from './drawings.ts'
import { kindOf } from './kinds/registry.ts'
import type { List, ListColumn } from './table-rows.ts'

/**
 * A row a moment (in the zone, '' for the reader's own) and a column a line, or three where values are means of many; of a list a row an
 * instance. Lines that are `hidden` are left out; where there is no value a cell is empty.
 */
export function toCsv(chart: Chart, data: ChartData, hidden: ReadonlySet<string>, zone: string): string {
  const list = kindOf(chart.style).list?.(chart, data, drawings)
  const rows = list === undefined ? momentRows(data, hidden, zone) : listRows(list)
  const text = rows.map((row) => `${row.join(',')}\n`).join('')
  // Without the mark some spreadsheets take other letters than those of ASCII for something else.
  return /[\u0080-\uffff]/.test(text) ? `\uFEFF${text}` : text
}

function momentRows(data: ChartData, hidden: ReadonlySet<string>, zone: string): string[][] {
  const columns = data.lines.filter(({ key }) => !hidden.has(key)).flatMap(columnsOf)
  const name = zoneName(zone)
  const head = [`time (${name})`, ...columns.map(({ label }) => withUnit(label, data.measure))]
  const rows = [head.map(cell)]
  const isWhole = data.times.every((time) => Number.isInteger(time))
  for (const [i, time] of data.times.entries())
    rows.push([momentOf(time, zone, isWhole), ...columns.map(({ values }) => numberCell(values[i]))])
  return rows
}

type Column = Pick<ChartLine, 'label' | 'values'>

/** The values of a line; of means also what was least and most of what each stands for. */
function columnsOf({ label, values, low, high }: ChartLine): readonly Column[] {
  if (low === undefined || high === undefined) return [{ label, values }]
  return [
    { label: `${label} min`, values: low },
    { label: `${label} mean`, values },
    { label: `${label} max`, values: high },
  ]
}

function listRows({ columns, rows }: List): string[][] {
  const head = ['instance', ...columns.map(({ title, measure }) => withUnit(title, measure))]
  return [
    head.map(cell),
    ...rows.map(({ instance, values }) => [
      cell(instance),
      ...columns.map((column, i) => numberCell(inBase(column, values[i]))),
    ]),
  ]
}

const inBase = ({ factor }: ListColumn, value: number | null | undefined): number | null | undefined =>
  value == null ? value : value * factor

/** Dates as spreadsheets read them: without a letter between date and time. */
function momentOf(time: number, zone: string, isWhole: boolean): string {
  const millis = Math.round(1000 * time)
  const text = momentText(Math.floor(millis / 1000), zone)
  return isWhole ? text : `${text}.${String(((millis % 1000) + 1000) % 1000).padStart(3, '0')}`
}

function withUnit(label: string, measure: Measure): string {
  const unit = baseUnit(measure)
  return unit === '' ? label : `${label} (${unit})`
}

const numberCell = (value: ChartLine['values'][number]): string => (value == null ? '' : String(value))

/** A text that no spreadsheet takes for a formula, and every one for one cell. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The base unit as text, for whoever has the number alone. */
function baseUnit({ kind, suffix }: Measure): string {
  switch (kind) {
    case 'share':
      return '1 is 100 %'
    case 'seconds':
      return 's'
    case 'bytes':
      return `B${suffix}`
    default:
      return suffix.trim()
  }
}
