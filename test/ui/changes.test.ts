/** The Changes panel: its questions, texts and charts. */
import { expect, test } from 'vitest'
import type { Change } from '../../src/analysis/what-changed.ts'
import { distancesFor, queryFor } from '../../src/ui/changes/ask.ts'
import { partsOf, plotsOf, sizeOf, valuesOf, whenOf } from '../../src/ui/changes/words.ts'
import { formatSpan } from '../../src/ui/time/format.ts'

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

test('offers no distance of which nothing is recorded', () => {
  const frame = { from: 1_000_000, to: 1_000_300 }
  const offered = (recordedFrom: number) => distancesFor(frame, recordedFrom).map(([seconds]) => seconds)
  expect(offered(1_000_000 - 1800)).toEqual([0])
  expect(offered(1_000_000 - 3600)).toEqual([0, 3600])
  expect(offered(0)).toEqual([0, 3600, 86_400, 604_800])
})

test('compares with a chosen window, earlier or later, unless they overlap', () => {
  const frame = { from: 1000, to: 1300 }
  expect(queryFor(frame, { from: 100, to: 1000 })).toMatchObject({
    span: { start: 1000, finish: 1300 },
    before: { start: 100, finish: 1000 },
  })
  expect(queryFor(frame, { from: 1300, to: 1400 })).toMatchObject({ before: { start: 1300 } })
  for (const other of [frame, { from: 100, to: 1001 }, { from: 1299, to: 2000 }, { from: 1100, to: 1200 }])
    expect(queryFor(frame, other)).toBeUndefined()
  expect(formatSpan(60, 120, 'UTC')).toBe('1970-01-01 00:01:00 to 00:02:00')
  expect(formatSpan(60, 86_460, 'UTC')).toBe('1970-01-01 00:01:00 to 1970-01-02 00:01:00')
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
