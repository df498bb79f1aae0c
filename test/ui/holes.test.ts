/** Gaps in live values are filled with recorded values. */
import { expect, test } from 'vitest'
import type { ChartRange } from '../../src/archive/chart-answer.ts'
import type { ChartLine } from '../../src/ui/data/chart-data.ts'
import { ChartFeed } from '../../src/ui/data/chart-feed.ts'
import { Feeds } from '../../src/ui/data/feeds.ts'
import { fillGaps } from '../../src/ui/data/gaps.ts'
import type { Line } from '../../src/ui/data/line.ts'
import { CONNECTION_LOST, type LiveListener, type LiveStream } from '../../src/ui/data/live.ts'
import type { RangeQuery } from '../../src/ui/data/responses.ts'
import type { Source } from '../../src/ui/data/source.ts'
import type { Chart } from '../../src/ui/view/view.ts'

const line = (times: readonly number[], values: readonly (number | null)[]): Line => ({
  instance: null,
  times,
  values,
})
const HOLE = [{ start: 11, end: 101 }]
/** A rate as it is kept across missed rows. */
const LIVE = line([10, 11, 56, 101, 102], [1, 1, null, null, 1])

test('gapless records connect both ends of the hole', () => {
  const recorded = line([5, 35, 65, 95, 125], [2, 3, 4, 5, 6])
  expect(fillGaps(LIVE, recorded, HOLE)).toEqual(line([10, 11, 35, 65, 95, 102], [1, 1, 3, 4, 5, 1]))
})

test('unrecorded parts stay gaps, at either end and between', () => {
  // There are no records before 20, between 50 and 60, and after 70.
  const recorded = line([5, 8, 20, 50, 55, 60, 70], [2, null, 3, 4, null, 5, 6])
  expect(fillGaps(LIVE, recorded, HOLE)).toEqual(
    line([10, 11, 15.5, 20, 50, 55, 60, 70, 85.5, 101, 102], [1, 1, null, 3, 4, null, 5, 6, null, null, 1]),
  )
  expect(fillGaps(LIVE, line([5, 125], [2, 6]), HOLE)).toEqual(LIVE)
  expect(fillGaps(LIVE, line([], []), HOLE)).toEqual(LIVE)
})

test('each hole is filled separately, and minimum and maximum are kept', () => {
  const live = line([10, 20, 30, 40, 50], [1, null, 3, null, 5])
  const holes = [
    { start: 10, end: 30 },
    { start: 30, end: 50 },
  ]
  const recorded = { ...line([9, 22, 31, 52], [1, 2, 3, 4]), low: [0, 1, 2, 3], high: [2, 3, 4, 5] }
  expect(fillGaps(live, recorded, holes)).toEqual({
    ...line([10, 22, 30, 31, 50], [1, 2, 3, 3, 5]),
    low: [1, 1, 3, 2, 5],
    high: [1, 3, 3, 4, 5],
  })
})

test('an instance that existed only in the hole gets a line', () => {
  const recorded = line([5, 35, 65, 125], [2, 3, 4, 6])
  expect(fillGaps(undefined, recorded, HOLE)).toEqual(line([23, 35, 65, 83], [null, 3, 4, null]))
})

test('after an interruption a chart fetches the missed values, and refetches what the recorder wrote later', async () => {
  let listener: LiveListener | undefined
  const stream = {
    subscribe: (_key: string, _wish: unknown, to: LiveListener) => (listener = to),
    unsubscribe() {},
  }
  const asked: RangeQuery[] = []
  let [sent, answered] = [0, 0]
  let changed = (): void => {}
  /** Values are recorded up to here, one every ten seconds. */
  let recordedTo = 1180
  const info = {
    name: 'x',
    pmid: '',
    type: 'u32',
    sem: 'instant',
    units: 'none',
    indom: null,
    help: '',
  } as const
  const range = async (query: RangeQuery): Promise<ChartRange> => {
    asked.push(query)
    sent++
    const times: number[] = []
    for (let at = 900; at <= Math.min(query.finish, recordedTo); at += 10) times.push(at)
    const lists = [Float64Array.from(times), new Float64Array(times.length).fill(7)]
    const columns = [{ inst: -1, name: '', times: 0, values: 1 }]
    return { ...query, marks: [], lists, metrics: [{ ...info, rate: false, columns }] }
  }
  const source = { key: 'host:h', title: 'h', host: 'h', range } as unknown as Source
  const feed = new ChartFeed(new Feeds(stream as unknown as LiveStream), () => source, {
    onChange: () => {
      answered++
      changed()
    },
  })
  const chart: Chart = { id: 'c', title: 'c', style: 'plot', legend: true, plots: [{ metric: 'x' }] }
  /** Returns the line at a time of the page, once the requested values have arrived. */
  const lineAt = async (to: number): Promise<Record<number, ChartLine['values'][number]>> => {
    const frame = { from: to - 300, to }
    feed.get(chart, frame, 1)
    await Promise.resolve() // until the requests of this turn are sent
    while (answered < sent)
      await new Promise<void>((resolve) => {
        changed = resolve
      })
    const { times, lines } = feed.get(chart, frame, 1)
    return Object.fromEntries(times.map((time, i) => [time, lines[0]!.values[i]]))
  }
  await lineAt(1100)
  listener!.topic([info], 'h')
  for (const time of [1100, 1101]) listener!.row(time, [[1]])
  await lineAt(1101)
  listener!.trouble(CONNECTION_LOST)
  for (const time of [1201, 1202]) listener!.row(time, [[2]])
  asked.length = 0
  const first = await lineAt(1202)
  // Values recorded before the first live one are refetched too.
  expect(asked.map(({ finish }) => finish)).toEqual([1130, 1201])
  expect(first).toMatchObject({ 1101: 1, 1110: 7, 1180: 7, 1190.5: null, 1201: 2 })
  recordedTo = 1230
  expect(await lineAt(1230)).toMatchObject({ 1180: 7, 1190.5: null, 1201: 2 })
  const later = await lineAt(1231)
  expect(asked.map(({ finish }) => finish)).toEqual([1130, 1201, 1220, 1231])
  expect(later).toMatchObject({ 1180: 7, 1190: 7, 1200: 7, 1201: 2 })
  expect(Object.values(later)).not.toContain(null)
  // Nothing is fetched once the hole has left the window.
  await lineAt(1600)
  expect(asked).toHaveLength(4)
  // Only the visible part of a long hole is fetched, at the resolution of the window.
  for (const time of [1603, 90_000, 90_001]) listener!.row(time, [[3]])
  asked.length = 0
  await lineAt(90_001)
  await lineAt(90_002)
  expect(asked).toMatchObject([{ start: 89_401, finish: 90_000, points: 1198 }])
  asked.length = 0
  await lineAt(50_000)
  await lineAt(50_000)
  expect(asked).toMatchObject([{ start: 49_400, finish: 50_000, points: 1200 }])
})
