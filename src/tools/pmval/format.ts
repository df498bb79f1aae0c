/** Formats values for columns. */
import { formatE, formatF } from '../../base/printf.ts'
import { PcpError } from '../../model/errors.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_AGGREGATE_STATIC,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  typeStr,
} from '../../model/types.ts'

const WIDTHS: ReadonlyMap<number, number> = new Map([
  [PM_TYPE_32, 11],
  [PM_TYPE_U32, 11],
  [PM_TYPE_64, 21],
  [PM_TYPE_U64, 21],
  [PM_TYPE_FLOAT, 13],
  [PM_TYPE_DOUBLE, 21],
  [PM_TYPE_STRING, 21],
  [PM_TYPE_AGGREGATE, 21],
  [PM_TYPE_AGGREGATE_STATIC, 21],
  [PM_TYPE_EVENT, 0],
  [PM_TYPE_HIGHRES_EVENT, 0],
])

/** Returns the width of columns: the given one, or the type's default. Throws PM_ERR_TYPE for a type without values. */
export function columnWidth(type: number, wanted: number | undefined): number {
  const width = WIDTHS.get(type)
  if (width === undefined)
    throw new PcpError('PM_ERR_TYPE', `unknown performance metric value type ${typeStr(type)}`)
  return wanted ?? width
}

/** Do this many decimals fit a column? */
export function precisionFits(precision: number, width: number): boolean {
  return precision === 0 || precision <= width - 2
}

/** Formats a real with four digits and aligned decimal points, or with the given number of decimals. */
export function formatReal(value: number, width: number, precision: number | undefined): string {
  const text = precision === undefined ? fourDigits(value, width) : formatF(value, precision)
  return text.padStart(width)
}

function fourDigits(value: number, width: number): string {
  // In columns too narrow for a zero, PCP pads after the digit.
  if (value === 0) return `${'0'.padEnd(5 - width)}.0   `
  if (value < 0.1 || value > 9999) return formatE(value, 3).toUpperCase()
  if (value <= 0.9999) return formatF(value, 4)
  if (value <= 9.999) return `${formatF(value, 3)} `
  if (value <= 99.99) return `${formatF(value, 2)}  `
  if (value <= 999.9) return `${formatF(value, 1)}   `
  return `${formatF(value, 0)}.    `
}
