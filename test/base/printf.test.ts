import { expect, test } from 'vitest'
import { byteWidth, formatE, formatF, formatG, rightJustify } from '../../src/base/printf.ts'

test('formats as %g does', () => {
  const cases: [number, number, string][] = [
    [0, 6, '0'],
    [-0, 6, '-0'],
    [100000, 6, '100000'],
    [1000000, 6, '1e+06'],
    [0.0001, 6, '0.0001'],
    [0.00001, 6, '1e-05'],
    [1e39, 16, '9.999999999999999e+38'],
    [5e-324, 16, '4.940656458412465e-324'],
    [1.5, 6, '1.5'],
    [2.5, 1, '2'],
    [3.5, 1, '4'],
    [9.5, 1, '1e+01'],
    [0.000125, 2, '0.00013'],
    [999999.5, 6, '1e+06'],
    [1e22, 16, '1e+22'],
    [Number.NaN, 6, 'nan'],
    [Number.POSITIVE_INFINITY, 6, 'inf'],
    [Number.NEGATIVE_INFINITY, 6, '-inf'],
    [123456789, 0, '1e+08'],
  ]
  for (const [value, precision, text] of cases) expect(formatG(value, precision), text).toBe(text)
})

test('formats as %e does, exact ties to even', () => {
  const cases: [number, number, string][] = [
    [0, 6, '0.000000e+00'],
    [-1.5, 6, '-1.500000e+00'],
    [2.5, 0, '2e+00'],
    [-3.5, 0, '-4e+00'],
    [9.5, 0, '1e+01'],
    [1e100, 2, '1.00e+100'],
    [1.25, 1, '1.2e+00'],
    [1.75, 1, '1.8e+00'],
  ]
  for (const [value, precision, text] of cases) expect(formatE(value, precision), text).toBe(text)
})

test('formats as %f does, exact ties to even', () => {
  const cases: [number, number, string][] = [
    [0.5, 0, '0'],
    [-0.5, 0, '-0'],
    [1.5, 0, '2'],
    [2.5, 0, '2'],
    [0.125, 2, '0.12'],
    [0.375, 2, '0.38'],
    [1.005, 2, '1.00'],
    [0.045, 2, '0.04'],
    [-0, 2, '-0.00'],
    [-0.001, 2, '-0.00'],
    [0.05, 3, '0.050'],
    [12.0034, 3, '12.003'],
    [0.9996, 3, '1.000'],
    [-99.95001, 1, '-100.0'],
    [999999999.4, 0, '999999999'],
    [1e21, 2, '1000000000000000000000.00'],
    [1e23, 0, '99999999999999991611392'],
    [Number.NaN, 2, 'nan'],
  ]
  for (const [value, precision, text] of cases) expect(formatF(value, precision), text).toBe(text)
})

test('pads to bytes as C does', () => {
  expect(rightJustify('é', 4)).toBe('  é')
  expect(rightJustify('too long', 3)).toBe('too long')
  expect(['', 'a', 'é', '€', '😀', '\udc80', '\ud800'].map(byteWidth)).toEqual([0, 1, 2, 3, 4, 1, 3])
})

test('formats numbers far from ties as those near them', () => {
  let state = 1
  const random = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state / 2 ** 32
  }
  const different: string[] = []
  for (let i = 0; i < 20_000; i++) {
    const value = (random() - 0.5) * 10 ** Math.floor(random() * 12)
    const precision = Math.floor(random() * 7)
    // No tie has so many digits: toFixed rounds as C does.
    if (formatF(value, precision) !== value.toFixed(precision)) different.push(`${value} ${precision}`)
  }
  expect(different).toEqual([])
})
