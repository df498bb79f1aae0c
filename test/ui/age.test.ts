/** Ages of shown values: of hosts that stop sending rows, and of single lines. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { oldText } from '../../src/ui/chart/age.tsx'
import type { ChartData, ChartLine } from '../../src/ui/data/chart-data.ts'
import { ChartFeed } from '../../src/ui/data/chart-feed.ts'
import { Feeds } from '../../src/ui/data/feeds.ts'
import type { LiveListener, LiveRequest, LiveStream } from '../../src/ui/data/live.ts'
import type { Source } from '../../src/ui/data/source.ts'
import { time } from '../../src/ui/time/control.ts'
import { ElapsedClock } from '../../src/ui/time/seconds.ts'
import type { Chart } from '../../src/ui/view/view.ts'

const INFO = {
  name: 'a.b',
  pmid: '1.0.0',
  type: 'double',
  sem: 'instant',
  units: 'none',
  indom: null,
  help: '',
} as const
const NOW = 1_800_000_000

beforeEach(() => {
  vi.useFakeTimers({ now: NOW * 1000 })
  time.zone.value = 'UTC'
})
afterEach(() => {
  vi.useRealTimers()
})

/** Returns feeds and their listeners, through which a test sends rows. */
function feedsOf(): { feeds: Feeds; listeners: Map<string, LiveListener> } {
  const listeners = new Map<string, LiveListener>()
  const stream = {
    subscribe: (key: string, _wish: LiveRequest, listener: LiveListener) => void listeners.set(key, listener),
    unsubscribe() {},
  } as unknown as LiveStream
  return { feeds: new Feeds(stream), listeners }
}

const chart = (every?: number): Chart => ({
  id: `c${every}`,
  title: 'c',
  style: 'plot',
  legend: true,
  plots: [{ metric: 'a.b' }],
  ...(every === undefined ? {} : { every }),
})

describe('the state of a host', () => {
  test('is waiting, live, overdue after three intervals, and live again', async () => {
    const { feeds, listeners } = feedsOf()
    expect(feeds.stateOf('h')).toBeUndefined()
    feeds.setNeeds(chart(), 'h', 1, chart().plots)
    await Promise.resolve()
    expect(feeds.stateOf('h')?.kind).toBe('waiting')
    const listener = listeners.get('1 h')!
    listener.topic([{ ...INFO }], 'h')
    listener.row(NOW, [[1]])
    vi.advanceTimersByTime(3000)
    expect(feeds.stateOf('h')).toEqual({ kind: 'live', quietSec: 3, problems: [] })
    vi.advanceTimersByTime(42_000)
    expect(feeds.stateOf('h')).toEqual({ kind: 'overdue', quietSec: 45, problems: [] })
    listener.trouble('h:44321: Connection refused')
    expect(feeds.stateOf('h')).toEqual({
      kind: 'silent',
      quietSec: 45,
      problems: ['h:44321: Connection refused'],
    })
    listener.row(NOW + 45, [[1]])
    expect(feeds.stateOf('h')).toEqual({ kind: 'live', quietSec: 0, problems: [] })
  })

  test('is overdue when rows of its shortest interval are', async () => {
    const { feeds, listeners } = feedsOf()
    feeds.setNeeds(chart(), 'h', 1, chart().plots)
    feeds.setNeeds(chart(10), 'h', 10, chart().plots)
    await Promise.resolve()
    for (const listener of listeners.values()) {
      listener.topic([{ ...INFO }], 'h')
      listener.row(NOW, [[1]])
    }
    vi.advanceTimersByTime(4000)
    expect(feeds.stateOf('h')?.kind).toBe('overdue')
  })

  test('a host without any of the metrics is not overdue', async () => {
    const { feeds, listeners } = feedsOf()
    feeds.setNeeds(chart(), 'h', 1, chart().plots)
    await Promise.resolve()
    listeners.get('1 h')!.topic([{ name: 'a.b', code: 'PM_ERR_NAME', message: 'Unknown metric name' }], 'h')
    vi.advanceTimersByTime(60_000)
    expect(feeds.stateOf('h')).toBeUndefined()
  })

  test('a reason for missing rows is reported for the host, not for each chart', async () => {
    const { feeds, listeners } = feedsOf()
    const source = { key: 'host:h', title: 'h', host: 'h' } as unknown as Source
    const feed = new ChartFeed(feeds, () => source, { onChange() {} })
    const frame = { from: NOW - 300, to: NOW }
    expect(feed.get(chart(), frame, 1)).toMatchObject({ isWaiting: true, problems: [] })
    await Promise.resolve()
    listeners.get('1 h')!.trouble('h:44321: unknown host')
    expect(feed.get(chart(), frame, 1)).toMatchObject({ isWaiting: false, problems: [] })
    expect(feeds.stateOf('h')?.problems).toEqual(['h:44321: unknown host'])
  })
})

