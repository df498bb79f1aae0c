/** Data of charts over several sources, and problems reported for missing data. */
import { expect, test, vi } from 'vitest'
import type { ChartRange } from '../../src/archive/chart-answer.ts'
import { rowsOf } from '../../src/ui/chart/table-rows.ts'
import type { ChartData, ChartLine } from '../../src/ui/data/chart-data.ts'
import { ChartFeed } from '../../src/ui/data/chart-feed.ts'
import { Feeds } from '../../src/ui/data/feeds.ts'
import { instanceNames } from '../../src/ui/data/instance-names.ts'
import type { LiveListener, LiveRequest, LiveStream } from '../../src/ui/data/live.ts'
import type { InstanceInfo, MetricOutcome, RangeQuery } from '../../src/ui/data/responses.ts'
import type { Source } from '../../src/ui/data/source.ts'
import type { Frame } from '../../src/ui/time/control.ts'
import type { Chart, Plot } from '../../src/ui/view/view.ts'

const SPAN = { start: 1000, end: 2000 }
const SPAN_FRAME = { from: SPAN.start, to: SPAN.end }
const INFO = { type: 'double', sem: 'instant', units: 'none', indom: null, help: '' }

interface Recorded extends Source {
  range(query: RangeQuery): Promise<ChartRange>
  readonly asked: RangeQuery[]
}

/** Instances of `many`; those with even numbers are larger. */
const MANY = Array.from({ length: 100 }, (_, i) => ({ name: `i${i}`, value: i % 2 === 0 ? 1000 - i : i }))

/** Instances of `disks`. */
const DISKS = ['sda vg one', 'sda vg two', 'sdb vg one', 'sdc']

/** An archive with `x`, once a second, and metrics with instances, `many` and `disks`. */
function archive(name: string): Recorded {
  const asked: RangeQuery[] = []
  const times = Array.from({ length: 1001 }, (_, i) => SPAN.start + i)
  const range = async (query: RangeQuery): Promise<ChartRange> => {
    asked.push(query)
    const metrics = query.names.map((metric) =>
      metric === 'x'
        ? { ...INFO, name: metric, rate: false, columns: [{ inst: -1, name: '', times: 0, values: 0 }] }
        : metric === 'many'
          ? {
              ...INFO,
              name: metric,
              indom: '1.1',
              rate: false,
              columns: MANY.map(({ name }, i) => ({ inst: i, name, times: 0, values: i + 1 })),
            }
          : metric === 'disks'
            ? {
                ...INFO,
                name: metric,
                indom: '1.2',
                rate: false,
                columns: DISKS.map((name, i) => ({ inst: i, name, times: 0, values: i + 1 })),
              }
            : { name: metric, code: 'PM_ERR_NAME', message: 'Unknown metric name' },
    )
    const lists = [
      Float64Array.from(times),
      ...MANY.map(({ value }) => new Float64Array(times.length).fill(value)),
    ]
    return { start: query.start, finish: query.finish, marks: [], lists, metrics } as unknown as ChartRange
  }
  const never = (): Promise<never> => new Promise(() => {})
  const [names, children, metric, instances, check, processes] = [never, never, never, never, never, never]
  const key = `archive:${name}`
  const rest = { range, names, children, metric, instances, check, processes }
  return { key, title: name, host: name, span: SPAN, asked, ...rest }
}

const stream = { subscribe() {}, unsubscribe() {} } as unknown as LiveStream

/** A stream of live values that a test sends through its one listener. */
class FakeLive {
  listener: LiveListener | undefined
  readonly stream = {
    subscribe: (_key: string, _wish: LiveRequest, listener: LiveListener) => {
      this.listener = listener
    },
    unsubscribe: () => {},
  } as unknown as LiveStream
}

/** Returns what a chart draws immediately, and after the recorded values have arrived. */
async function drawn(
  style: string,
  plots: readonly Plot[],
  frame: Frame,
  open: readonly Source[],
): Promise<ChartData> {
  const chart: Chart = { id: 'c', title: 'c', style, legend: true, plots }
  const find = (key: string | undefined) => open.find((source) => source.key === key)
  let changed = () => {}
  const feed = new ChartFeed(new Feeds(stream), find, { onChange: () => changed() })
  for (;;) {
    const came = new Promise<void>((resolve) => {
      changed = resolve
    })
    const data = feed.get(chart, frame, 1)
    if (!data.isWaiting || data.lines.length > 0 || open.length === 0) return data
    await came
  }
}

