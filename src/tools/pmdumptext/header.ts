/** The heading rows of pmdumptext. */
import { type Column, columnName } from './columns.ts'
import { longUnits, numberText, shortUnits } from './format.ts'
import type { PmdumptextOptions } from './options.ts'

/** Returns all headings; `timeWidth` is the width of times, 0 without times. */
export function headings(
  columns: readonly Column[],
  wanted: PmdumptextOptions,
  timeWidth: number,
  isFirst: boolean,
): string {
  const listed = wanted.showsList && (isFirst || wanted.repeatsList) ? list(columns, wanted) : ''
  return listed + (wanted.isInteractive ? narrowRows : plainRows)(columns, wanted, timeWidth)
}

function list(columns: readonly Column[], { showsSource }: PmdumptextOptions): string {
  const lines = columns.map((column, i) => `[${`${i + 1}`.padStart(2)}] ${fullName(column, showsSource)}\n`)
  return `${lines.join('')}\n`
}

function fullName(column: Column, showsSource: boolean): string {
  return `${showsSource ? column.source.prefix : ''}${columnName(column)}`
}

/** Returns headings in full length, for programs. */
function plainRows(columns: readonly Column[], wanted: PmdumptextOptions, timeWidth: number): string {
  const { showsList, showsNames, showsSource, showsDivisors, showsUnits, delimiter, width, precision } =
    wanted
  const row = (label: string, text: (column: Column, i: number) => string): string =>
    `${[...(timeWidth > 0 ? [label] : []), ...columns.map(text)].join(delimiter)}\n`
  let rows = ''
  if (showsList) rows += row('', (_, i) => `${i + 1}`.padStart(width))
  if (showsNames || showsSource) rows += row('Time', (column) => fullName(column, showsSource))
  if (showsDivisors)
    rows += row('?', ({ divisor }) => numberText(divisor, wanted.notation, precision).padStart(width))
  if (showsUnits) rows += row('none', longUnits)
  return rows
}

/** Returns headings cut to the width of columns. */
function narrowRows(columns: readonly Column[], wanted: PmdumptextOptions, timeWidth: number): string {
  const { delimiter, width } = wanted
  const row = (label: string, text: (column: Column, i: number) => string, cut = width): string => {
    const cells = columns.map((column, i) => text(column, i).slice(0, cut).padStart(width))
    const first = timeWidth > 0 ? [label.slice(0, timeWidth).padStart(timeWidth)] : []
    return `${[...first, ...cells].join(delimiter)}\n`
  }
  let rows = ''
  if (wanted.showsList) rows += row('Column', (_, i) => `${i + 1}`)
  if (wanted.showsSource)
    rows += row('Source', ({ source: { context, name } }) => context.archive?.label.hostname ?? name)
  if (wanted.showsNames) {
    rows += row('Metric', ({ metric }) => lastPart(metric, width))
    if (columns.some(({ instance }) => instance !== undefined))
      rows += row('Inst', ({ instance }) => instance?.name ?? 'n/a')
  }
  if (wanted.showsDivisors)
    rows += row('Normal', ({ divisor }) => numberText(divisor, 'fixed', 0), Number.POSITIVE_INFINITY)
  if (wanted.showsUnits) rows += row('Units', shortUnits)
  return rows
}

/** Returns the end of a name, after a dot if possible. */
function lastPart(name: string, width: number): string {
  const end = name.slice(-width)
  if (end.length === name.length || name[name.length - width - 1] === '.') return end
  return end.slice(end.indexOf('.') + 1)
}
