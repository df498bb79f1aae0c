/** What was recorded while live values were away, in their place. */
import { expect, test } from 'vitest'
import type { ChartRange } from '../../src/archive/chart-answer.ts'
import type { RangeQuery } from '../../src/ui/data/answers.ts'
import type { ChartLine } from '../../src/ui/data/chart-data.ts'
import { ChartFeed } from '../../src/ui/data/chart-feed.ts'
import { Feeds } from '../../src/ui/data/feeds.ts'
import { filled } from '../../src/ui/data/holes.ts'
import type { Line } from '../../src/ui/data/line.ts'
import { type LiveListener, type LiveStream, LOST } from '../../src/ui/data/live.ts'
import type { Source } from '../../src/ui/data/source.ts'
import type { Chart } from '../../src/ui/view/view.ts'

const line = (times: readonly number[], values: readonly (number | null)[]): Line => ({
  instance: null,
  times,
  values,
})
const HOLE = [{ start: 11, end: 101 }]
/** A rate, as it is kept where rows were missed. */
const LIVE = line([10, 11, 56, 101, 102], [1, 1, null, null, 1])

test('what was recorded without a break leads from one end of the hole to the other', () => {
  const recorded = line([5, 35, 65, 95, 125], [2, 3, 4, 5, 6])
  expect(filled(LIVE, recorded, HOLE)).toEqual(line([10, 11, 35, 65, 95, 102], [1, 1, 3, 4, 5, 1]))
})

test('what was not recorded stays a gap: at either end, and between', () => {
  // Nothing is known of what is before 20, between 50 and 60, and behind 70.
  const recorded = line([5, 8, 20, 50, 55, 60, 70], [2, null, 3, 4, null, 5, 6])
  expect(filled(LIVE, recorded, HOLE)).toEqual(
    line([10, 11, 15.5, 20, 50, 55, 60, 70, 85.5, 101, 102], [1, 1, null, 3, 4, null, 5, 6, null, null, 1]),
  )
  expect(filled(LIVE, line([5, 125], [2, 6]), HOLE)).toEqual(LIVE)
  expect(filled(LIVE, line([], []), HOLE)).toEqual(LIVE)
})

test('each hole is filled for itself, nothing else is recorded, and what is most and least stays', () => {
  const live = line([10, 20, 30, 40, 50], [1, null, 3, null, 5])
  const holes = [
    { start: 10, end: 30 },
    { start: 30, end: 50 },
  ]
  const recorded = { ...line([9, 22, 31, 52], [1, 2, 3, 4]), low: [0, 1, 2, 3], high: [2, 3, 4, 5] }
  expect(filled(live, recorded, holes)).toEqual({
    ...line([10, 22, 30, 31, 50], [1, 2, 3, 3, 5]),
    low: [1, 1, 3, 2, 5],
    high: [1, 3, 3, 4, 5],
  })
})

test('of what was there in the hole alone, there is that', () => {
  const recorded = line([5, 35, 65, 125], [2, 3, 4, 6])
  expect(filled(undefined, recorded, HOLE)).toEqual(line([23, 35, 65, 83], [null, 3, 4, null]))
})

test('a chart whose values were away asks for them when they are back, and again for what its recorder wrote later', async () => {
  let listener: LiveListener | undefined
  const stream = {
    subscribe: (_key: string, _wish: unknown, to: LiveListener) => (listener = to),
    unsubscribe() {},
  }
  const asked: RangeQuery[] = []
  let [sent, answered] = [0, 0]
  let changed = (): void => {}
  /** Until when values are recorded, one every ten seconds. */
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
  /** The line at a moment of the page, once what it asked for has come. */
  const lineAt = async (to: number): Promise<Record<number, ChartLine['values'][number]>> => {
    const frame = { from: to - 300, to }
    feed.get(chart, frame, 1)
    await Promise.resolve() // for what charts of one turn ask of the stream
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
  listener!.trouble(LOST)
  for (const time of [1201, 1202]) listener!.row(time, [[2]])
  asked.length = 0
  const first = await lineAt(1202)
  // What was recorded before the first live value is asked for again, too.
  expect(asked.map(({ finish }) => finish)).toEqual([1130, 1201])
  expect(first).toMatchObject({ 1101: 1, 1110: 7, 1180: 7, 1190.5: null, 1201: 2 })
  recordedTo = 1230
  expect(await lineAt(1230)).toMatchObject({ 1180: 7, 1190.5: null, 1201: 2 })
  const later = await lineAt(1231)
  expect(asked.map(({ finish }) => finish)).toEqual([1130, 1201, 1220, 1231])
  expect(later).toMatchObject({ 1180: 7, 1190: 7, 1200: 7, 1201: 2 })
  expect(Object.values(later)).not.toContain(null)
  // Nothing more to ask for once the hole is no longer shown.
  await lineAt(1600)
  expect(asked).toHaveLength(4)
  // Of a long one only what is shown is asked for, as fine as it is shown.
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
