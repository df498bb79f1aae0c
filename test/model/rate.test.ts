import { expect, test } from 'vitest'
import { unitsFromText } from '../../src/model/parse-units.ts'
import { counterGrowth, rateUnits } from '../../src/model/rate.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_U64 } from '../../src/model/types.ts'
import { unitsStr } from '../../src/model/units.ts'

test.each([
  ['count', 'count / sec', 1],
  ['Kbyte', 'Kbyte / sec', 1],
  ['millisecond', '', 0.001],
  ['nanosec', '', 1e-9],
  ['sec', '', 1],
  ['none', '/ sec', 1],
])('the rate of %s is in "%s"', (text, units, factor) => {
  const rate = rateUnits(unitsFromText(text))
  expect(unitsStr(rate.units)).toBe(units)
  expect(rate.factor).toBe(factor)
})

test('counts exactly beyond 2^53', () => {
  expect(counterGrowth(2n ** 63n, 2n ** 63n + 3n, PM_TYPE_U64)).toBe(3)
  expect(counterGrowth(5, 2n ** 60n, PM_TYPE_U64)).toBe(2 ** 60)
})

test('a decrease is a restart, or one round of an integer', () => {
  expect(counterGrowth(10, 4, PM_TYPE_32)).toBeUndefined()
  expect(counterGrowth(2 ** 31 - 1, -(2 ** 31), PM_TYPE_32, true)).toBe(1)
  expect(counterGrowth(2n ** 64n - 1n, 4, PM_TYPE_U64, true)).toBe(5)
  expect(counterGrowth(10, 4, PM_TYPE_DOUBLE, true)).toBeUndefined()
})