test('the elapsed time includes the time that a machine slept', () => {
  const clock = new ElapsedClock()
  vi.setSystemTime((NOW + 3600) * 1000)
  expect(clock.read()).toBe(3600)
  vi.setSystemTime(NOW * 1000) // set back
  expect(clock.read()).toBe(3600)
})

/** A chart with lines of one source that ends at `end` and has been quiet since. */
function chartOf(
  times: readonly number[],
  columns: readonly ChartLine['values'][],
  {
    end,
    every,
    quiet = 0,
    to = end,
    sem = 'instant',
  }: {
    readonly end: number
    readonly every: number
    readonly quiet?: number
    readonly to?: number
    readonly sem?: string
  },
): ChartData {
  const lines = columns.map(
    (values, i): ChartLine => ({
      key: String(i),
      label: String(i),
      plot: { metric: 'a.b' },
      info: { ...INFO, sem },
      instance: null,
      values,
    }),
  )
  return {
    frame: { from: 0, to },
    times,
    lines,
    heads: new Map(),
    measure: { kind: 'number', factor: 1, suffix: '' },
    isMixed: false,
    limits: undefined,
    ends: new Map([[undefined, { at: end, quietSec: () => quiet, every }]]),
    problems: [],
    isWaiting: false,
    isReading: false,
  }
}

const old = (data: ChartData): (string | undefined)[] => data.lines.map((line) => oldText(data, [line]))

describe('a line is old', () => {
  test('when rows have stopped', () => {
    const data = { end: 100, every: 1, to: Infinity }
    expect(old(chartOf([99, 100], [[1, 2]], { ...data, quiet: 3 }))).toEqual([undefined])
    expect(old(chartOf([99, 100], [[1, 2]], { ...data, quiet: 45 }))).toEqual([
      '45 s old, sampled 1970-01-01 00:01:40',
    ])
  })

  test('when its instance is gone and others are there', () => {
    const times = Array.from({ length: 11 }, (_, i) => 90 + i)
    const gone = times.map((_, i) => (i < 5 ? 1 : null))
    const data = chartOf(times, [gone, times], { end: 100, every: 1 })
    expect(old(data)).toEqual(['6 s old, sampled 1970-01-01 00:01:34', undefined])
    expect(oldText(data, data.lines)).toBeUndefined()
  })

  test('by its recording interval, up to the end of the window', () => {
    expect(old(chartOf([0, 60], [[1, 2]], { end: 200, every: 0 }))).toEqual([undefined])
    expect(old(chartOf([0, 60], [[1, 2]], { end: 300, every: 0 }))).toEqual([
      '4 min old, sampled 1970-01-01 00:01:00',
    ])
    expect(old(chartOf([0, 60], [[1, 2]], { end: 300, every: 0, to: 200 }))).toEqual([undefined])
  })

  test('unless its metric is discrete and was recorded when it last changed', () => {
    expect(old(chartOf([0], [[1]], { end: 300, every: 0, sem: 'discrete' }))).toEqual([undefined])
    expect(old(chartOf([1], [[1]], { end: 2, every: 1, quiet: 9, to: Infinity, sem: 'discrete' }))).toEqual([
      '10 s old, sampled 1970-01-01 00:00:01',
    ])
  })
})
