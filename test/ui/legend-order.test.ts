/** Order and colours of lines. */
import { expect, test } from 'vitest'
import { legendOrder } from '../../src/ui/chart/legend-order.ts'
import { lineColor } from '../../src/ui/chart/line-style.ts'
import type { ChartData } from '../../src/ui/data/chart-data.ts'

const PLOTS = [{ metric: 'disk.read' }, { metric: 'disk.write' }]

/** A chart with a line for each plot and instance; `values` by instance. */
function chartOf(values: Readonly<Record<string, readonly (number | null)[]>>, plots = PLOTS): ChartData {
  const info = { name: 'm', pmid: '1.0.0', type: 'u64', sem: 'rate', units: 'none', indom: '1.0', help: '' }
  const lines = plots.flatMap((plot) =>
    Object.entries(values).map(([instance, own]) => ({
      ...{ key: `${plot.metric} ${instance}`, label: instance, plot, info, instance, values: own },
    })),
  )
  return {
    ...{ frame: { from: 0, to: 100 }, times: [-10, 50, 90], lines, heads: new Map(), isMixed: false },
    measure: { kind: 'number', factor: 1, suffix: '' },
    ...{ limits: undefined, ends: new Map(), problems: [], isWaiting: false, isReading: false },
  }
}

const ONE = PLOTS.slice(0, 1)

test('lines of instances are sorted by their mean over the window', () => {
  // The first sample is before the window.
  const data = chartOf({ a: [99, 1, 1], b: [0, 5, 0], c: [0, null, null] }, ONE)
  expect(legendOrder(data, undefined)).toEqual({ shown: [1, 0, 2], idle: [] })
  expect(legendOrder(data, 'sum').shown).toEqual([0, 1, 2])
})

test('of many lines, zero ones are folded, unknown ones are not', () => {
  const data = chartOf({ a: [0, 0, 0], b: [0, 0, 0], c: [0, 1, 0], d: [null, null, null], e: [0, 2, 0] }, ONE)
  expect(legendOrder(data, undefined)).toEqual({ shown: [4, 2, 3], idle: [0, 1] })
  const none = chartOf(Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, [0, 0, 0]])), ONE)
  expect(legendOrder(none, undefined)).toEqual({ shown: [0], idle: [1, 2, 3, 4] })
})

test('an instance keeps its colour when others appear and in other charts', () => {
  const colors = (names: readonly string[], plots = PLOTS): Map<string, string> => {
    const data = chartOf(Object.fromEntries(names.map((name) => [name, [1, 1, 1]])), plots)
    return new Map(data.lines.map(({ key }, i) => [key, lineColor(data, i)]))
  }
  const before = colors(['eth0', 'wlan0'], ONE)
  const after = colors(['docker0', 'eth0', 'wlan0'], ONE)
  expect(new Set(after.values()).size).toBe(3)
  expect(after.get('disk.read eth0')).toBe(before.get('disk.read eth0'))
  const other = colors(['eth0', 'wlan0'], [{ metric: 'other.in' }])
  expect(other.get('other.in eth0')).toBe(before.get('disk.read eth0'))
  const all = colors(['a', 'b', 'c', 'd'])
  expect(new Set(all.values()).size).toBe(8)
})
