/** Formatting of values. */
import { expect, test } from 'vitest'
import { asShare, isSameMeasure, measureOf, RATE, rateOf, showValue } from '../../src/ui/view/measure.ts'

/** Formats a value as the page does; counters become rates with their units. */
function shown(units: string, sem: string, value: number): string {
  if (sem !== 'counter') {
    const measure = measureOf(units, sem)
    return showValue(measure, value * measure.factor)
  }
  const rate = rateOf(units)
  const measure = measureOf(rate.units, RATE)
  return showValue(measure, value * rate.factor * measure.factor)
}

test.each([
  ['Kbyte', 'instant', 2048, '2.00 MiB'],
  ['byte', 'instant', 1000, '1000 B'],
  ['byte', 'counter', 1536, '1.50 KiB/s'],
  ['Kbyte', 'counter', 1, '1.00 KiB/s'],
  ['millisec', 'counter', 250, '25.0 %'],
  ['nanosec', 'counter', 2e9, '200 %'],
  ['millisec', 'instant', 1500, '1.50 s'],
  ['microsec', 'instant', 12, '12.0 µs'],
  ['sec', 'instant', 7200, '2.00 h'],
  ['count', 'instant', 12_345, '12.3 k'],
  ['count', 'counter', 0.5, '0.50 /s'],
  ['count', 'counter', 0, '0 /s'],
  ['count', 'instant', 97, '97'],
  ['byte', 'instant', 97, '97 B'],
  ['byte', 'counter', 97, '97.0 B/s'],
  ['none', 'instant', 0.25, '0.25'],
  ['none', 'counter', 3, '3.00 /s'],
  ['Mbyte / sec', 'instant', 3, '3.00 MiB/s'],
  ['millisec / count', 'instant', 4.5, '4.50 ms'],
  ['Kbyte / count', 'instant', 4, '4.00 KiB'],
  ['count / hour', 'instant', 3600, '1.00 /s'],
  ['degrees', 'instant', 20, '20.0 degrees'],
  ['byte^2', 'instant', 5, '5.00 byte^2'],
])('%s, %s: %d is %s', (units, sem, value, text) => {
  expect(shown(units, sem, value)).toBe(text)
})

test('a missing value is a dash', () => {
  expect(showValue(measureOf('none', 'instant'), null)).toBe('–')
  expect(showValue(measureOf('none', 'instant'), Number.NaN)).toBe('–')
})

test.each([
  [99.9, '99.9'],
  [99.97, '100'],
  [9.994, '9.99'],
  [9.996, '10.0'],
  [-99.97, '-100'],
])('%d has three digits after rounding too: %s', (value, text) => {
  expect(showValue(measureOf('none', 'instant'), value)).toBe(text)
})

test('percentages keep their digits whether they are whole or not, so that a column does not jump', () => {
  const share = asShare(measureOf('none', 'instant'), 'share')
  expect([0.97, 0.9396, 0.9, 0.02, 0.023, 1].map((value) => showValue(share, value))).toEqual(
    ['97.0 %', '94.0 %', '90.0 %', '2.00 %', '2.30 %', '100 %'], // 0.9396 rounds to a whole number
  )
})

test('percentages and shares are shown as such, other numbers unchanged', () => {
  const plain = measureOf('none', 'instant')
  const percent = asShare(plain, 'percent')
  expect(showValue(percent, 24.5 * percent.factor)).toBe('24.5 %')
  expect(showValue(asShare(plain, 'share'), 0.5)).toBe('50.0 %')
  const bytes = measureOf('byte', 'instant')
  expect(asShare(bytes, 'percent')).toBe(bytes)
})

test('measures of one dimension share an axis, whatever their scale', () => {
  expect(isSameMeasure(measureOf('Kbyte', 'instant'), measureOf('Mbyte', 'instant'))).toBe(true)
  expect(isSameMeasure(measureOf('Kbyte', 'instant'), measureOf('Kbyte / sec', 'instant'))).toBe(false)
  expect(isSameMeasure(measureOf('count', 'instant'), measureOf('sec', 'instant'))).toBe(false)
})
