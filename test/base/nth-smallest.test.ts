/** The n-th smallest number. */
import { expect, test } from 'vitest'
import { nthSmallest } from '../../src/base/nth-smallest.ts'
import { generator } from '../lib/generator.ts'
import { seed } from '../lib/seed.ts'

test('it is the number that sorting puts there', () => {
  const random = generator(seed)
  for (let i = 0; i < 300; i++) {
    const values = Float64Array.from({ length: 1 + random(200) }, () => random(1 + random(300)) - 20)
    const n = random(values.length)
    expect(nthSmallest(values.slice(), n)).toBe(values.toSorted()[n])
  }
})

test('an unlucky order of many numbers ends', () => {
  // The middle number is always the smallest remaining one.
  const values = new Float64Array(100_000)
  const places = Array.from(values, (_, i) => i)
  for (let [low, next] = [0, 0]; low < 2000; low++) {
    const middle = (low + values.length - 1) >> 1
    values[places[middle]!] = next++
    ;[places[low], places[middle]] = [places[middle]!, places[low]!]
  }
  for (const place of places.slice(2000)) values[place] = 1e6 + place
  expect(nthSmallest(values.slice(), 99_999)).toBe(values.toSorted()[99_999])
})

test('few and equal numbers', () => {
  expect(nthSmallest(Float64Array.of(5), 0)).toBe(5)
  expect(nthSmallest(new Float64Array(1000).fill(7), 500)).toBe(7)
  expect(nthSmallest(Float64Array.of(Number.POSITIVE_INFINITY, 1, -0), 2)).toBe(Number.POSITIVE_INFINITY)
})
