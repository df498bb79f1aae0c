/** How values fill the columns of pmrep. pmrep(1) */
import { formatF } from '../../base/printf.ts'
import type { Cell } from '../lib/report/values.ts'

/** A column's shape. */
export interface CellShape {
  readonly width: number
  readonly precision: number
  readonly isReal: boolean
}

/** What stands where there is no value. */
export const NO_VALUE = 'N/A'
/** What stands for a number that does not fit. */
const TOO_WIDE = 'xxx'

/** Text at the right of its column, cut where it is longer. */
export function fitted(text: string, width: number): string {
  if (text.length <= width && isNarrow(text)) return text.padStart(width)
  const characters = [...text]
  return characters.length <= width
    ? ' '.repeat(width - characters.length) + text
    : characters.slice(0, width).join('')
}

/** Is every character one unit long? */
function isNarrow(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0xd800) return false
  return true
}

/** A value as its column shows it, not yet justified. `delimiter` must not occur in text. */
export function cellText(cell: Cell, { width, precision, isReal }: CellShape, delimiter: string): string {
  if (cell === undefined) return NO_VALUE
  if (typeof cell === 'string') return plainText(cell, delimiter)
  if (isReal) return realText(Number(cell), width, precision)
  const digits = String(cell)
  return digits.length > width ? TOO_WIDE : digits
}

/** Text on one line, without the delimiter. */
function plainText(text: string, delimiter: string): string {
  const line = text.includes('\n') ? text.replaceAll('\n', '\\n') : text
  if (delimiter.trim() === '' || !line.includes(delimiter)) return line
  return line.replaceAll(delimiter, delimiter === '_' ? ' ' : '_')
}

/** As many decimals as fit, none when even one does not. */
function realText(value: number, width: number, precision: number): string {
  if (!Number.isFinite(value)) {
    const text = Number.isNaN(value) ? 'NaN' : value > 0 ? 'inf' : '-inf'
    return text.length > width ? TOO_WIDE : text
  }
  const whole = Math.trunc(value)
  if (wholeLength(whole) > width) return TOO_WIDE
  let decimals = decimalsOf(value, width, precision)
  if (decimals === undefined) return wholeText(whole)
  let text = formatF(value, decimals)
  // A sign before a zero, or a digit that rounding added, takes the place of a decimal.
  while (text.length > width && decimals > 0) text = formatF(value, --decimals)
  return text
}

/** How many decimals the column has room for; undefined for none, or for none that can be told without writing them. */
export function decimalsOf(value: number, width: number, precision: number): number | undefined {
  const digits = wholeLength(Math.trunc(value))
  return digits + 2 > width ? undefined : Math.min(precision, width - digits - 1)
}

/** Digits and sign of a whole number. */
function wholeLength(whole: number): number {
  const size = Math.abs(whole)
  const sign = whole < 0 ? 1 : 0
  if (size < 10) return 1 + sign
  if (size < 100) return 2 + sign
  if (size < 1000) return 3 + sign
  return wholeText(whole).length
}

function wholeText(whole: number): string {
  return Number.isSafeInteger(whole) ? String(whole === 0 ? 0 : whole) : String(BigInt(whole))
}
