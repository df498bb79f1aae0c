/** The large value of a chart. */
import { expect, test } from 'vitest'
import { headlineOf } from '../../src/ui/chart/Headline.tsx'
import type { ChartData } from '../../src/ui/data/chart-data.ts'
import type { Plot } from '../../src/ui/view/view.ts'

interface Drawn {
  readonly label: string
  readonly values: readonly (number | null | undefined)[]
  readonly color?: string
  readonly plot?: Plot
}

function chartOf(drawn: readonly Drawn[]): ChartData {
  const info = { name: 'm', pmid: '1.0.0', type: 'u64', sem: 'rate', units: 'none', indom: '1.0', help: '' }
  const lines = drawn.map(({ label, values, color, plot }) => ({
    ...{ key: label, label, info, instance: plot === undefined ? null : label, values },
    plot: plot ?? { metric: label, ...(color === undefined ? {} : { color }) },
  }))
  return {
    ...{ frame: { from: 0, to: 100 }, times: [10, 50, 90], lines, heads: new Map(), isMixed: false },
    measure: { kind: 'number', factor: 1, suffix: '' },
    ...{ limits: undefined, ends: new Map(), problems: [], isWaiting: false, isReading: false },
  }
}

const NONE: ReadonlySet<string> = new Set()
const AT_50 = { at: 50, slack: 1 }
const CPU = chartOf([
  { label: 'user', values: [1, 2, 3] },
  { label: 'system', values: [1, 1, 1] },
  { label: 'I/O wait', values: [0, 1, 2], color: 'var(--iowait)' },
  { label: 'idle', values: [2, 0, 2], color: 'transparent' },
])

test('a stack has its total without idle time and free memory, newest or under the pointer', () => {
  const of = 'without I/O wait, idle'
  expect(headlineOf(CPU, 'share', NONE, undefined)).toEqual({ value: '50.0 %', of })
  expect(headlineOf(CPU, 'share', NONE, AT_50)).toEqual({ value: '75.0 %', of })
  expect(headlineOf(CPU, 'sum', NONE, undefined)).toEqual({ value: '4', of })
  expect(headlineOf(CPU, 'sum', new Set(['system']), undefined)?.value).toBe('3')
  const parts = chartOf([
    { label: 'a', values: [1, 1, 1] },
    { label: 'b', values: [1, 1, 2] },
  ])
  expect(headlineOf(parts, 'sum', NONE, undefined)).toEqual({ value: '3', of: 'total' })
})

test('lines have the value of the first in the legend, which is named if there are others', () => {
  const load = chartOf([
    { label: 'CPUs', values: [8, 8, 8], color: 'var(--faint)' },
    { label: '1 minute', values: [1, 2, 3] },
    { label: '5 minutes', values: [1, 1, 9] },
  ])
  expect(headlineOf(load, undefined, NONE, undefined)).toEqual({ value: '3', of: '1 minute' })
  expect(headlineOf(load, undefined, new Set(['1 minute']), undefined)?.of).toBe('5 minutes')
  const plot = { metric: 'disk.read' }
  const disks = chartOf([
    { label: 'sda', values: [1, 1, 5], plot },
    { label: 'sdb', values: [9, 9, 4], plot },
  ])
  expect(headlineOf(disks, undefined, NONE, undefined)).toEqual({ value: '4', of: 'sdb' })
  const ways = chartOf([
    { label: 'sda read', values: [1, 1, 0], plot: { metric: 'disk.read' } },
    { label: 'sda written', values: [2, 2, 2], plot: { metric: 'disk.write' } },
  ])
  expect(headlineOf(ways, undefined, NONE, undefined)).toEqual({ value: '2', of: 'sda written' })
  // The title of a chart cannot name an instance, so the value does.
  const disk = chartOf([{ label: 'sda read', values: [1, 1, 7], plot: { metric: 'disk.read' } }])
  expect(headlineOf(disk, undefined, NONE, undefined)).toEqual({ value: '7', of: 'sda read' })
  const one = chartOf([{ label: 'forks', values: [1, 2, undefined] }])
  expect(headlineOf(one, undefined, NONE, undefined)).toEqual({ value: '2', of: '' })
})

test('without a value the headline is empty', () => {
  const empty = chartOf([{ label: 'a', values: [null, null, null] }])
  expect(headlineOf(empty, undefined, NONE, undefined)).toBeUndefined()
  expect(headlineOf(empty, 'share', NONE, undefined)).toBeUndefined()
  expect(headlineOf(chartOf([]), 'sum', NONE, undefined)).toBeUndefined()
  const idle = chartOf([{ label: 'a', values: [0, 0, 0] }])
  expect(headlineOf(idle, 'share', NONE, undefined)).toBeUndefined()
  const gap = chartOf([{ label: 'a', values: [1, null, 3] }])
  expect(headlineOf(gap, undefined, NONE, AT_50)).toBeUndefined()
})
