import { afterEach, expect, test, vi } from 'vitest'
import { PcpError } from '../../../src/model/errors.ts'
import { overrideSource } from '../../../src/model/layer.ts'
import type { Instances } from '../../../src/model/source.ts'
import { Context } from '../../../src/pmapi/context.ts'
import { Feed } from '../../../src/pmproxy/live/feed.ts'
import { Page } from '../../../src/pmproxy/live/page.ts'
import type { WatchRequest } from '../../../src/pmproxy/live/watched-topics.ts'
import { newStatistics } from '../../../src/pmproxy/statistics.ts'
import { Sample } from '../../agents/sample/open.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

interface Topic {
  readonly type: string
  readonly metrics: readonly { readonly name: string; readonly code?: string; readonly message?: string }[]
}

/** A feed of the sample agent, and a page that watches it. */
async function opened(): Promise<{
  sample: Sample
  watch: (wish: Partial<WatchRequest>) => Promise<() => void>
  nextTopic: () => Promise<Topic>
}> {
  const sample = new Sample()
  const statistics = newStatistics()
  let topics = 0
  const feed = new Feed(
    async () => Context.over(sample.agent),
    20,
    statistics,
    () => ++topics,
  )
  closers.push(() => feed.close())
  await feed.start()
  const heard: Topic[] = []
  let wake = (): void => {}
  const send = (message: string | Buffer, sent: () => void): void => {
    const told = JSON.parse(String(message)) as Topic
    if (told.type === 'topic') heard.push(told)
    wake()
    sent()
  }
  const page = new Page({ send }, statistics)
  let keys = 0
  return {
    sample,
    watch: (wish) =>
      feed.watch(page, `${++keys}`, { metrics: [], derive: {}, ...wish }, new AbortController().signal),
    nextTopic: async () => {
      while (heard.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return heard.shift()!
    },
  }
}

test.each([
  [0, [2000, 4000, 8000, 10_000, 10_000]],
  [0.75, [3000, 6000, 11_000, 14_000, 14_000]],
])('a lost host is retried with growing delays, spread by chance of %d', async (chance, delays) => {
  vi.useFakeTimers()
  closers.push(() => vi.useRealTimers())
  const sample = new Sample()
  const failing = overrideSource(sample.agent, { fetch: () => Promise.reject(new PcpError('ECONNRESET')) })
  const attempts: number[] = []
  let isUp = true
  const statistics = newStatistics()
  const feed = new Feed(
    async () => {
      attempts.push(performance.now())
      if (!isUp) throw new PcpError('ECONNREFUSED')
      return Context.over(failing)
    },
    1000,
    statistics,
    () => 1,
    () => chance,
  )
  closers.push(() => feed.close())
  await feed.start()
  const page = new Page({ send: (_, sent) => sent() }, statistics)
  await feed.watch(page, 'a', { metrics: ['sample.long.ten'], derive: {} }, new AbortController().signal)
  await vi.advanceTimersByTimeAsync(1000 - (Date.now() % 1000))
  const lostAt = performance.now()
  isUp = false
  await vi.advanceTimersByTimeAsync(60_000)
  const times = [lostAt, ...attempts.slice(1)]
  // Attempts are made with rows, one second apart.
  expect(
    times
      .slice(1)
      .map((at, i) => Math.round(at - times[i]!))
      .slice(0, delays.length),
  ).toEqual(delays)
})

test.each([
  ['at once', 10_000, 1],
  ['with the next tick if that is near', 19_900, 0],
])('values of a long interval are sent %s, and to later pages from the last row', async (_, now, early) => {
  vi.useFakeTimers({ now })
  closers.push(() => vi.useRealTimers())
  const statistics = newStatistics()
  const everyMs = 10_000
  const feed = new Feed(
    async () => Context.over(new Sample().agent),
    everyMs,
    statistics,
    () => 1,
  )
  closers.push(() => feed.close())
  await feed.start()
  const rows = { first: 0, second: 0 }
  const pageOf = (name: keyof typeof rows): Page =>
    new Page(
      {
        send: (message, sent) => {
          if ((JSON.parse(String(message)) as Topic).type === 'row') rows[name]++
          sent()
        },
      },
      statistics,
    )
  const wish = { metrics: ['sample.long.ten'], derive: {} }
  const { signal } = new AbortController()
  await feed.watch(pageOf('first'), 'a', wish, signal)
  await vi.advanceTimersByTimeAsync(0)
  expect(rows.first).toBe(early)
  await vi.advanceTimersByTimeAsync(everyMs)
  const { liveFetches } = statistics
  await feed.watch(pageOf('second'), 'a', wish, signal)
  await vi.advanceTimersByTimeAsync(0)
  expect(rows.second).toBe(1)
  expect(statistics.liveFetches).toBe(liveFetches)
})

test('rows of new lists keep a distance from others: rates over shorter times are noise', async () => {
  vi.useFakeTimers({ now: 10_000 })
  closers.push(() => vi.useRealTimers())
  const statistics = newStatistics()
  const times: number[] = []
  const feed = new Feed(
    async () => Context.over(new Sample().agent),
    1000,
    statistics,
    () => times.length,
  )
  closers.push(() => feed.close())
  await feed.start()
  const page = new Page(
    {
      send: (message, sent) => {
        if ((JSON.parse(String(message)) as Topic).type === 'row') times.push(Date.now())
        sent()
      },
    },
    statistics,
  )
  const { signal } = new AbortController()
  const watch = (...metrics: string[]) => feed.watch(page, metrics.join(), { metrics, derive: {} }, signal)
  await watch('sample.long.ten')
  await vi.advanceTimersByTimeAsync(3000)
  for (const [i, later] of [50, 400, 800].entries()) {
    await vi.advanceTimersByTimeAsync(later)
    await watch('sample.long.ten', `sample.long.${['one', 'hundred', 'million'][i]}`)
    await vi.advanceTimersByTimeAsync(1000 - later)
  }
  const distinct = [...new Set(times)]
  expect(distinct.length).toBeGreaterThan(10)
  for (const [i, time] of distinct.entries())
    if (i > 0) expect(time - distinct[i - 1]!).toBeGreaterThanOrEqual(200)
})

test.each([
  ['two rows before the tick', 10_000, [10_000, 10_200]],
  ['one if the tick follows soon', 19_700, [19_700]],
  ['one after the tick if that follows sooner', 19_900, []],
])('a new list gets %s, also while other lists are fetched', async (_, now, early) => {
  vi.useFakeTimers({ now })
  closers.push(() => vi.useRealTimers())
  const statistics = newStatistics()
  let topics = 0
  const feed = new Feed(
    async () => Context.over(new Sample().agent),
    10_000,
    statistics,
    () => ++topics,
  )
  closers.push(() => feed.close())
  await feed.start()
  const rows = new Map<number, number[]>()
  const send = (message: string | Buffer, sent: () => void): void => {
    const { type, topic } = JSON.parse(String(message)) as { readonly type: string; readonly topic: number }
    if (type === 'row') rows.set(topic, [...(rows.get(topic) ?? []), Date.now()])
    sent()
  }
  const page = new Page({ send }, statistics)
  const { signal } = new AbortController()
  for (const [i, name] of ['sample.long.one', 'sample.long.ten', 'sample.colour'].entries())
    void feed.watch(page, `${i}`, { metrics: [name], derive: {} }, signal)
  await vi.advanceTimersByTimeAsync(20_500 - now)
  const late = early.length === 0 ? [20_200] : []
  expect([...rows.values()]).toEqual([1, 2, 3].map(() => [...early, 20_000, ...late]))
})

test('a tick waits for a hastened fetch instead of being skipped', async () => {
  vi.useFakeTimers({ now: 10_000 })
  closers.push(() => vi.useRealTimers())
  const sample = new Sample()
  const slow = overrideSource(sample.agent, {
    fetch: async (...request) => {
      await new Promise((resolve) => setTimeout(resolve, 600))
      return sample.agent.fetch(...request)
    },
  })
  const statistics = newStatistics()
  const times: number[] = []
  let topics = 0
  const feed = new Feed(
    async () => Context.over(slow),
    10_000,
    statistics,
    () => ++topics,
  )
  closers.push(() => feed.close())
  await feed.start()
  const send = (message: string | Buffer, sent: () => void): void => {
    const { type, topic } = JSON.parse(String(message)) as { readonly type: string; readonly topic: number }
    if (type === 'row' && topic === 1) times.push(Date.now())
    sent()
  }
  const page = new Page({ send }, statistics)
  const { signal } = new AbortController()
  void feed.watch(page, 'a', { metrics: ['sample.long.one'], derive: {} }, signal)
  await vi.advanceTimersByTimeAsync(9600)
  void feed.watch(page, 'b', { metrics: ['sample.long.ten'], derive: {} }, signal)
  await vi.advanceTimersByTimeAsync(11_500)
  expect(times.filter((time) => time >= 20_000)).toEqual([20_800, 30_600])
})

/** A request with distinct expressions. */
function expressions(from: number, count: number): WatchRequest {
  const names = Array.from({ length: count }, (_, i) => `page.e${from + i}`)
  return {
    metrics: names,
    derive: Object.fromEntries(names.map((name, i) => [name, `sample.long.one + ${from + i}`])),
  }
}

const failures = ({ metrics }: Topic): number => metrics.filter(({ code }) => code !== undefined).length

test('an expression has values as soon as its operands exist', async () => {
  const { sample, watch, nextTopic } = await opened()
  const wish = { metrics: ['page.x'], derive: { 'page.x': 'sample.ghosts.state + 0' } }
  await watch(wish)
  expect(await nextTopic()).toMatchObject({ metrics: [{ code: 'PM_ERR_BADDERIVE' }] })
  await sample.store('ghosts.visible', 3)
  expect(failures(await nextTopic())).toBe(0)
})

test('lists that share an invalid expression both get its error', async () => {
  const { watch, nextTopic } = await opened()
  const derive = { 'page.x': 'sample.no.such + 1' }
  await Promise.all([
    watch({ metrics: ['page.x'], derive }),
    watch({ metrics: ['page.x', 'sample.long.one'], derive }),
  ])
  const told = [await nextTopic(), await nextTopic()].map(({ metrics }) => metrics[0])
  expect(told[0]).toMatchObject({ code: 'PM_ERR_BADDERIVE' })
  expect(told[1]).toEqual(told[0])
})

test('unused expressions make room; concurrent requests keep theirs', async () => {
  const { watch, nextTopic } = await opened()
  const end = await watch(expressions(0, 500))
  expect(failures(await nextTopic())).toBe(0)
  await watch(expressions(500, 10))
  expect(failures(await nextTopic())).toBe(10)
  end()
  await watch(expressions(1000, 600))
  const { metrics } = await nextTopic()
  expect(metrics.findIndex(({ code }) => code !== undefined)).toBe(500)
  expect(metrics.at(-1)).toMatchObject({ code: 'PM_ERR_TOOBIG' })
})

test('concurrent lists are counted together', async () => {
  const { watch } = await opened()
  const wide = (n: number): WatchRequest => ({
    metrics: Array.from({ length: 1000 }, (_, i) => `sample.no.n${n}.${i}`),
    derive: {},
  })
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => watch(wide(n))))
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 10 }, () => 'fulfilled'),
    'rejected',
    'rejected',
  ])
})

