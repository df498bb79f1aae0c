/** The strip that shows all that is recorded. */
import { describe, expect, test } from 'vitest'
import type { ChartRange, ChartRangeMetric } from '../../src/archive/chart-answer.ts'
import { dragged, keyStep } from '../../src/ui/minimap/drag.ts'
import { pathsOf, recordedLine, recordedQuery, spanOfHistory } from '../../src/ui/minimap/recorded.ts'

const SPAN = { from: 0, to: 6000 }
const FIRST = { metric: 'disk.all.total' }

type Columns = Readonly<Record<string, readonly (readonly [time: number, value: number])[]>>

/** An answer with one line for each metric. */
function answerOf(columns: Columns): ChartRange {
  const lists: Float64Array[] = []
  const put = (list: readonly number[]): number => lists.push(Float64Array.from(list)) - 1
  const metrics = Object.entries(columns).map(
    ([name, points]): ChartRangeMetric => ({
      ...{
        name,
        pmid: '1.2.3',
        type: 'double',
        sem: 'instant',
        units: 'none',
        indom: null,
        help: '',
        rate: false,
      },
      columns: [
        {
          inst: -1,
          name: '',
          times: put(points.map(([at]) => at)),
          values: put(points.map(([, value]) => value)),
        },
      ],
    }),
  )
  return { start: SPAN.from, finish: SPAN.to, marks: [], metrics, lists }
}

/** A value each 10 seconds but in [from, to). */
const each10 = (value: (at: number) => number, [from, to] = [0, 0]): (readonly [number, number])[] =>
  Array.from({ length: 601 }, (_, i) => [10 * i, value(10 * i)] as const).filter(
    ([at]) => at < from || at >= to,
  )

describe('the line', () => {
  test('is the busy share of all CPUs', () => {
    const line = recordedLine(
      answerOf({ 'kernel.all.cpu.idle': each10(() => 3), 'hinv.ncpu': [[0, 4]] }),
      SPAN,
      FIRST,
    )
    expect(line.label).toBe('CPU busy')
    expect(new Set(line.values)).toEqual(new Set([0.25]))
    expect(line.gaps).toEqual([])
    expect(line.reboots).toEqual([])
  })

  test('is the first metric of the view where CPUs were not recorded, relative to its highest value', () => {
    const line = recordedLine(
      answerOf({ 'disk.all.total': each10((at) => (at === 50 ? 8 : 2)) }),
      SPAN,
      FIRST,
    )
    expect(line.label).toBe('disk.all.total')
    expect(line.values.slice(4, 7)).toEqual([0.25, 1, 0.25])
  })

  test('of a recording of minutes has no gaps between its samples', () => {
    const points = each10((time) => time % 3).slice(0, 61)
    const answer = answerOf({ 'kernel.all.cpu.idle': points })
    expect(recordedLine(answer, { from: 0, to: 600 }, FIRST).gaps).toEqual([])
    const later = points.filter(([time]) => time < 200 || time >= 300)
    expect(
      recordedLine(answerOf({ 'kernel.all.cpu.idle': later }), { from: 0, to: 600 }, FIRST).gaps,
    ).toEqual([{ from: 190, to: 300 }])
  })

  test('has gaps where nothing was recorded, also at the ends', () => {
    const points = each10(() => 0, [1000, 2000]).filter(([at]) => at >= 500 && at < 5000)
    const { gaps } = recordedLine(answerOf({ 'kernel.all.cpu.idle': points }), SPAN, FIRST)
    expect(gaps).toEqual([
      { from: 990, to: 2000 },
      { from: 4990, to: 6000 },
      { from: 0, to: 500 },
    ])
  })

  test('marks reboots, but not clocks that are a bit off', () => {
    const uptime = each10((at) => (at < 3000 ? 10_000 + at - (at === 1000 ? 12 : 0) : at - 2990))
    const { reboots } = recordedLine(answerOf({ 'kernel.all.uptime': uptime }), SPAN, undefined)
    expect(reboots).toEqual([3000])
  })

  test('of an empty answer is one gap', () => {
    const line = recordedLine(answerOf({}), SPAN, undefined)
    expect(line.gaps).toEqual([SPAN])
    expect(pathsOf(line, [100, 10])).toEqual({ line: '', area: '' })
  })

  test('is interrupted by gaps in its path, and closed to the bottom', () => {
    const points = [
      [0, 0],
      [10, 0],
      [3000, 1],
      [3010, 1],
    ] as const
    const line = recordedLine(
      answerOf({ 'kernel.all.cpu.idle': points, 'hinv.ncpu': [[0, 1]] }),
      SPAN,
      undefined,
    )
    expect(pathsOf(line, [6000, 10])).toEqual({
      line: 'M0.0 1.0L10.0 1.0M3000.0 9.0L3010.0 9.0',
      area: 'M0.0 10L0.0 1.0L10.0 1.0L10.0 10ZM3000.0 10L3000.0 9.0L3010.0 9.0L3010.0 10Z',
    })
  })

  test('marks a bounded number of gaps and reboots', () => {
    // Four samples, and a gap of 37 seconds.
    const wild = Array.from(
      { length: 20_000 },
      (_, i) => [40 * (i >> 2) + (i & 3), i % 2 === 0 ? 1e6 : 0] as const,
    )
    const line = recordedLine(
      answerOf({ 'kernel.all.cpu.idle': wild, 'kernel.all.uptime': wild }),
      { from: 0, to: 6000 },
      undefined,
    )
    expect(line.gaps).toHaveLength(200)
    expect(line.reboots).toHaveLength(200)
  })
})

