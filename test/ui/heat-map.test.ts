import { expect, test } from 'vitest'
import {
  type HeatReading,
  heatAt,
  heatColors,
  heatMove,
  heatRuns,
  heatSample,
} from '../../src/ui/chart/heat-map.ts'
import { sampleBy, stepOf } from '../../src/ui/chart/reading.ts'
import type { ChartData } from '../../src/ui/data/chart-data.ts'

const runs = (times: readonly number[], values: readonly (number | null | undefined)[]) =>
  heatRuns(times, values, [0, 1], 11).map(({ from, to, shade }) => [from, to, shade])

test('a value fills the time since its predecessor; neighbours of one colour are merged', () => {
  expect(runs([10, 20, 30, 40], [0.5, 0.5, 1, 1])).toEqual([
    [10, 20, 5],
    [20, 40, 10],
  ])
})

test('samples of other rows do not interrupt a row', () => {
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

test('the value under the pointer is the one drawn there', () => {
  const values = [null, 1, 2, undefined, 3, null, 4, 5]
  const data = {
    times: [0, 10, 20, 25, 30, 40, 50, 60],
    lines: [{ key: 'a', values }],
  } as unknown as ChartData
  const read = (time: number) => {
    const place = heatAt(data, { from: 0, to: 100 }, time / 100, 0.5)
    return place === undefined ? undefined : values[data.times.indexOf(place.time)]
  }
  expect([5, 15, 22, 28, 35, 45, 55, 65].map(read)).toEqual([
    undefined,
    2,
    3,
    3,
    undefined,
    undefined,
    5,
    undefined,
  ])
  expect(heatAt(data, { from: 0, to: 100 }, 0.15, 1)).toBeUndefined()
})

const pressed = (key: string) =>
  stepOf({ key, shiftKey: false, altKey: false, ctrlKey: false, metaKey: false })!

test('keys move to samples of a row, and to other rows at about the same time', () => {
  const data = {
    times: [0, 10, 11, 20, 21, 30],
    frame: { from: 0, to: 30 },
    lines: [
      { key: 'a', values: [1, 2, undefined, 3, undefined, null] },
      { key: 'b', values: [undefined, undefined, 4, undefined, 5, undefined] },
      { key: 'c', values: [null, null, null, null, null, null] },
    ],
  } as unknown as ChartData
  const path = [
    'ArrowUp',
    'ArrowLeft',
    'ArrowDown',
    'ArrowRight',
    'ArrowRight',
    'ArrowDown',
    'ArrowUp',
    'ArrowUp',
    'Home',
    'End',
  ]
  let at: HeatReading | undefined
  const seen = path.map((key) => {
    at = heatMove(data, at, pressed(key))
    return [at!.key, data.times.indexOf(at!.time)]
  })
  expect(seen).toEqual([
    ['a', 3],
    ['a', 1],
    ['b', 2],
    ['b', 4],
    ['b', 4],
    ['c', 4],
    ['b', 4],
    ['a', 3],
    ['a', 0],
    ['a', 3],
  ])
  expect(heatMove(data, undefined, pressed('ArrowLeft'), 19)).toEqual({ key: 'a', time: 10 })
  expect(heatMove({ ...data, times: [], lines: [] }, undefined, pressed('Home'))).toBeUndefined()
})

test('a reading keeps its line and its part of the time when the data changes', () => {
  const row = (key: string, ...values: (number | null | undefined)[]) => ({ key, values })
  const data = (times: number[], ...lines: unknown[]) =>
    ({ times, lines, frame: { from: 0, to: 60 } }) as unknown as ChartData
  const at = { key: 'b', time: 20 }
  const [a, z] = [row('a', 1, 2, 3, 4), row('z', 6, 7, 8, 9)]
  const read = (shown: ChartData, reading = at): unknown => {
    const found = heatSample(shown, reading)
    return found && [found.row, shown.times[found.index], shown.lines[found.row]!.values[found.index]]
  }
  expect(read(data([10, 20, 30, 40], row('b', 1, 2, 3, 4), z))).toEqual([0, 20, 2])
  expect(read(data([10, 20, 30, 40], a, row('b', 1, 2, 3, 4), z))).toEqual([1, 20, 2])
  expect(read(data([10, 30, 40], row('b', 1, 2.5, 4)))).toEqual([0, 30, 2.5])
  expect(read(data([10, 25, 30, 40], row('b', 1, undefined, 2.5, 4), z))).toEqual([0, 30, 2.5])
  // In a gap and after the end of a line, values of other times are not shown.
  expect(read(data([10, 15, 30, 40], row('b', 1, null, 3, 4)), { key: 'b', time: 12 })).toEqual([0, 15, null])
  expect(read(data([10, 15], row('b', 1, 2)))).toEqual([0, undefined, undefined])
  expect(read(data([10, 20, 30, 40], a, z))).toBeUndefined()
  const moved = data([10, 30, 40, 50], a, row('b', 1, 2, 3, 4), z)
  expect(heatMove(moved, at, pressed('ArrowDown'))).toEqual({ key: 'z', time: 30 })
  // From the sample that is shown.
  expect(heatMove(moved, at, pressed('ArrowRight'))).toEqual({ key: 'b', time: 40 })
  expect(heatMove(moved, at, pressed('ArrowLeft'))).toEqual({ key: 'b', time: 10 })
  expect(heatMove(moved, { key: 'gone', time: 20 }, pressed('ArrowUp'))).toEqual({ key: 'a', time: 10 })
})

test('only samples of the shown window are read', () => {
  const data = { times: [0, 10, 20, 30], frame: { from: 5, to: 25 } }
  const all = () => true
  expect([-1, 1, -10, -Infinity, Infinity].map((by) => sampleBy(data, all, 10, by))).toEqual([1, 2, 1, 1, 2])
  expect([-1, 10, Infinity, -Infinity].map((by) => sampleBy(data, all, undefined, by))).toEqual([2, 2, 2, 1])
  // The window has moved since.
  expect(sampleBy(data, all, -100, 1)).toBe(2)
  expect(sampleBy(data, (i) => i === 0, 10, 1)).toBeUndefined()
})

test('arrows move by one, with Shift by ten; other keys, and keys with other modifiers, do not move', () => {
  const key = (name: string, more = {}) =>
    stepOf({ key: name, shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, ...more })
  expect(key('ArrowLeft')).toEqual([0, -1])
  expect(key('ArrowDown', { shiftKey: true })).toEqual([10, 0])
  expect(key('End')).toEqual([0, Infinity])
  expect([key('x'), key('ArrowLeft', { altKey: true })]).toEqual([undefined, undefined])
})

test('small shares of time have their own colours', () => {
  const colors: Record<string, string> = {
    'var(--heat-low)': '#ffffff',
    'var(--heat-middle)': '#ff8000',
    'var(--heat-high)': '#ff0000',
  }
  const scale = heatColors((name) => colors[name]!)
  const at = (share: number) => scale[Math.round(share * (scale.length - 1))]
  expect([0, 0.3, 1].map(at)).toEqual(['rgb(255 255 255)', 'rgb(255 128 0)', 'rgb(255 0 0)'])
  // A tenth is a third of the way to the middle colour.
  expect(at(0.1)).toBe('rgb(255 213 170)')
  expect(new Set(scale).size).toBe(scale.length)
})
