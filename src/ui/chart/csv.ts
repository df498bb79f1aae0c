/** Charts as CSV: the shown values in base units, for spreadsheets and programs. */
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { formatTime, zoneName } from '../time/format.ts'
import type { Measure } from '../view/measure.ts'
import type { Chart } from '../view/view.ts'
import * as drawings from './drawings.ts'
import { kindOf } from './kinds/registry.ts'
import type { List, ListColumn } from './table-rows.ts'

/**
 * Formats a chart as CSV. Charts over time have a row for each sample (times in `zone`, '' for the user's own) and a column for each
 * line, or three columns if the values are means; lists have a row for each instance. Lines in `hidden` are left out, and missing
 * values are empty cells.
 */
export function toCsv(chart: Chart, data: ChartData, hidden: ReadonlySet<string>, zone: string): string {
  const list = kindOf(chart.style).list?.(chart, data, drawings)
  const rows = list === undefined ? momentRows(data, hidden, zone) : listRows(list)
  const text = rows.map((row) => `${row.join(',')}\n`).join('')
  // Without a byte order mark some spreadsheets misread characters beyond ASCII.
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

/** Returns the columns of a line: the value, and for means also minimum and maximum. */
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
    ...rows.map(({ name, values }) => [
      cell(name),
      ...columns.map((column, i) => numberCell(inBase(column, values[i]))),
    ]),
  ]
}

const inBase = ({ factor }: ListColumn, value: number | null | undefined): number | null | undefined =>
  value == null ? value : value * factor

/** Formats a time for spreadsheets, which expect a space between date and time. */
function momentOf(time: number, zone: string, isWhole: boolean): string {
  const millis = Math.round(1000 * time)
  const text = formatTime(Math.floor(millis / 1000), zone)
  return isWhole ? text : `${text}.${String(((millis % 1000) + 1000) % 1000).padStart(3, '0')}`
}

function withUnit(label: string, measure: Measure): string {
  const unit = baseUnit(measure)
  return unit === '' ? label : `${label} (${unit})`
}

const numberCell = (value: ChartLine['values'][number]): string => (value == null ? '' : String(value))

/** Quotes a cell, and prevents spreadsheets from reading it as a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Returns the base unit, which a bare number in the file needs. */
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
