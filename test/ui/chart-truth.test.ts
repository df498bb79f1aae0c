/** Charts draw nothing that was not measured: live rows and recordings with random gaps, drawn as the page draws them. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChartRange } from '../../src/archive/chart-answer.ts'
import { heatRuns } from '../../src/ui/chart/heat-map.ts'
import { stacking } from '../../src/ui/chart/kinds/stacking.tsx'
import { utilization } from '../../src/ui/chart/kinds/utilization.tsx'
import { drawnColumns } from '../../src/ui/chart/stack.ts'
import type { ChartData } from '../../src/ui/data/chart-data.ts'
import { ChartFeed } from '../../src/ui/data/chart-feed.ts'
import { Feeds } from '../../src/ui/data/feeds.ts'
import type { LiveListener, LiveRequest, LiveStream } from '../../src/ui/data/live.ts'
import type { MetricOutcome, RangeQuery } from '../../src/ui/data/responses.ts'
import type { Source } from '../../src/ui/data/source.ts'
import type { Chart } from '../../src/ui/view/view.ts'

/** Seconds between live rows and between records. The page is opened at some time and gets a second metric later. */
const EVERY = 1
const RECORDED_EVERY = 10
const START = 10_000
const TOTAL = 100

const INFO = { type: 'double', sem: 'instant', units: 'none', indom: null, help: '', pmid: '' }
const info = (name: string): MetricOutcome => ({ ...INFO, name }) as MetricOutcome

interface Times {
  readonly recorded: readonly number[]
  readonly live: readonly number[]
  /** Time at which the page gets the second metric. */
  readonly added: number
}

/** Arbitrary runs of samples, each after a pause. */
const runs = (every: number, longest: number): fc.Arbitrary<readonly { pause: number; count: number }[]> =>
  fc.array(
    fc.record({
      pause: fc.integer({ min: 2 * every, max: longest }),
      count: fc.integer({ min: 6, max: 40 }),
    }),
    {
      minLength: 1,
      maxLength: 5,
    },
  )

function timesOf(from: number, every: number, parts: readonly { pause: number; count: number }[]): number[] {
  const times: number[] = []
  let at = from
  for (const { pause, count } of parts) {
    for (let i = 0; i < count; i++, at += every) times.push(at)
    at += pause
  }
  return times
}

const used = (time: number): number => (time * 7919) % TOTAL

/** Returns what the page draws at the end. */
async function drawn({ recorded, live, added }: Times, style: string, width: number): Promise<ChartData> {
  const range = async (query: RangeQuery): Promise<ChartRange> => {
    const times: number[] = []
    const within = recorded.filter((time) => time >= query.start && time <= query.finish)
    // With a gap where samples are missing, as an archive returns them.
    for (const [i, time] of within.entries()) {
      if (i > 0 && time - within[i - 1]! > 1.75 * RECORDED_EVERY) times.push((time + within[i - 1]!) / 2)
      times.push(time)
    }
    const column = (of: (time: number) => number): Float64Array =>
      Float64Array.from(times, (time) => (recorded.includes(time) ? of(time) : Number.NaN))
    const lists = [Float64Array.from(times), column(used), column((time) => TOTAL - used(time))]
    const metrics = query.names.map((name) => ({
      ...INFO,
      name,
      rate: false,
      columns: [{ inst: -1, name: '', times: 0, values: name === 'used' ? 1 : 2 }],
    }))
    return { start: query.start, finish: query.finish, marks: [], lists, metrics } as unknown as ChartRange
  }
  const source = { key: 'host:h', title: 'h', host: 'h', range } as unknown as Source
  let listener: LiveListener | undefined
  const stream = {
    subscribe: (_key: string, _wish: LiveRequest, hears: LiveListener) => {
      listener = hears
    },
    unsubscribe() {},
  } as unknown as LiveStream
  const feed = new ChartFeed(new Feeds(stream), () => source, { onChange: () => {} })
  const chart = (...names: readonly string[]): Chart => ({
    ...{ id: 'c', title: 'c', style, legend: true },
    plots: names.map((metric) => ({ metric })),
  })
  const frameAt = (to: number): { from: number; to: number } => ({ from: to - width, to })
  feed.get(chart('used'), frameAt(live[0]!), EVERY)
  await Promise.resolve()
  listener!.topic([info('used')], 'h')
  let isAdded = false
  for (const [i, time] of live.entries()) {
    if (!isAdded && i >= added) {
      feed.get(chart('used', 'free'), frameAt(time), EVERY)
      await Promise.resolve()
      listener!.topic([info('free'), info('used')], 'h')
      isAdded = true
    }
    listener!.row(time, isAdded ? [[TOTAL - used(time)], [used(time)]] : [[used(time)]])
  }
  const end = live.at(-1)!
  const names = isAdded ? ['used', 'free'] : ['used']
  for (;;) {
    const data = feed.get(chart(...names), frameAt(end), EVERY)
    // Two turns: one for the requests, one for requests that follow their results.
    await Promise.resolve()
    if (!data.isReading) return feed.get(chart(...names), frameAt(end), EVERY)
  }
}