const plot = (metric: string, source: string): Plot => ({ metric, source: `archive:${source}` })

test('an archive outside of the window is not queried or waited for', async () => {
  const one = archive('one')
  const present = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }
  for (const [style, frame] of [
    ['plot', { from: 5000, to: 5300 }],
    ['plot', { from: 100, to: 400 }],
    ['table', { from: 5000, to: 5300 }],
    ['table', present],
  ] as const) {
    const { lines, problems, isWaiting } = await drawn(style, [plot('x', 'one')], frame, [one])
    expect({ lines, problems, isWaiting }).toEqual({ lines: [], problems: [], isWaiting: false })
  }
  expect(one.asked).toEqual([])
  const { lines } = await drawn('plot', [plot('x', 'one')], { from: 1900, to: 2200 }, [one])
  expect(lines).toHaveLength(1)
  for (const { start, finish } of one.asked) expect(finish).toBeGreaterThan(start)
})

test('with several sources, labels, titles and problems name the source', async () => {
  const plots = [plot('x', 'one'), plot('x', 'two'), plot('y', 'two')]
  const open = [archive('one'), archive('two')]
  const { lines, heads, problems } = await drawn('plot', plots, { from: 1000, to: 1300 }, open)
  expect(lines.map(({ label }) => label)).toEqual(['one x', 'two x'])
  expect([...heads.values()]).toEqual(['one x', 'two x', 'two y'])
  expect(problems).toEqual(['two: y: not available here'])
})

test('lines whose instances share their first word have different labels', async () => {
  const labels = async (legend: string, text = '.'): Promise<string[]> => {
    const plots = [{ ...plot('disks', 'one'), legend, instances: { mode: 'matching' as const, text } }]
    const { lines } = await drawn('plot', plots, { from: 1000, to: 1300 }, [archive('one')])
    return lines.map(({ label }) => label)
  }
  expect(await labels('%i read')).toEqual(['sda vg one read', 'sda vg two read', 'sdb read', 'sdc read'])
  expect(await labels('%i and %i', 'sda')).toEqual(['sda vg one and sda vg one', 'sda vg two and sda vg two'])
  expect(await labels('%I', 'sdb')).toEqual(['sdb vg one'])
  expect(await labels('%i', 'one')).toEqual(['sda', 'sdb'])
})

test('a chart waits until the server has sent its configuration', async () => {
  const { problems, isWaiting } = await drawn('plot', [{ metric: 'x' }], { from: 0, to: 300 }, [])
  expect({ problems, isWaiting }).toEqual({ problems: [], isWaiting: true })
})

test("a table shows each column's newest sample, and no rows of ended instances", () => {
  const line = (instance: string, values: (number | null | undefined)[]): ChartLine => ({
    key: instance,
    label: instance,
    plot: { metric: 'x' },
    info: INFO as unknown as Exclude<MetricOutcome, { code: string }>,
    instance,
    values,
  })
  const often = [line('a', [1, 2, 3]), line('ended', [7, undefined, undefined]), line('idle', [1, 1, null])]
  const seldom = [line('a', [5, undefined, undefined]), line('b', [6, undefined, undefined])]
  expect(rowsOf([often, seldom])).toEqual([
    { instance: 'a', name: 'a', values: [3, 5] },
    { instance: 'b', name: 'b', values: [null, 6] },
  ])
})

