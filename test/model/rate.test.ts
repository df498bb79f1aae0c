import { expect, test } from 'vitest'
import { unitsFromText } from '../../src/model/parse-units.ts'
import { type CounterColumns, Counters, counterDelta, counterRate, rateUnits } from '../../src/model/rate.ts'
import { PM_TYPE_32, PM_TYPE_64, PM_TYPE_DOUBLE, PM_TYPE_U32, PM_TYPE_U64 } from '../../src/model/types.ts'
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
  expect(counterDelta(2n ** 63n, 2n ** 63n + 3n, PM_TYPE_U64)).toBe(3)
  expect(counterDelta(5, 2n ** 60n, PM_TYPE_U64)).toBe(2 ** 60)
})

test('a decrease is a restart, or one round of an integer', () => {
  expect(counterDelta(10, 4, PM_TYPE_32)).toBeUndefined()
  expect(counterDelta(2 ** 31 - 1, -(2 ** 31), PM_TYPE_32, true)).toBe(1)
  expect(counterDelta(2n ** 64n - 1n, 4, PM_TYPE_U64, true)).toBe(5)
  expect(counterDelta(10, 4, PM_TYPE_DOUBLE, true)).toBeUndefined()
})

test('a rate is the change a second, whichever reading was taken first', () => {
  expect(counterRate(10, 40, 2)).toBe(15)
  expect(counterRate(40, 10, -2)).toBe(15)
  expect(counterRate(2n ** 64n - 1n, 4, 5, PM_TYPE_U64, true)).toBe(1)
})

test('a restart, or two samples at the same time, have no rate', () => {
  expect(counterRate(40, 10, 2)).toBeUndefined()
  expect(counterRate(10, 40, 0)).toBeUndefined()
})

/** One sample: undefined for a column without a value. */
function reading(...exact: (number | bigint | undefined)[]): CounterColumns {
  return {
    has: Uint8Array.from(exact, (value) => (value === undefined ? 0 : 1)),
    values: Float64Array.from(exact, (value) => Number(value ?? 0)),
    exact: (place) => BigInt(exact[place]!),
  }
}

/** Returns the growth of counters from each sample to the next. */
function growths(type: number, wraps: boolean, ...readings: readonly CounterColumns[]): number[][] {
  const counters = new Counters(readings[0]!.has.length, type, wraps)
  return readings.map((each) => [...counters.read(each)]).slice(1)
}

test('columns of counters grow by place', () => {
  const none = Number.NaN
  expect(
    growths(
      PM_TYPE_U32,
      false,
      reading(1, 5, undefined),
      reading(4, 3, 9),
      reading(undefined, 7, 9),
      reading(9, 8, 10),
    ),
  ).toEqual([
    [3, none, none],
    [none, 4, 0],
    [none, 1, 1],
  ])
})

test('columns of counters are exact beyond 2^53, and wrap where they may', () => {
  const most = 2n ** 64n - 1n
  expect(growths(PM_TYPE_U64, true, reading(2n ** 63n, most), reading(2n ** 63n + 3n, 4n))).toEqual([[3, 5]])
  expect(growths(PM_TYPE_U64, true, reading(2 ** 53 - 1), reading(2n ** 53n + 1n), reading(5n))).toEqual([
    [2],
    [Number(2n ** 64n + 5n - (2n ** 53n + 1n))],
  ])
  expect(growths(PM_TYPE_64, false, reading(-(2n ** 60n)), reading(-(2n ** 60n) + 1n))).toEqual([[1]])
  expect(growths(PM_TYPE_DOUBLE, true, reading(2 ** 60), reading(2 ** 61), reading(1))).toEqual([
    [2 ** 60],
    [Number.NaN],
  ])
})

test('columns compare the other way round where the clock went back', () => {
  const counters = new Counters(2, PM_TYPE_U32, false)
  counters.read(reading(7, 7))
  expect([...counters.read(reading(5, 9), 0, true)]).toEqual([2, Number.NaN])
})

test('counters move with their values, and are forgotten', () => {
  const counters = new Counters(2, PM_TYPE_U64, false)
  counters.read(reading(2n ** 60n, 4))
  counters.rearrange([1, -1, 0])
  expect([...counters.read(reading(5, 6, 2n ** 60n + 1n))]).toEqual([1, Number.NaN, 1])
  expect([0, 1, 2].map((place) => counters.hadValue(place))).toEqual([true, false, true])
  counters.forget()
  expect([...counters.read(reading(6, 7, 8))]).toEqual([Number.NaN, Number.NaN, Number.NaN])
})
