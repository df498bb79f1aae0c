/** Means of hosts in buckets, statistics over hosts, and their encoding. */
import { expect, test } from 'vitest'
import type { FleetRange } from '../../src/archive/fleet/answer.ts'
import { bucketMeans, combineInstances, intervalOf, joinRows } from '../../src/archive/fleet/bucket-means.ts'
import { decodeFleetRange, encodeFleetRange } from '../../src/archive/fleet/bytes.ts'
import { fleetQuantiles, rowMeans, topRows } from '../../src/archive/fleet/statistics.ts'

const GRID = { start: 0, step: 10, buckets: 4 }
const NONE = new Float64Array()
const samples = (times: number[], values: number[]) => ({
  times: Float64Array.from(times),
  values: Float64Array.from(values),
})
const means = (times: number[], values: number[], isCounter = false, marks: number[] = []): number[] => [
  ...bucketMeans(samples(times, values), Float64Array.from(marks), isCounter, GRID).means,
]

test('a value fills the time since the value before it, weighted by time', () => {
  expect(means([0, 10, 20, 30, 40], [9, 1, 2, 3, 4])).toEqual([1, 2, 3, 4])
  expect(means([-5, 5, 15, 25, 35], [9, 1, 3, 5, 7])).toEqual([2, 4, 6, 7])
  // Buckets narrower than the interval have no holes.
  expect(means([0, 40], [1, 8])).toEqual([8, 8, 8, 8])
})

test('counters are rates; a decrease, a mark and missing samples are gaps', () => {
  expect(means([0, 10, 20, 30, 40], [0, 50, 100, 10, 30], true)).toEqual([5, 5, Number.NaN, 2])
  expect(means([0, 10, 20, 30, 40], [0, 50, 100, 150, 200], true, [15])).toEqual([5, Number.NaN, 5, 5])
  expect(means([0, 5, 10, 30, 35, 40], [0, 1, 2, 3, 4, 5])).toEqual([1.5, Number.NaN, Number.NaN, 4.5])
})

test('no value is made up of fewer than two samples, or of samples outside', () => {
  expect(means([20], [1])).toEqual(GRID_EMPTY)
  expect(means([], [])).toEqual(GRID_EMPTY)
  expect(means([100, 110], [1, 2])).toEqual(GRID_EMPTY)
  expect(means([0, 10, 10, 20], [1, Number.NaN, 2, 3])).toEqual([Number.NaN, 3, Number.NaN, Number.NaN])
  expect(intervalOf([0])).toBe(Number.POSITIVE_INFINITY)
})
const GRID_EMPTY = [Number.NaN, Number.NaN, Number.NaN, Number.NaN]

test('instances are combined where they have values, and archives by the time they cover', () => {
  const one = bucketMeans(samples([0, 10, 20], [0, 1, 2]), NONE, false, GRID)
  const two = bucketMeans(samples([0, 10, 20, 30], [0, 10, 20, 30]), NONE, false, GRID)
  const combined = (how: 'sum' | 'mean' | 'max' | 'min'): number[] => [
    ...combineInstances([one, two], how, 4).means,
  ]
  expect(combined('sum')).toEqual([11, 22, 30, Number.NaN])
  expect(combined('mean')).toEqual([5.5, 11, 30, Number.NaN])
  expect(combined('max')).toEqual([10, 20, 30, Number.NaN])
  expect(combined('min')).toEqual([1, 2, 30, Number.NaN])
  expect([...combineInstances([], 'sum', 4).means]).toEqual(GRID_EMPTY)
  const early = bucketMeans(samples([0, 5], [0, 4]), NONE, false, GRID)
  const late = bucketMeans(samples([5, 10, 20], [0, 8, 9]), NONE, false, GRID)
  expect([...joinRows([early, late], 4).means]).toEqual([6, 9, Number.NaN, Number.NaN])
  expect([...joinRows([], 4).means]).toEqual(GRID_EMPTY)
})

test('quantiles are values of hosts; hosts without a value do not count', () => {
  const cells = Float32Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? i / 2 + 1 : Number.NaN))
  cells[1] = 7
  const rows = Array.from({ length: 100 }, (_, i) => i)
  const { p50, p90, p99, max, count } = fleetQuantiles({ cells, buckets: 2 }, rows)
  expect([p50[0], p90[0], p99[0], max[0], count[0]]).toEqual([50, 90, 99, 100, 100])
  expect([p50[1], max[1], count[1]]).toEqual([7, 7, 1])
  const nobody = fleetQuantiles({ cells, buckets: 2 }, [])
  expect([nobody.p50[0], nobody.count[0]]).toEqual([Number.NaN, 0])
})

test('the highest rows by mean; rows without values are left out', () => {
  const cells = Float32Array.from([1, 3, Number.NaN, Number.NaN, 5, Number.NaN])
  const found = rowMeans({ cells, buckets: 2 })
  expect([...found]).toEqual([2, Number.NaN, 5])
  expect(topRows(found, 10, [0, 1, 2])).toEqual([2, 0])
  expect(topRows(found, 1, [0, 1, 2])).toEqual([2])
})

const range = (cells: Float32Array, hosts: string[], buckets: number): FleetRange => ({
  ...{ start: 0, step: 10, buckets, name: 'x', title: 'x', help: '', units: 'none', sem: 'instant' },
  ...{ unit: null, aggregate: null, hosts, without: 0, unread: 0, top: [], cells },
  quantiles: { p50: [], p90: [], p99: [], max: [], count: [] },
})

test('cells survive encoding to four digits; gaps stay gaps', () => {
  const cells = Float32Array.from([0, -1.5, 1e-30, 123456, Number.NaN, 0.333333, 4e9, 1e30])
  const decoded = decodeFleetRange(encodeFleetRange(range(cells, ['a', 'b'], 4)))
  expect(decoded.hosts).toEqual(['a', 'b'])
  for (const [i, value] of cells.entries()) {
    if (Number.isNaN(value)) expect(decoded.cells[i]).toBeNaN()
    else expect(Math.abs(decoded.cells[i]! - value)).toBeLessThanOrEqual(Math.abs(value) / 8192)
  }
})

test('damaged bytes are refused', () => {
  const bytes = encodeFleetRange(range(Float32Array.of(1, 2), ['a', 'b'], 1))
  for (const damaged of [bytes.slice(0, 3), bytes.slice(0, 20), bytes.slice(0, -1), new Uint8Array(8)])
    expect(() => decodeFleetRange(damaged)).toThrow(/fleet/)
})