test('file systems have the names of their mount points, and those without one keep the device', async () => {
  const whole = archive('one')
  const range = async (query: RangeQuery): Promise<ChartRange> => {
    const answer = await whole.range(query)
    return { ...answer, metrics: answer.metrics.map((each) => ({ ...each, indom: '60.5' })) }
  }
  const requests: unknown[] = []
  let arrive = (): void => {}
  const instances = (...request: unknown[]): Promise<InstanceInfo[]> => {
    requests.push(request)
    return new Promise((resolve) => {
      arrive = () =>
        resolve([
          { id: 0, name: 'i0', value: '/srv/<b>' },
          { id: 2, name: 'i2', value: '' },
          { id: 4, name: 'i4' },
        ])
    })
  }
  const source = { ...whole, range, instances }
  const draw = () => drawn('grid', [plot('many', 'one')], { from: 1000, to: 2000 }, [source])
  const first = (data: ChartData): unknown =>
    rowsOf([data.lines])
      .slice(0, 3)
      .map(({ instance, name }) => [instance, name])
  expect(first(await draw())).toEqual([
    ['i0', 'i0'],
    ['i1', 'i1'],
    ['i2', 'i2'],
  ])
  const names = instanceNames(source, '60.5')!
  const came = new Promise<void>((resolve) => names.subscribe((value) => value.size > 0 && resolve()))
  arrive()
  await came
  const data = await draw()
  expect(first(data)).toEqual([
    ['i0', '/srv/<b>'],
    ['i1', 'i1'],
    ['i2', 'i2'],
  ])
  expect(data.lines[0]!.label).toBe('many /srv/<b>')
  expect(requests, 'an archive is asked once').toEqual([['filesys.mountdir', true]])
})

test('names on a host are requested again after a minute, and a failure keeps them', async () => {
  const answers = [Promise.resolve([{ id: 0, name: 'a', value: '/a' }]), Promise.reject(new Error('gone'))]
  let count = 0
  const instances = () => answers[count++]!
  const host = { instances } as unknown as Source
  const at = (now: number) => [...instanceNames(host, '60.5', now)!.value]
  expect(at(5000)).toEqual([])
  await answers[0]
  await Promise.resolve()
  expect(at(64_000)).toEqual([['a', '/a']])
  expect(count).toBe(1)
  expect(at(66_000)).toEqual([['a', '/a']])
  expect(count).toBe(2)
  await answers[1]!.catch(() => {})
  await Promise.resolve()
  expect(at(66_001)).toEqual([['a', '/a']])
  expect(instanceNames(host, '60.1')).toBeUndefined()
  expect(instanceNames(host, null)).toBeUndefined()
})

test('of too many lines the largest are drawn, in their original order', async () => {
  const { lines, problems } = await drawn('plot', [plot('many', 'one')], { from: 1000, to: 2000 }, [
    archive('one'),
  ])
  const names = lines.map(({ instance }) => instance!)
  expect(names).toHaveLength(64)
  expect(names.slice(0, 3)).toEqual(['i0', 'i2', 'i4'])
  expect(names).toEqual([...names].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1))))
  expect(problems).toEqual(['36 smaller series hidden; filter instances'])
  // A heat map has a row for each instance.
  const heat = await drawn('heat', [plot('many', 'one')], { from: 1000, to: 2000 }, [archive('one')])
  expect(heat.lines).toHaveLength(100)
})

test.each([
  [
    [0, 16],
    [0, 16],
  ],
  [[5, 5], undefined],
  [[9, 1], undefined],
] as const)('only limits with a non-empty range are used: %j', (scale, limits) => {
  const feed = new ChartFeed(new Feeds(stream), () => undefined, { onChange: () => {} })
  const chart: Chart = { id: 'c', title: '', style: 'heat', legend: true, plots: [plot('x', 'one')], scale }
  expect(feed.get(chart, { from: 1000, to: 2000 }, 1).limits).toEqual(limits)
})

test('partial results are drawn while the rest is read', async () => {
  const whole = archive('one')
  let finish = (): void => {}
  const range: Source['range'] = async (query, watcher) => {
    const answer = await whole.range(query)
    watcher?.onPart?.({ ...answer, lists: answer.lists.map((list) => list.slice(0, 10)) })
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    return answer
  }
  let changed = (): void => {}
  const source = { ...whole, range }
  const feed = new ChartFeed(new Feeds(stream), () => source, { onChange: () => changed() })
  const chart: Chart = { id: 'c', title: 'c', style: 'plot', legend: true, plots: [plot('x', 'one')] }
  const next = (act: () => void): Promise<ChartData> =>
    new Promise((resolve) => {
      changed = () => resolve(feed.get(chart, SPAN_FRAME, 1))
      act()
    })
  const part = await next(() => feed.get(chart, SPAN_FRAME, 1))
  expect([part.times.length, part.isReading, part.isWaiting]).toEqual([10, true, false])
  const all = await next(() => finish())
  expect([all.times.length, all.isReading]).toEqual([1001, false])
})

