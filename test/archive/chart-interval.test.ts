import { expect, test } from 'vitest'
import { IntervalEstimator, IntervalHistory } from '../../src/archive/chart-interval.ts'

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

test.each([
  [10, 60],
  [60, 10],
  [10, 11],
  [1, 3600],
  [3600, 1],
])('an interval of %i s, then of %i s, is known from the first sample at that distance', (first, then) => {
  const middle = 20 * first
  const pace = new IntervalEstimator()
  const history = new IntervalHistory()
  for (let time = 0; time <= middle + 20 * then; time += time < middle ? first : then) {
    pace.next(time)
    history.add(time, pace.interval)
  }
  // A tenth more is the same interval.
  const later = then === 11 ? first : then
  expect([0, 1, middle - 1, middle].map((time) => history.at(time))).toEqual([first, first, first, first])
  expect([middle + 1, middle + then, middle + 19 * then].map((time) => history.at(time))).toEqual([
    later,
    later,
    later,
  ])
})

test('an interval that is unknown is 0', () => {
  const history = new IntervalHistory()
  history.add(0, 0)
  expect(history.at(0)).toBe(0)
})
