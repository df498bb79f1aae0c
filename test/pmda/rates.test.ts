import { expect, test } from 'vitest'
import { Rates } from '../../src/pmda/rates.ts'

test('the change a second of each counter that was seen twice in succession', () => {
  const rates = new Rates()
  rates.update(
    [
      [1, 100],
      [2, 5],
    ],
    10_000,
  )
  expect(rates.get(1)).toBeUndefined()
  rates.update(
    [
      [1, 150],
      [3, 1],
    ],
    12_000,
  )
  expect([rates.get(1), rates.get(2), rates.get(3)]).toEqual([25, undefined, undefined])
  rates.update(
    [
      [1, 150],
      [2, 9],
      [3, 4],
    ],
    13_000,
  )
  expect([rates.get(1), rates.get(2), rates.get(3)]).toEqual([0, undefined, 3])
})

test('a reset counter has no rate, a wrapping one has', () => {
  const restarted = new Rates<string>()
  const wrapping = new Rates<string>({ wrapsAs: 'u32' })
  for (const rates of [restarted, wrapping]) {
    rates.update([['a', 2 ** 32 - 10]], 0)
    rates.update([['a', 10]], 2000)
  }
  expect([restarted.get('a'), wrapping.get('a')]).toEqual([undefined, 10])
})

test('64-bit counters keep their last digits', () => {
  const rates = new Rates<string>({ wrapsAs: 'u64' })
  rates.update([['a', 2n ** 64n - 3n]], 0)
  rates.update([['a', 4n]], 1000)
  expect(rates.get('a')).toBe(7)
})

test('no rate if time did not advance', () => {
  const rates = new Rates()
  rates.update([[1, 1]], 5000)
  rates.update([[1, 2]], 5000)
  expect(rates.get(1)).toBeUndefined()
  rates.update([[1, 3]], 4000)
  expect(rates.get(1)).toBeUndefined()
})