test('a request that fails midway keeps its partial result and is retried', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const whole = archive('one')
    let isBroken = true
    const range: Source['range'] = async (query, watcher) => {
      const answer = await whole.range(query)
      if (!isBroken) return answer
      watcher?.onPart?.({ ...answer, lists: answer.lists.map((list) => list.slice(0, 10)) })
      throw new Error('It broke')
    }
    const source = { ...whole, range }
    const feed = new ChartFeed(new Feeds(stream), () => source, { onChange: () => {} })
    const chart: Chart = { id: 'c', title: 'c', style: 'plot', legend: true, plots: [plot('x', 'one')] }
    const draw = (): ChartData => feed.get(chart, SPAN_FRAME, 1)
    await expect.poll(() => draw().problems).toEqual(['It broke'])
    expect(draw().times).toHaveLength(10)
    isBroken = false
    vi.advanceTimersByTime(10_000)
    await expect.poll(() => draw().times.length).toBe(1001)
  } finally {
    vi.useRealTimers()
  }
})

test('recorded values are drawn up to the first live value, however wide the chart', async () => {
  const recorded = archive('one')
  // Returns nothing after the requested range, as a server does.
  const range = async (query: RangeQuery): Promise<ChartRange> => {
    const answer = await recorded.range(query)
    return { ...answer, lists: answer.lists.map((list) => list.slice(0, query.finish - SPAN.start + 1)) }
  }
  const { span: _, ...host } = { ...recorded, key: 'host:one', range }
  const live = new FakeLive()
  const feed = new ChartFeed(new Feeds(live.stream), () => host, { onChange: () => {} })
  const chart: Chart = { id: 'c', title: 'c', style: 'plot', legend: true, plots: [{ metric: 'x' }] }
  const draw = (to: number): ChartData => feed.get(chart, { from: to - 400, to }, 1)
  await expect.poll(() => draw(1500).lines.length).toBe(1)
  live.listener!.topic([{ ...INFO, name: 'x' }] as unknown as MetricOutcome[], 'one')
  live.listener!.row(1507, [[1]])
  await expect
    .poll(() => draw(1508).times.slice(-8))
    .toEqual([1500, 1501, 1502, 1503, 1504, 1505, 1506, 1507])
  // Recorded values before the first live one do not change, so they are fetched once.
  const { length } = recorded.asked
  draw(1509)
  expect(recorded.asked).toHaveLength(length)
})

test.each([
  { every: 10, lag: 4, requests: [1, 1, 2, 3] },
  { every: 60, lag: 4, requests: [1, 1, 2, 3] },
  // Nothing has been recorded yet.
  { every: 10, lag: 1000, requests: [1, 1, 2, 3] },
  // More than one record is missing.
  { every: 10, lag: 14, requests: [1, 2, 3, 4] },
])(
  'live values refetch recorded ones that end more than a record before them: $every s, $lag s late',
  async ({ every, lag, requests }) => {
    const recorded = archive('one')
    let now = 1507
    const range = async (query: RangeQuery): Promise<ChartRange> => {
      const answer = await recorded.range(query)
      const times = Float64Array.from({ length: 500 }, (_, i) => SPAN.start + i * every)
      return {
        ...answer,
        metrics: answer.metrics.map((metric) => ({ ...metric, interval: every })),
        lists: Array<Float64Array>(2).fill(times.filter((time) => time <= Math.min(query.finish, now - lag))),
      }
    }
    const { span: _, ...host } = { ...recorded, key: 'host:one', range }
    const live = new FakeLive()
    const feed = new ChartFeed(new Feeds(live.stream), () => host, { onChange: () => {} })
    const chart: Chart = { id: 'c', title: 'c', style: 'plot', legend: true, plots: [{ metric: 'x' }] }
    const draw = (): ChartData => feed.get(chart, { from: now - 400, to: now }, 1)
    const settled = async (): Promise<number> => {
      await expect.poll(() => draw().isReading).toBe(false)
      return recorded.asked.length
    }
    const asked = [await settled()]
    live.listener!.topic([{ ...INFO, name: 'x' }] as unknown as MetricOutcome[], 'one')
    for (now = 1509; now <= 1509 + 120; now++) {
      live.listener!.row(now, [[1]])
      if ([1509, 1539, 1629].includes(now)) asked.push(await settled())
    }
    expect(asked).toEqual(requests)
    now--
    expect(draw().lines[0]!.values).not.toContain(null)
  },
)

