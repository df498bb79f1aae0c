import { expect, test } from 'vitest'
import { formatReal } from '../../src/tools/pmval/format.ts'

test.each([
  [0, '    0.0   '],
  [0.05, ' 5.000E-02'],
  [0.25, '    0.2500'],
  [1.5, '    1.500 '],
  [42.123, '   42.12  '],
  [123.456, '  123.5   '],
  [2120, ' 2120.    '],
  [12345, ' 1.234E+04'],
  [-3, '-3.000E+00'],
  [Number.NaN, '  nan.    '],
  [Number.POSITIVE_INFINITY, '       INF'],
])('%d has its decimal point aligned', (value, text) => {
  expect(formatReal(value, 10, undefined)).toBe(text)
})

test('-f gives the number of decimals', () => {
  expect(formatReal(1.23456, 10, 2)).toBe('      1.23')
  expect(formatReal(1e6, 10, 0)).toBe('   1000000')
})

test('a zero in a narrow column extends beyond it', () => {
  expect(formatReal(0, 1, undefined)).toBe('0   .0   ')
  expect(formatReal(0, 4, undefined)).toBe('0.0   ')
})
