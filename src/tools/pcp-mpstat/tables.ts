/** The tables of pcp mpstat: columns separated by tabs, and padded to the width of their headings. pcp-mpstat(1) */
import { formatF } from '../../base/printf.ts'

/** A row: time, processor, values. */
interface Row {
  readonly stamp: string
  readonly processor: string
  /** In column order; undefined if unknown. */
  readonly values: readonly (number | undefined)[]
}

/** Formats the heading and rows of a table. */
export interface TableLayout {
  /** With its newline, after an empty line. */
  readonly heading: string
  row(row: Row): string
}

const STAMP_WIDTH = 10
/** An unknown value is narrower by this. */
const UNKNOWN = 3

/** Formats a number as PCP does, with one or two decimals. */
function valueText(value: number): string {
  const text = String(Number(formatF(value, 2)))
  return text.includes('.') ? text : `${text}.0`
}

function cell(value: number | undefined, width: number): string {
  return value === undefined ? '?'.padEnd(width - UNKNOWN) : valueText(value).padEnd(width)
}

const SHARES = ['%usr', '%nice', '%sys', '%iowait', '%irq', '%soft', '%steal', '%guest', '%nice', '%idle']

/** Percentages of time. The second %nice is that of guests. */
export const TIME_TABLE: TableLayout = {
  heading: `\n${['Timestamp ', 'CPU', ...SHARES.map((name) => `${name} `)].join('\t')}\n`,
  row: ({ stamp, processor, values }) => {
    const cells = values.map((value, i) => cell(value, SHARES[i]!.length + 1))
    return `${[stamp.padEnd(STAMP_WIDTH), processor.padEnd(3), ...cells].join('\t')}\n`
  },
}

/** Total interrupts. */
export const SUM_TABLE: TableLayout = {
  heading: '\nTimestamp\tCPU  \tintr/s\n',
  row: ({ stamp, processor, values }) =>
    `${stamp.padEnd(STAMP_WIDTH)}\t${processor.padEnd(5)}\t${cell(values[0], 5)}\n`,
}

/** Returns a table with a column for each interrupt. */
export function interruptTable(names: readonly string[]): TableLayout {
  const columns = names.map((name) => `${name}/s`)
  return {
    heading: `\nTimestamp\tCPU \t${columns.map((column) => `${column}\t`).join('')}\n`,
    row: ({ stamp, processor, values }) => {
      const cells = values.map((value, i) => `${cell(value, columns[i]!.length)}\t`)
      return `${stamp.padEnd(STAMP_WIDTH)}\t${processor.padEnd(4)}\t${cells.join('')}\n`
    },
  }
}