test('a metric without values shows the reason until it has some', async () => {
  const { span: _, range: __, ...host } = { ...archive('one'), key: 'host:one' }
  const live = new FakeLive()
  const feed = new ChartFeed(new Feeds(live.stream), () => host as unknown as Source, { onChange: () => {} })
  const chart: Chart = { id: 'c', title: 'c', style: 'plot', legend: true, plots: [{ metric: 'x' }] }
  const draw = (): ChartData => feed.get(chart, SPAN_FRAME, 1)
  draw()
  await expect.poll(() => live.listener).toBeDefined()
  live.listener!.topic([{ ...INFO, name: 'x' }] as unknown as MetricOutcome[], 'one')
  live.listener!.row(1500, ['No permission to perform requested operation'])
  expect(draw().problems).toEqual(['x: No permission to perform requested operation'])
  live.listener!.row(1501, [[5]])
  expect([draw().problems, draw().lines.length]).toEqual([[], 1])
})

test('recorded values of an added metric are not connected to its first live value', async () => {
  const recorded = archive('one')
  // The recorder lags by 7 s.
  const range = async (query: RangeQuery): Promise<ChartRange> => {
    const answer = await recorded.range(query)
    return {
      ...answer,
      lists: answer.lists.map((list) => list.slice(0, Math.max(0, query.finish - SPAN.start - 7))),
    }
  }
  const { span: _, ...host } = { ...recorded, key: 'host:one', range }
  const live = new FakeLive()
  const feed = new ChartFeed(new Feeds(live.stream), () => host, { onChange: () => {} })
  const chart = (id: string, metric: string): Chart => ({
    ...{ id, title: id, style: 'plot', legend: true },
    plots: [{ metric }],
  })
  const [early, late] = [chart('early', 'many'), chart('late', 'x')]
  const draw = (what: Chart, to: number): ChartData => feed.get(what, { from: to - 400, to }, 1)
  const topic = (...names: readonly string[]): void =>
    live.listener!.topic(names.map((name) => ({ ...INFO, name })) as unknown as MetricOutcome[], 'one')
  draw(early, 1500)
  await Promise.resolve()
  topic('many')
  for (let time = 1500; time < 1700; time++) live.listener!.row(time, [[]])
  draw(late, 1700)
  await Promise.resolve()
  topic('many', 'x')
  for (let time = 1700; time < 1705; time++) live.listener!.row(time, [[], [time]])
  await expect.poll(() => draw(late, 1704).times.length).toBeGreaterThan(300)
  const { times, lines } = draw(late, 1704)
  const around = times.findIndex((time) => time >= 1690)
  expect(times.slice(around).at(-6)).toBeLessThan(1700)
  for (const [i, time] of times.entries())
    if (i > 0 && lines[0]!.values[i] !== null && lines[0]!.values[i - 1] !== null)
      expect(time - times[i - 1]!, `to ${time}`).toBeLessThan(2)
  expect(times.filter((time, i) => lines[0]!.values[i] === null && time > 1600)).toHaveLength(1)
  // Values that the recorder had not written yet are fetched again later.
  await expect.poll(() => draw(late, 1731).lines[0]!.values.slice(0, -6).includes(null)).toBe(false)
})

test('another source of the same key is read itself', async () => {
  const [first, second] = [archive('one'), archive('one')]
  let open: Source = first
  const feed = new ChartFeed(new Feeds(stream), () => open, { onChange: () => {} })
  const plots: Plot[] = [{ metric: 'x', source: 'archive:one' }]
  const chart: Chart = { id: 'c', title: 'c', style: 'plot', legend: true, plots }
  const draw = (): ChartData => feed.get(chart, SPAN_FRAME, 1)
  draw()
  await expect.poll(() => draw().lines.length).toBe(1)
  open = second
  draw()
  await expect.poll(() => second.asked.length).toBe(1)
  expect(first.asked).toHaveLength(1)
})