const made = fc
  .record({
    recorded: runs(RECORDED_EVERY, 400),
    live: runs(EVERY, 60),
    opened: fc.integer({ min: -50, max: 600 }),
    added: fc.integer({ min: 1, max: 60 }),
    width: fc.integer({ min: 30, max: 900 }),
  })
  .map(({ recorded, live, opened, added, width }) => ({
    width,
    times: {
      // Between two seconds, so that records never coincide with rows.
      recorded: timesOf(START + 0.5, RECORDED_EVERY, recorded),
      live: timesOf(START + opened, EVERY, live),
      added,
    },
  }))

test('points are samples, and lines connect consecutive samples only', async () => {
  await fc.assert(
    fc.asyncProperty(made, async ({ times, width }) => {
      const data = await drawn(times, 'plot', width)
      for (const { values, label } of data.lines) {
        let before: number | undefined
        for (const [i, value] of values.entries()) {
          const time = data.times[i]!
          if (value === undefined) continue
          if (value !== null) {
            const isMeasured = times.live.includes(time) || times.recorded.includes(time)
            expect(isMeasured, `${label} at ${time}`).toBe(true)
            const longest =
              times.live.includes(before ?? time) && times.live.includes(time) ? EVERY : RECORDED_EVERY
            if (before !== undefined)
              expect(time - before, `${label} to ${time}`).toBeLessThanOrEqual(1.75 * longest)
          }
          before = value === null ? undefined : time
        }
        // A row of a heat map fills the time between consecutive samples.
        for (const { from, to } of heatRuns(data.times, values, [0, TOTAL], 2000)) {
          const gaps = [...new Set([...times.live, ...times.recorded])].sort((a, b) => a - b)
          for (const [i, time] of gaps.entries())
            if (i > 0 && gaps[i - 1]! >= from && time <= to)
              expect(time - gaps[i - 1]!).toBeLessThanOrEqual(1.75 * RECORDED_EVERY)
        }
      }
    }),
    { numRuns: 100 },
  )
})

test('a stack never exceeds the total, nor shares 100 %', async () => {
  await fc.assert(
    fc.asyncProperty(made, fc.constantFrom(stacking, utilization), async ({ times, width }, kind) => {
      const data = await drawn(times, kind.id, width)
      for (const hidden of [new Set<string>(), new Set(data.lines.slice(-1).map(({ key }) => key))])
        for (const [i, value] of (drawnColumns(data, hidden, kind.stacking).at(-1) ?? []).entries())
          expect(value ?? 0, `at ${data.times[i]}`).toBeLessThanOrEqual(
            (kind === stacking ? TOTAL : 1) + 1e-9,
          )
    }),
    { numRuns: 60 },
  )
})
