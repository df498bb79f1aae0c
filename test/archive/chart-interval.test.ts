import { expect, test } from 'vitest'
import { IntervalEstimator } from '../../src/archive/chart-interval.ts'

/** Returns the times after a gap. */
function gaps(times: readonly number[], pace = new IntervalEstimator()): number[] {
  return times.filter((time) => pace.next(time))
}

const every = (seconds: number, count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, i) => from + i * seconds)

test('a missing sample is a gap, a late one is not', () => {
  expect(gaps([...every(10, 6), 70, 80])).toEqual([70])
  expect(gaps([0, 10, 20, 37, 40, 50])).toEqual([])
})

test('of the first two distances the longer one may be a gap', () => {
  expect(gaps([0, 10, 600, 610, 620])).toEqual([600])
  const pace = new IntervalEstimator()
  // Only the third sample shows the interval, and thus whether the second came after a gap.
  expect(gaps([0, 600, 610], pace)).toEqual([])
  expect(pace.gapAfter).toBe(17.5)
})

test('another interval is accepted when it is repeated, and gaps of the same length are not', () => {
  expect(gaps([...every(10, 6), ...every(60, 8, 110)])).toEqual([110, 170])
  const shifts = [0, 500, 1000, 1500].flatMap((from) => every(10, 8, from))
  expect(gaps(shifts)).toEqual([500, 1000, 1500])
})

test('a metric that two groups record has the interval of the slower one', () => {
  const times = every(60, 12).flatMap((time) => [time, time + 1])
  expect(gaps(times).filter((time) => time > 130)).toEqual([])
})

test('a new instance uses the interval of its metric; distances across a mark are ignored', () => {
  const metric = new IntervalEstimator()
  gaps(every(10, 5), metric)
  expect(gaps([30, 60], new IntervalEstimator(metric))).toEqual([60])
  metric.interrupt(45)
  expect(gaps([900, 910, 930], metric)).toEqual([930])
})

test('times that are not later are ignored', () => {
  expect(gaps([0, 10, 20, 20, 15, 30, 40, 90])).toEqual([90])
})
