/** A common scale for charts of several sources side by side. */
import { effect } from '@preact/signals'
import { expect, test } from 'vitest'
import { SharedScale, sharedScale } from '../../src/ui/chart/shared-scale.ts'
import type { Chart } from '../../src/ui/view/view.ts'

const bytes = { kind: 'bytes', factor: 1, suffix: '' } as const

test('the range of one chart applies to all, and changes redraw them', () => {
  const scale = new SharedScale()
  let drawn = 0
  const stop = effect(() => {
    scale.version
    drawn++
  })
  expect(scale.include('a', bytes, [0, 10])).toEqual([0, 10])
  expect(scale.include('b', bytes, [-5, 100])).toEqual([-5, 100])
  expect(drawn).toBe(3)
  expect(scale.include('a', bytes, [0, 20])).toEqual([-5, 100])
  expect(drawn).toBe(3)
  scale.drop('b')
  expect(drawn).toBe(4)
  expect(scale.include('a', bytes, [0, 20])).toEqual([0, 20])
  expect(drawn).toBe(4)
  stop()
})

test('charts of other measures keep their scale', () => {
  const scale = new SharedScale()
  scale.include('a', bytes, [0, 1e9])
  expect(scale.include('b', { kind: 'number', factor: 1, suffix: '/s' }, [0, 3])).toEqual([0, 3])
})

test('all sources of a chart of the view share one', () => {
  const chart: Chart = { id: 'c', title: 'c', style: 'plot', legend: true, plots: [] }
  expect(sharedScale(chart)).toBe(sharedScale(chart))
  expect(sharedScale({ ...chart })).not.toBe(sharedScale(chart))
})
