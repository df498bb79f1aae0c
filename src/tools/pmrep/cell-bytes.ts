/** Cells of pmrep written straight into bytes: what `cellText` and `fitted` make, without a string for every number. */
import type { ByteText } from '../../base/byte-text.ts'
import type { Cell } from '../lib/report/values.ts'
import { type CellShape, cellText, decimalsOf, fitted } from './cell.ts'

const BLANK = 0x20

/** Writes a cell at the right of its column. */
export function putCell(to: ByteText, cell: Cell, shape: CellShape, delimiter: string): void {
  const { width } = shape
  if (typeof cell === 'number' && Number.isFinite(cell)) {
    to.reserve(width)
    const start = to.length
    if (shape.isReal ? putReal(to, cell, shape) : putWhole(to, cell)) {
      if (to.length - start <= width) {
        alignRight(to, start, width)
        return
      }
      to.length = start
    }
  }
  to.text(fitted(cellText(cell, shape, delimiter), width))
}

/** False for numbers that are no integers `ByteText` knows: nothing was written. */
function putWhole(to: ByteText, value: number): boolean {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return false
  to.int(value)
  return true
}

/** False where the column has no room for decimals: nothing was written. */
function putReal(to: ByteText, value: number, { width, precision }: CellShape): boolean {
  const decimals = decimalsOf(value, width, precision)
  if (decimals === undefined) return false
  to.fixed(value, decimals)
  return true
}

function alignRight(to: ByteText, start: number, width: number): void {
  const size = to.length - start
  const shift = width - size
  if (shift === 0) return
  const { bytes } = to
  for (let i = start + size - 1; i >= start; i--) bytes[i + shift] = bytes[i]!
  for (let i = start; i < start + shift; i++) bytes[i] = BLANK
  to.length = start + width
}
