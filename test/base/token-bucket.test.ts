import { expect, test } from 'vitest'
import { TokenBucket } from '../../src/base/token-bucket.ts'

test('a bucket gives what it holds, then one token an interval', () => {
  const bucket = new TokenBucket({ size: 2, refillMs: 100 }, 0)
  expect(bucket.remainingMs(0)).toBe(0)
  bucket.take(0)
  bucket.take(0)
  expect(bucket.remainingMs(0)).toBe(100)
  expect(bucket.remainingMs(30)).toBeCloseTo(70)
  expect(bucket.remainingMs(100)).toBe(0)
  bucket.take(100)
  expect(bucket.remainingMs(100)).toBe(100)
})

test('a bucket never holds more than its size', () => {
  const bucket = new TokenBucket({ size: 1, refillMs: 100 }, 0)
  bucket.giveBack(5000)
  expect(bucket.isFull(5000)).toBe(true)
  bucket.take(5000)
  expect(bucket.isFull(5000)).toBe(false)
  expect(bucket.remainingMs(5000)).toBe(100)
})

test('fractions of milliseconds add up to a whole token', () => {
  const bucket = new TokenBucket({ size: 1, refillMs: 1 }, 0)
  bucket.take(0)
  for (let now = 0.1; now < 0.95; now += 0.1) expect(bucket.remainingMs(now)).toBeGreaterThan(0)
  expect(bucket.remainingMs(0.1 * 3 + 0.7)).toBe(0)
})
