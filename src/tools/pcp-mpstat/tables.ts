/** The tables of pcp mpstat: columns between tabs, each padded to the width of its heading as well. pcp-mpstat(1) */
import { formatF } from '../../base/printf.ts'

/** The stamp, then which processor. */
interface Row {
  readonly stamp: string
  readonly processor: string
  /** In the order of the columns; undefined: nobody knows. */
  readonly values: readonly (number | undefined)[]
}

/** A table: how its heading and its rows are shown. */
export interface TableLayout {
  /** With its newline, and an empty line before it. */
  readonly heading: string
  row(row: Row): string
}

const STAMP_WIDTH = 10
/** So much narrower is a value that nobody knows. */
const UNKNOWN = 3

/** As PCP shows numbers: two decimals at most, one at least. */
function valueText(value: number): string {
  const text = String(Number(formatF(value, 2)))
  return text.includes('.') ? text : `${text}.0`
}

function cell(value: number | undefined, width: number): string {
  return value === undefined ? '?'.padEnd(width - UNKNOWN) : valueText(value).padEnd(width)
}

const SHARES = ['%usr', '%nice', '%sys', '%iowait', '%irq', '%soft', '%steal', '%guest', '%nice', '%idle']

/** How time is spent, in percent. The second %nice is that of guests. */
export const TIME_TABLE: TableLayout = {
  heading: `\n${['Timestamp ', 'CPU', ...SHARES.map((name) => `${name} `)].join('\t')}\n`,
  row: ({ stamp, processor, values }) => {
    const cells = values.map((value, i) => cell(value, SHARES[i]!.length + 1))
    return `${[stamp.padEnd(STAMP_WIDTH), processor.padEnd(3), ...cells].join('\t')}\n`
  },
}

/** The number of all interrupts. */
export const SUM_TABLE: TableLayout = {
  heading: '\nTimestamp\tCPU  \tintr/s\n',
  row: ({ stamp, processor, values }) =>
    `${stamp.padEnd(STAMP_WIDTH)}\t${processor.padEnd(5)}\t${cell(values[0], 5)}\n`,
}

/** One column for each of these interrupts. */
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