test('values that arrive after the feed has ended are not kept', async () => {
  const sample = new Sample()
  let [begun, answer] = [(): void => {}, (): void => {}]
  const isAsked = new Promise<void>((resolve) => (begun = resolve))
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
  const delayed = overrideSource(sample.agent, {
    fetch: async (...request) => {
      begun()
      await mayAnswer
      return sample.agent.fetch(...request)
    },
  })
  const budget = { bytes: 0 }
  const statistics = newStatistics()
  const feed = new Feed(
    async () => Context.over(delayed),
    20,
    statistics,
    () => 1,
    () => 0,
    budget,
  )
  await feed.start()
  const sent: string[] = []
  const send = (message: string | Buffer, done: () => void): void => {
    sent.push(String(message))
    done()
  }
  const page = new Page({ send }, statistics)
  const wish = { metrics: ['sample.long.ten'], derive: {}, past: true }
  await feed.watch(page, 'a', wish, new AbortController().signal)
  await isAsked
  const closed = feed.close()
  answer()
  await closed
  await new Promise((resolve) => setImmediate(resolve))
  expect(budget.bytes).toBe(0)
  expect(sent.filter((message) => message.includes('"row"'))).toEqual([])
})

/** Watches a metric with the instances that `instances` returns; collects the names that reach the page. */
async function namesTold(
  instances: (attempt: number, real: () => Promise<Instances>) => Promise<Instances>,
  isEnough: (names: readonly string[]) => boolean,
): Promise<{
  readonly told: readonly (readonly string[])[]
  readonly attempts: () => number
  readonly rows: (count: number) => Promise<void>
}> {
  const sample = new Sample()
  let attempts = 0
  const answering = overrideSource(sample.agent, {
    instances: (...query) => instances(++attempts, () => sample.agent.instances(...query)),
  })
  const statistics = newStatistics()
  const feed = new Feed(
    async () => Context.over(answering),
    20,
    statistics,
    () => 1,
  )
  closers.push(() => feed.close())
  await feed.start()
  const told: (readonly string[])[] = []
  let [rows, heard] = [0, (): void => {}]
  const send = (message: string | Buffer, sent: () => void): void => {
    const { type, names } = JSON.parse(String(message)) as { type: string; names: readonly string[] }
    if (type === 'insts') told.push(names)
    if (type === 'row') rows++
    heard()
    sent()
  }
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone())
      await new Promise<void>((resolve) => {
        heard = resolve
      })
  }
  const page = new Page({ send }, statistics)
  await feed.watch(page, 'a', { metrics: ['sample.bin'], derive: {} }, new AbortController().signal)
  await until(() => told.some(isEnough))
  return {
    told,
    attempts: () => attempts,
    rows: (count) => {
      const before = rows
      return until(() => rows >= before + count)
    },
  }
}

const BINS = [
  'bin-100',
  'bin-200',
  'bin-300',
  'bin-400',
  'bin-500',
  'bin-600',
  'bin-700',
  'bin-800',
  'bin-900',
]

test('names replace numbers as soon as the agent has them', async () => {
  const { told, attempts, rows } = await namesTold(
    (attempt, real) => (attempt < 4 ? Promise.reject(new PcpError('PM_ERR_AGAIN')) : real()),
    (names) => names[0] === 'bin-100',
  )
  expect(told).toEqual([BINS.map((name) => name.slice(4)), BINS])
  // All names are known now.
  await rows(3)
  expect(attempts()).toBe(4)
})

test('an instance without a name keeps its number, and the domain is requested five times at most', async () => {
  const { told, attempts, rows } = await namesTold(
    async (_, real) => {
      const { ids, names, ...rest } = await real()
      return { ...rest, ids: ids.slice(1), names: names.slice(1) }
    },
    (names) => names[1] === 'bin-200',
  )
  expect(told[0]).toEqual(['100', ...BINS.slice(1)])
  await rows(20)
  expect(attempts()).toBe(5)
})
