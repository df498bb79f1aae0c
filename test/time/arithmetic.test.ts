import { expect, test } from 'vitest'
import {
  addTimes,
  compareTimes,
  earlierOf,
  FOREVER,
  laterOf,
  subtractTimes,
} from '../../src/time/arithmetic.ts'

const time = (sec: number, nsec: number): { sec: number; nsec: number } => ({ sec, nsec })

test('nanoseconds carry into seconds', () => {
  expect(addTimes(time(1, 600_000_000), time(2, 500_000_000))).toEqual(time(4, 100_000_000))
  expect(addTimes(time(1, 1), time(0, 0))).toEqual(time(1, 1))
})

test('and are borrowed from them, so that they are never negative', () => {
  expect(subtractTimes(time(4, 100_000_000), time(2, 500_000_000))).toEqual(time(1, 600_000_000))
  expect(subtractTimes(time(1, 0), time(1, 1))).toEqual(time(-1, 999_999_999))
  expect(addTimes(subtractTimes(time(1, 0), time(5, 7)), time(5, 7))).toEqual(time(1, 0))
})

test('times are ordered, with FOREVER last', () => {
  expect(compareTimes(time(1, 2), time(1, 3))).toBeLessThan(0)
  expect(compareTimes(time(2, 0), time(1, 3))).toBeGreaterThan(0)
  expect(compareTimes(FOREVER, FOREVER)).toBe(0)
  expect(laterOf(time(9, 9), FOREVER)).toBe(FOREVER)
  expect(earlierOf(FOREVER, time(9, 9))).toEqual(time(9, 9))
})
