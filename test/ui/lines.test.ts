/** Lines of charts: rates, cutting, joining, alignment; and the store of live rows. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawnColumns, type StackData } from '../../src/ui/chart/stack.ts'
import { align, cut, firstAtOrAfter, held, joined, ratesOf } from '../../src/ui/data/line.ts'
import { KEPT, LiveStore } from '../../src/ui/data/live-store.ts'
import type { MetricInfo } from '../../src/ui/data/responses.ts'

const line = (times: number[], values: (number | null)[]) => ({ instance: null, times, values })

test('a counter becomes a rate: null at its start, after a gap, and where it decreased', () => {
  expect(ratesOf([0, 1, 3, 4, 5, 6, 7], [10, 20, 50, 5, null, 7, 8])).toEqual([
    null,
    10,
    15,
    null,
    null,
    null,
    1,
  ])
  expect(ratesOf([0, 2], [0, 3000], 0.001)).toEqual([null, 1.5])
})

const LIVE = { every: 1, isDiscrete: false }

test('a cut keeps one sample beyond either edge', () => {
  const whole = line([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5])
  expect(cut(whole, 2, 3).times).toEqual([1, 2, 3])
  expect(cut(whole, 2.5, 2.6).times).toEqual([2, 3])
  expect(cut(whole, -1, 9)).toEqual(whole)
})

test('recorded values end where live ones begin, without a gap for the missing first rate', () => {
  const both = joined(line([0, 10, 20, 30], [1, 2, 3, 4]), line([25, 26], [null, 9]), LIVE)
  expect(both).toEqual(line([0, 10, 20, 26], [1, 2, 3, 9]))
  expect(joined(line([1], [null]), undefined, LIVE)).toEqual(line([1], [null]))
})

test('recorded values are not connected to much later live ones', () => {
  const recorded = line([0, 10, 20], [1, 2, 3])
  expect(joined(recorded, line([300, 301], [8, 9]), LIVE)).toEqual(
    line([0, 10, 20, 160, 300, 301], [1, 2, 3, null, 8, 9]),
  )
  expect(joined(recorded, line([37, 38], [8, 9]), LIVE).times).toEqual([0, 10, 20, 37, 38])
  // One sample does not show the recording interval.
  expect(joined(line([20], [3]), line([37], [8]), LIVE).values).toEqual([3, null, 8])
  expect(joined(line([20], [3]), line([37], [8]), { ...LIVE, every: 10 }).values).toEqual([3, 8])
})

test('aligned lines keep their samples, and are undefined at samples of others', () => {
  expect(align([line([1, 3], [10, null]), line([1, 2], [5, 6])])).toEqual({
    times: [1, 2, 3],
    lines: [{ values: [10, undefined, null] }, { values: [5, 6, undefined] }],
  })
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 50 })).map((list) => list.sort((a, b) => a - b))
  fc.assert(
    fc.property(fc.array(times, { maxLength: 5 }), (lists) => {
      const lines = lists.map((list) =>
        line(
          list,
          list.map((time) => time * 2),
        ),
      )
      const aligned = align(lines)
      expect(aligned.times).toEqual([...new Set(lists.flat())].sort((a, b) => a - b))
      for (const [i, { values }] of aligned.lines.entries())
        expect(aligned.times.filter((_, at) => values[at] !== undefined)).toEqual(lists[i])
    }),
  )
})

test('the index of the first time at or after another', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer(), (list, time) => {
      list.sort((a, b) => a - b)
      const found = list.findIndex((one) => one >= time)
      expect(firstAtOrAfter(list, time)).toBe(found < 0 ? list.length : found)
    }),
  )
})

/** A chart with a line named a, b, ... for each column, each of its own plot. */
function stackOf(times: readonly number[], ...columns: readonly (number | null | undefined)[][]): StackData {
  return {
    times,
    lines: columns.map((values, i) => ({ key: 'abcd'[i]!, plot: { metric: 'abcd'[i]! }, values })),
  }
}

const none: ReadonlySet<string> = new Set()

test('a line holds its last value, after the final sample only while another may follow', () => {
  expect(held([undefined, 1, undefined, 2], [0, 1, 2, 3])).toEqual([null, 1, 1, 2])
  const times = [0, 10, 20, 25, 30, 35, 40, 600]
  expect(held([1, 2, 3, undefined, 4, undefined, undefined, undefined], times)).toEqual([
    ...[1, 2, 3, 3, 4, 4, 4, null],
  ])
})

test('a stack does not drop to zero where gaps of its lines begin at different times', () => {
  expect(held([undefined, 1, undefined, undefined, null, undefined], [0, 1, 2, 3, 4, 5])).toEqual([
    ...[null, 1, null, null, null, null],
  ])
  // The second line's group is recorded slightly later.
  const data = stackOf([0, 5, 5.1, 10, 11], [1, null, undefined, 1, 1], [2, undefined, null, 2, 2])
  expect(drawnColumns(data, none, 'sum')).toEqual([
    [1, null, null, 1, 1],
    [3, null, null, 3, 3],
  ])
})

