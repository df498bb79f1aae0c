import { expect, test } from 'vitest'
import { isElsewhere, lineColor, lineDash, readingOf } from '../../src/ui/chart/line-style.ts'
import type { ChartData, ChartLine } from '../../src/ui/data/chart-data.ts'

const frame = { from: 0, to: 100 }

/** A chart with a line named a, b, ... for each column. */
function chartOf(times: readonly number[], ...columns: readonly ChartLine['values'][]): ChartData {
  const lines = columns.map((values, i): ChartLine => {
    const name = String.fromCharCode(97 + i)
    const info = { name, pmid: '1.0.0', type: 'double', sem: 'instant', units: 'none', indom: null, help: '' }
    return { key: name, label: name, plot: { metric: name }, info, instance: null, values }
  })
  const measure = { kind: 'number', factor: 1, suffix: '' } as const
  return {
    frame,
    times,
    lines,
    heads: new Map(),
    measure,
    isMixed: false,
    limits: undefined,
    ends: new Map(),
    problems: [],
    isWaiting: false,
    isReading: false,
  }
}

test("a line shows the value that holds at another line's sample; a gap shows none", () => {
  const data = chartOf([10, 20, 30, 40], [1, undefined, 3, null], [undefined, 5, undefined, undefined])
  const read = (i: number) => [0, 1, 2, 3].map((at) => readingOf(data, undefined, i, at))
  expect(read(0)).toEqual(['1', '1', '3', '–'])
  expect(read(1)).toEqual(['–', '5', '5', '5'])
})

test('the newest value is from the window', () => {
  expect(readingOf(chartOf([10, 90, 900], [1, 2, 3]), undefined, 0)).toBe('2')
  // The clock of the host is slightly ahead.
  expect(readingOf(chartOf([10, 90, 102], [1, 2, 3]), undefined, 0)).toBe('3')
  expect(readingOf(chartOf([900], [3]), undefined, 0)).toBe('–')
})

test('values may all lie outside of the window', () => {
  expect(isElsewhere(chartOf([900], [3]))).toBe(true)
  expect(isElsewhere(chartOf([-50], [3]))).toBe(true)
  expect(isElsewhere(chartOf([-50, 900], [3, 3]))).toBe(false)
  expect(isElsewhere(chartOf([50], [3]))).toBe(false)
  expect(isElsewhere(chartOf([]))).toBe(false)
})

test('shares include hidden lines', () => {
  const data = chartOf([10], [1], [3], [4])
  expect(readingOf(data, 'share', 0)).toBe('12.5 %')
  expect(readingOf(data, 'share', 0, undefined, new Set(['c']))).toBe('12.5 %')
  expect(readingOf(data, 'share', 2, undefined, new Set(['c']))).toBe('–')
})

test('no two lines look the same, however many there are', () => {
  const data = chartOf([10], ...Array.from({ length: 20 }, () => [1]))
  const looks = data.lines.map((_, i) => [lineColor(data, i), lineDash(data, i)].join())
  expect(new Set(looks).size).toBe(20)
  expect(data.lines.slice(0, 8).every((_, i) => lineDash(data, i) === undefined)).toBe(true)
})
