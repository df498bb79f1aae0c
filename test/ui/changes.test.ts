/** The Changes panel: its questions, texts and charts. */
import { expect, test } from 'vitest'
import type { Change } from '../../src/analysis/what-changed.ts'
import { distancesFor, queryFor } from '../../src/ui/changes/ask.ts'
import { partsOf, plotsOf, sizeOf, valuesOf, whenOf } from '../../src/ui/changes/words.ts'

const change: Change = {
  metric: 'disk.dev.write_bytes',
  instance: 'sda',
  inst: 0,
  kind: 'level',
  direction: 'up',
  score: 0.9,
  before: 512,
  now: 8192,
  units: 'Kbyte / sec',
  isRate: true,
  since: 1,
  help: '',
  sparks: { before: [], now: [] },
  others: [],
  until: null,
}

test('offers only windows without overlap', () => {
  const frame = { from: 100_000, to: 107_200 }
  expect(distancesFor(frame).map(([seconds]) => seconds)).toEqual([0, 86_400, 604_800])
  expect(queryFor(frame, 86_400)).toMatchObject({ before: { start: 13_600, finish: 20_800 } })
  expect(queryFor(frame, 0)).not.toHaveProperty('before')
})

test('values have units, and sizes are in words', () => {
  expect(valuesOf(change)).toEqual(['512 KiB/s', '8.00 MiB/s'])
  expect(sizeOf(change)).toBe('× 16')
  expect(sizeOf({ ...change, before: 8192, now: 4096 })).toBe('÷ 2')
  expect(sizeOf({ ...change, before: 0 })).toBe('')
  const share = { ...change, units: '', before: 0.02, now: null }
  expect(valuesOf({ ...share, kind: 'gone' })).toEqual(['2.00 %', 'none'])
  expect(sizeOf({ ...share, kind: 'gone' })).toBe('gone')
})

test('changes below the noise are folded away, in their order', () => {
  const scored = (...scores: number[]) => scores.map((score) => ({ ...change, score }))
  expect(partsOf(scored(0.9, 0.14, 0.15, 0.02)).map((part) => part.map(({ score }) => score))).toEqual([
    [0.9, 0.15],
    [0.14, 0.02],
  ])
  expect(partsOf([])).toEqual([[], []])
})

test('a change that is over has an end', () => {
  expect(whenOf({ ...change, since: 60 }, 'UTC')).toBe('since 00:01:00')
  expect(whenOf({ ...change, since: 60, until: 120 }, 'UTC')).toBe('00:01:00 to 00:02:00')
})

test('a chart shows the series and the others of its metric, all if there are many', () => {
  const other = (instance: string) => ({ metric: change.metric, instance, direction: 'up' as const })
  const text = (plots: ReturnType<typeof plotsOf>) => plots.map(({ instances }) => instances?.text)
  expect(text(plotsOf({ ...change, others: [other('sdb'), { ...other('x'), metric: 'y' }] }))).toEqual([
    'sda',
    'sdb',
  ])
  expect(text(plotsOf({ ...change, others: ['b', 'c', 'd', 'e'].map(other) }))).toEqual([undefined])
  expect(plotsOf({ ...change, instance: '' })).toEqual([{ metric: change.metric }])
})
