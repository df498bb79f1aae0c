import { expect, test } from 'vitest'
import { ByteText } from '../../../src/base/byte-text.ts'
import { PM_INDOM_NULL } from '../../../src/model/ids.ts'
import { PM_TYPE_DOUBLE } from '../../../src/model/types.ts'
import { ValueColumns } from '../../../src/model/value-columns.ts'
import { cellText, fitted } from '../../../src/tools/pmrep/cell.ts'
import { putCell } from '../../../src/tools/pmrep/cell-bytes.ts'

const real = (width: number, precision = 3): Parameters<typeof cellText>[1] => ({
  width,
  precision,
  isReal: true,
})

test('reals keep as many decimals as fit', () => {
  expect(cellText(42182, real(6), ' ')).toBe('42182')
  expect(cellText(820, real(6), ' ')).toBe('820.00')
  expect(cellText(42170, real(7), ' ')).toBe('42170.0')
  expect(cellText(0.82, real(9, 12), ' ')).toBe('0.8200000')
})

test('numbers that do not fit are not cut', () => {
  expect(cellText(13573328, { width: 5, precision: 3, isReal: false }, ' ')).toBe('xxx')
  expect(cellText(1234567.5, real(5), ' ')).toBe('xxx')
})

test('NaN and infinities are shown', () => {
  expect(cellText(Number.NaN, real(8), ' ')).toBe('NaN')
  expect(cellText(Number.NEGATIVE_INFINITY, real(8), ' ')).toBe('-inf')
  expect(cellText(undefined, real(8), ' ')).toBe('N/A')
})

test('text is kept on one line, without the delimiter', () => {
  const text = { width: 20, precision: 3, isReal: false }
  expect(cellText('a\nb', text, '  ')).toBe('a\\nb')
  expect(cellText('a;b', text, ';')).toBe('a_b')
  expect(cellText('a_b', text, '_')).toBe('a b')
})

test('text is right-aligned and cut to its column', () => {
  expect(fitted('abc', 5)).toBe('  abc')
  expect(fitted('1 minute', 5)).toBe('1 min')
})

test('a sign or a digit added by rounding replaces decimals', () => {
  expect(cellText(-0.654, real(3), ' ')).toBe('-1')
  expect(cellText(-0.14, real(3), ' ')).toBe('-0')
  expect(cellText(9.96, real(3), ' ')).toBe('10')
})

test('cells as bytes equal cells as text', () => {
  const values = [
    0,
    -0,
    0.5,
    -0.654,
    9.96,
    99.9996,
    1e7,
    123456.789,
    -1e-9,
    1e22,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
  ]
  const shapes = [3, 5, 9, 14].flatMap((width) => [
    real(width),
    real(width, 0),
    { width, precision: 3, isReal: false },
  ])
  for (const shape of shapes)
    for (const cell of [...values, 12345678901234567890n, 'text|more', undefined]) {
      const bytes = new ByteText(8)
      const cells = new ValueColumns({ type: PM_TYPE_DOUBLE, indom: PM_INDOM_NULL })
      cells.begin(1)
      cells.set(0, cell)
      putCell(bytes, cells, 0, shape, '|')
      expect(new TextDecoder().decode(bytes.written())).toBe(fitted(cellText(cell, shape, '|'), shape.width))
    }
})
