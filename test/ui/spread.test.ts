/** One view applied to several sources. */
import { expect, test } from 'vitest'
import { chartsFor } from '../../src/ui/view/spread.ts'
import type { Chart } from '../../src/ui/view/view.ts'

const LINES: Chart = {
  id: 'a',
  title: 'Load',
  style: 'plot',
  legend: true,
  wide: true,
  plots: [{ metric: 'load' }, { metric: 'other', source: 'host:c' }],
}
const sourcesOf = (charts: ReturnType<typeof chartsFor>): unknown =>
  charts.map(({ chart }) => chart.plots.map(({ source }) => source))

test('one source leaves a chart unchanged', () => {
  expect(chartsFor(LINES, ['host:a'], 'beside')).toEqual([{ chart: LINES, origin: LINES, source: 'host:a' }])
})

test('side by side, each source has a chart, and plots that name a source keep it', () => {
  const charts = chartsFor(LINES, ['host:a', 'host:b'], 'beside')
  expect(sourcesOf(charts)).toEqual([
    ['host:a', 'host:c'],
    ['host:b', 'host:c'],
  ])
  expect(charts.map(({ chart }) => chart.id)).toEqual(['a host:a', 'a host:b'])
  expect(charts[0]!.chart.wide, 'one row holds all of them').toBeUndefined()
})

test('in one chart, lines of all sources are combined, those of a named source once', () => {
  const charts = chartsFor(LINES, ['host:a', 'host:b'], 'over')
  expect(sourcesOf(charts)).toEqual([['host:a', 'host:c', 'host:b']])
})

test('stacks and lists are never combined into one chart', () => {
  for (const style of ['stacking', 'utilization', 'bar', 'grid', 'table'] as const)
    expect(chartsFor({ ...LINES, style }, ['host:a', 'host:b'], 'over')).toHaveLength(2)
})

test('a chart whose plots all name their source appears once', () => {
  const pinned = { ...LINES, plots: [{ metric: 'x', source: 'host:c' }] }
  expect(chartsFor(pinned, ['host:a', 'host:b'], 'beside')).toHaveLength(1)
})
