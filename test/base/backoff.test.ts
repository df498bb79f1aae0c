import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Backoff, doublingDelays } from '../../src/base/backoff.ts'

const random = (): number => 0

test('the first attempt is allowed at any time, later ones after growing delays', () => {
  const backoff = new Backoff({ delaysMs: [100, 200], random })
  expect(backoff.canRetry(0)).toBe(true)
  expect([0, 100, 300, 500].map((now) => backoff.failed(now))).toEqual([100, 200, 200, 200])
  expect(backoff.remainingMs(500)).toBe(200)
  expect(backoff.canRetry(699)).toBe(false)
  expect(backoff.canRetry(700)).toBe(true)
})

test('an attempt on time is allowed despite inexact sums of fractions', () => {
  const backoff = new Backoff({ delaysMs: [4000], random })
  let now = 861.792
  backoff.failed(now)
  for (let second = 0; second < 4; second++) now += 1000
  expect(now).toBeLessThan(4861.792)
  expect(backoff.canRetry(now)).toBe(true)
})

test('only a success that outlives its delay resets the back-off', () => {
  const backoff = new Backoff({ delaysMs: [100, 200, 400], random })
  backoff.failed(0)
  backoff.succeeded(100)
  expect(backoff.canRetry(100)).toBe(true)
  expect(backoff.failed(199)).toBe(200)
  backoff.succeeded(400)
  expect(backoff.failed(600)).toBe(100)
  backoff.failed(700)
  backoff.reset()
  expect(backoff.failed(700)).toBe(100)
})

test('jitter adds up to half of a delay', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 8 }),
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
        minLength: 1,
        maxLength: 20,
      }),
      (delaysMs, chances) => {
        let next = 0
        const backoff = new Backoff({ delaysMs, random: () => chances[next++]! })
        let now = 0
        for (const [i, chance] of chances.entries()) {
          const delay = delaysMs[Math.min(i, delaysMs.length - 1)]!
          const wait = backoff.failed(now)
          expect(wait).toBeGreaterThanOrEqual(delay)
          expect(wait).toBeLessThanOrEqual(delay * 1.5)
          expect(wait).toBeCloseTo(delay * (1 + chance / 2))
          now += wait
        }
      },
    ),
  )
})

test('delays double up to the longest', () => {
  expect(doublingDelays(500, 15_000)).toEqual([500, 1000, 2000, 4000, 8000, 15_000])
  expect(doublingDelays(5, 5)).toEqual([5])
})
