import { expect, test } from 'vitest'
import { Pace } from '../../src/archive/chart-pace.ts'

/** Times that have a gap before them. */
function gaps(times: readonly number[], pace = new Pace()): number[] {
  return times.filter((time) => pace.next(time))
}

const every = (seconds: number, count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, i) => from + i * seconds)

test('a missing sample is a gap, a late one is none', () => {
  expect(gaps([...every(10, 6), 70, 80])).toEqual([70])
  expect(gaps([0, 10, 20, 37, 40, 50])).toEqual([])
})

test('of the first two distances the longer one may be a gap', () => {
  expect(gaps([0, 10, 600, 610, 620])).toEqual([600])
  const pace = new Pace()
  // The second sample cannot be judged yet: it is the third that shows the interval.
  expect(gaps([0, 600, 610], pace)).toEqual([])
  expect(pace.patience).toBe(17.5)
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

test('an instance that is new goes by its metric; across a mark nothing is learned', () => {
  const metric = new Pace()
  gaps(every(10, 5), metric)
  expect(gaps([30, 60], new Pace(metric))).toEqual([60])
  metric.interrupt(45)
  expect(gaps([900, 910, 930], metric)).toEqual([930])
})

test('times that are not later count for nothing', () => {
  expect(gaps([0, 10, 20, 20, 15, 30, 40, 90])).toEqual([90])
})