test('the query has a fixed number of points, and each metric once', () => {
  const query = recordedQuery(SPAN, { metric: 'page.x1', expr: 'a / b' })
  expect(query).toMatchObject({ start: 0, finish: 6000, points: 600, derive: { 'page.x1': 'a / b' } })
  expect(query.names).toEqual(['kernel.all.cpu.idle', 'hinv.ncpu', 'kernel.all.uptime', 'page.x1'])
  expect(recordedQuery(SPAN, { metric: 'hinv.ncpu' }).names).toHaveLength(3)
})

test('the span of a host is that of the archives in its directory', () => {
  const archive = (id: string, start: number, end: number) => ({
    id,
    host: 'h',
    zone: 'UTC',
    start,
    end,
    bytes: 1,
  })
  const all = [archive('0/h/a', 10, 20), archive('0/h/b', 30, 40), archive('0/hh/c', 0, 99)]
  expect(spanOfHistory(all, '0/h')).toEqual({ from: 10, to: 40 })
  expect(spanOfHistory(all, '0/h/b')).toEqual({ from: 30, to: 40 })
  expect(spanOfHistory(all, '1')).toBeUndefined()
})

describe('the window', () => {
  const bounds = { from: 0, to: 1000 }
  const frame = { from: 400, to: 500 }

  test.each([
    ['window', 50, { from: 450, to: 550 }],
    ['window', 900, { from: 900, to: 1000 }],
    ['window', -900, { from: 0, to: 100 }],
    ['start', -50, { from: 350, to: 500 }],
    ['start', -900, { from: 0, to: 500 }],
    ['start', 200, { from: 499, to: 500 }],
    ['end', 50, { from: 400, to: 550 }],
    ['end', 900, { from: 400, to: 1000 }],
    ['end', -200, { from: 400, to: 401 }],
  ] as const)('%s moved by %d', (grip, by, expected) => {
    expect(dragged(frame, grip, by, bounds)).toEqual(expected)
  })

  test('wider than all that is recorded ends with it', () => {
    expect(dragged({ from: -1000, to: 900 }, 'window', 50, bounds)).toEqual({ from: -900, to: 1000 })
  })

  test.each([
    ['ArrowLeft', false, -10],
    ['ArrowRight', false, 10],
    ['ArrowRight', true, 100],
    ['PageUp', false, 100],
    ['Home', false, -500],
    ['End', false, 600],
    ['x', false, undefined],
  ])('%s (large: %s) moves by %s', (key, isLarge, expected) => {
    expect(keyStep(key, isLarge, frame, bounds)).toBe(expected)
  })
})
