import { afterEach, expect, test, vi } from 'vitest'
import { fromMillis, now, secondsBetween, toSeconds } from '../../src/base/timestamp.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('now is the wall clock with fractions of milliseconds', () => {
  let fractions = 0
  for (let i = 0; i < 2000; i++) {
    const before = Date.now()
    const { sec, nsec } = now()
    const after = Date.now()
    const ms = sec * 1000 + nsec / 1e6
    expect(ms).toBeGreaterThanOrEqual(before - 0.001)
    expect(ms).toBeLessThan(after + 1.001)
    if (nsec % 1_000_000 !== 0) fractions++
  }
  expect(fractions).toBeGreaterThan(1000)
})

test('now never goes back while the wall clock does not', () => {
  let last = 0
  for (let i = 0; i < 2000; i++) {
    const time = toSeconds(now())
    expect(time).toBeGreaterThanOrEqual(last)
    last = time
  }
})

test('now follows a wall clock that is set', () => {
  const wall = Date.now()
  for (const set of [wall + 3_600_000, wall - 3_600_000]) {
    vi.spyOn(Date, 'now').mockReturnValue(set)
    const { sec, nsec } = now()
    expect(Math.abs(sec * 1000 + nsec / 1e6 - set)).toBeLessThanOrEqual(1)
  }
})

test('milliseconds keep their fraction', () => {
  expect(fromMillis(1500.25)).toEqual({ sec: 1, nsec: 500_250_000 })
  expect(fromMillis(-0.5)).toEqual({ sec: -1, nsec: 999_500_000 })
})

test('seconds between two moments are exact to the nanosecond', () => {
  expect(secondsBetween({ sec: 10, nsec: 999_999_999 }, { sec: 12, nsec: 1 })).toBeCloseTo(1.000000002, 12)
})
