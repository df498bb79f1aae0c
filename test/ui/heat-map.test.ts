import { expect, test } from 'vitest'
import { heatRuns } from '../../src/ui/chart/heat-map.ts'

const runs = (times: readonly number[], values: readonly (number | null | undefined)[]) =>
  heatRuns(times, values, [0, 1], 11).map(({ from, to, shade }) => [from, to, shade])

test('a value fills the time since the one before it; neighbours of one colour are one', () => {
  expect(runs([10, 20, 30, 40], [0.5, 0.5, 1, 1])).toEqual([
    [10, 20, 5],
    [20, 40, 10],
  ])
})

test('samples that other rows have are no interruption', () => {
  expect(runs([10, 12, 20, 22, 30], [0.5, undefined, 0.5, undefined, 1])).toEqual([
    [10, 20, 5],
    [20, 30, 10],
  ])
})

test('nothing fills a gap', () => {
  expect(runs([10, 20, 21, 90, 100], [0.5, 0.5, null, 1, 1])).toEqual([
    [10, 20, 5],
    [90, 100, 10],
  ])
})
