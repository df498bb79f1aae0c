/** Formats values for pmrep's columns. pmrep(1) */
import { formatF } from '../../base/printf.ts'
import type { Cell } from '../lib/report/values.ts'

/** Format of a column. */
export interface CellShape {
  readonly width: number
  readonly precision: number
  readonly isReal: boolean
}

/** Shown for a missing value. */
export const NO_VALUE = 'N/A'
/** Shown for a number that does not fit. */
const TOO_WIDE = 'xxx'

/** Right-aligns a text in its column, and cuts it to the width. */
export function fitted(text: string, width: number): string {
  if (text.length <= width && isNarrow(text)) return text.padStart(width)
  const characters = [...text]
  return characters.length <= width
    ? ' '.repeat(width - characters.length) + text
    : characters.slice(0, width).join('')
}

/** Does every character take one UTF-16 unit? */
function isNarrow(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0xd800) return false
  return true
}

/** Formats a value for its column, not yet justified. Removes `delimiter` from text. */
export function cellText(cell: Cell, { width, precision, isReal }: CellShape, delimiter: string): string {
  if (cell === undefined) return NO_VALUE
  if (typeof cell === 'string') return plainText(cell, delimiter)
  if (isReal) return realText(Number(cell), width, precision)
  const digits = String(cell)
  return digits.length > width ? TOO_WIDE : digits
}

/** Returns a text on one line, without the delimiter. */
function plainText(text: string, delimiter: string): string {
  const line = text.includes('\n') ? text.replaceAll('\n', '\\n') : text
  if (delimiter.trim() === '' || !line.includes(delimiter)) return line
  return line.replaceAll(delimiter, delimiter === '_' ? ' ' : '_')
}

/** Formats a real with as many decimals as fit, possibly none. */
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
  // A sign before a zero, or a digit added by rounding, replaces a decimal.
  while (text.length > width && decimals > 0) text = formatF(value, --decimals)
  return text
}

/** Returns the number of decimals that fit; undefined if none fit, or if that depends on the formatted text. */
export function decimalsOf(value: number, width: number, precision: number): number | undefined {
  const digits = wholeLength(Math.trunc(value))
  return digits + 2 > width ? undefined : Math.min(precision, width - digits - 1)
}

/** Returns the number of characters of an integer. */
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