test('a stack has a gap where one of its lines does, also where others have samples: it would drop', () => {
  const data = stackOf([0, 5, 10], [1, null, 1], [2, undefined, 2])
  expect(drawnColumns(data, none, 'sum')).toEqual([
    [1, null, 1],
    [3, null, 3],
  ])
  const measured = stackOf([0, 5, 10], [1, null, 1], [2, 2, 2])
  expect(drawnColumns(measured, none, 'sum')).toEqual([
    [1, null, 1],
    [3, null, 3],
  ])
})

test('stacks add up, and have a gap where no value is known', () => {
  expect(drawnColumns(stackOf([0, 1], [1, 2], [10, 20]), none, 'sum')).toEqual([
    [1, 2],
    [11, 22],
  ])
  const gaps = stackOf([0, 1, 2], [1, 2, null], [10, null, null], [100, 200, null])
  expect(drawnColumns(gaps, none, 'sum')).toEqual([
    [1, 2, null],
    [11, 2, null],
    [111, 202, null],
  ])
  expect(drawnColumns(stackOf([0], [1], [3]), none, undefined)).toEqual([[1], [3]])
})

test('hiding lines does not change the shares of others', () => {
  const whole = stackOf([0, 1], [1, 0], [3, 0])
  expect(drawnColumns(whole, none, 'share')).toEqual([
    [0.25, null],
    [1, null],
  ])
  expect(drawnColumns(whole, new Set(['b']), 'share')).toEqual([[0.25, null]])
  // Too small to be drawn, but part of the total.
  const more = { ...stackOf([0], [1], [3]), rest: [{ plot: { metric: 'b' }, values: [4] }] }
  expect(drawnColumns(more, none, 'share')).toEqual([[1 / 8], [4 / 8]])
})

test('there are no shares of a partly unknown total; ended instances do not count', () => {
  const lost = stackOf([0, 1], [1, 1], [3, null])
  expect(drawnColumns(lost, none, 'share')).toEqual([
    [0.25, null],
    [1, null],
  ])
  const plot = { metric: 'a' }
  const gone = {
    times: [0, 1],
    lines: stackOf([0, 1], [1, 1], [3, null]).lines.map((line) => ({ ...line, plot })),
  }
  expect(drawnColumns(gone, none, 'share')).toEqual([
    [0.25, 1],
    [1, 1],
  ])
})

describe('live rows', () => {
  const info = (name: string, more: Partial<MetricInfo> = {}): MetricInfo => ({
    name,
    pmid: '1.2.3',
    type: 'u32',
    sem: 'instant',
    units: 'none',
    indom: null,
    help: '',
    ...more,
  })

  test('become lines; instances come and go', () => {
    let changes = 0
    const store = new LiveStore(
      () => 4,
      () => changes++,
    )
    store.topic([
      info('one'),
      info('many', { indom: '1.1' }),
      { name: 'no', code: 'PM_ERR_NAME', message: 'none' },
    ])
    store.instances(1, [1, 2], ['a', 'b'])
    store.row(10, [[7], [1, 2], null as unknown as number[]])
    store.instances(1, [2, 3], ['b', 'c'])
    store.row(11, [[8], [20, 30], null as unknown as number[]])
    expect(store.lines('one')).toEqual([{ instance: null, times: [10, 11], values: [7, 8] }])
    expect(store.lines('many')).toEqual([
      { instance: 'a', times: [10, 11], values: [1, null] },
      { instance: 'b', times: [10, 11], values: [2, 20] },
      { instance: 'c', times: [11], values: [30] },
    ])
    expect(store.lines('no')).toEqual([])
    expect(store.outcome('no')).toMatchObject({ code: 'PM_ERR_NAME' })
    for (let i = 12; i < 20; i++) store.row(i, [[i], [1, 1], []])
    expect(store.lines('many').map(({ instance }) => instance)).toEqual(['b', 'c'])
    expect(changes).toBe(11)
  })

  test('counters become rates, with the units of rates', () => {
    const store = new LiveStore(
      () => 100,
      () => {},
    )
    store.topic([info('cpu', { sem: 'counter', units: 'millisec' })])
    store.row(1, [[1000]])
    store.row(2, [[1500]])
    expect(store.lines('cpu')[0]!.values).toEqual([null, 0.5])
    expect(store.outcome('cpu')).toMatchObject({ sem: 'rate', units: 'none' })
  })

  test('are kept while charts want them', () => {
    const store = new LiveStore(
      (metric) => (metric === 'few' ? 3 : KEPT),
      () => {},
    )
    store.topic([info('few'), info('all')])
    for (let i = 0; i < 2 * KEPT; i++) store.row(i, [[i], [i]])
    const [few] = store.lines('few')
    const [all] = store.lines('all')
    expect(few!.times.length).toBeLessThanOrEqual(5)
    expect(few!.times.at(-1)).toBe(2 * KEPT - 1)
    expect(all!.times.length).toBeGreaterThanOrEqual(KEPT)
    expect(all!.times.length).toBeLessThanOrEqual(1.25 * KEPT)
    expect(all!.values).toEqual(all!.times)
  })
})
