/** Writes pmrep's cells as bytes. Output equals that of `cellText` and `fitted`, without a string for every number. */
import type { ByteText } from '../../base/byte-text.ts'
import { NUMBER, type ValueColumns } from '../../model/value-columns.ts'
import { type CellShape, cellText, decimalsOf, fitted } from './cell.ts'

/** Writes the `i`th value right-aligned in its column; -1 for a missing value. */
export function putCell(
  to: ByteText,
  cells: ValueColumns,
  i: number,
  shape: CellShape,
  delimiter: string,
): void {
  if (cells.has[i] === NUMBER && putNumber(to, cells.values[i]!, shape)) return
  to.text(fitted(cellText(cells.at(i), shape, delimiter), shape.width))
}

/** Writes a number with all its digits; returns false without writing if it needs another format. */
function putNumber(to: ByteText, value: number, { width, precision, isReal }: CellShape): boolean {
  if (!Number.isFinite(value)) return false
  if (!isReal) return Number.isSafeInteger(value) && to.fixedRight(value + 0, 0, width) // never -0
  let decimals = decimalsOf(value, width, precision) ?? -1
  // A sign before a zero, or a digit added by rounding, replaces a decimal.
  while (decimals >= 0 && !to.fixedRight(value, decimals, width)) decimals--
  return decimals >= 0
}

/** Writes the `i`th value as a CSV cell, which is empty for a missing value. */
export function putCsvCell(
  to: ByteText,
  cells: ValueColumns,
  i: number,
  { isReal, precision }: CellShape,
  delimiter: string,
): void {
  if (cells.has[i] === NUMBER) {
    const value = cells.values[i]!
    if (isReal) putReal(to, value, precision)
    else if (Number.isSafeInteger(value)) to.int(value)
    else to.text(String(value))
    return
  }
  const cell = cells.at(i)
  if (cell === undefined) return
  if (typeof cell === 'string') to.text(quoted(plain(cell, delimiter)))
  else if (isReal) putReal(to, Number(cell), precision)
  else to.text(String(cell))
}

function putReal(to: ByteText, value: number, precision: number): void {
  if (Number.isNaN(value)) to.text('NaN')
  else to.fixed(value, precision)
}

/** Quotes a text. */
export function quoted(text: string): string {
  return `"${text}"`
}

/** Removes characters that would end the cell. */
function plain(text: string, delimiter: string): string {
  const line = text.replaceAll(/["\n]/g, ' ')
  return delimiter.trim() === '' ? line : line.replaceAll(delimiter, '_')
}
