/** Rows kept for pages that are reloaded. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Context } from '../../../src/pmapi/context.ts'
import { Feed } from '../../../src/pmproxy/live/feed.ts'
import { Feeds } from '../../../src/pmproxy/live/feeds.ts'
import { Page } from '../../../src/pmproxy/live/page.ts'
import {
  MOST_RING_BYTES,
  MOST_RING_ROWS,
  type RingBudget,
  RowRing,
} from '../../../src/pmproxy/live/row-ring.ts'
import { LINGER_MS } from '../../../src/pmproxy/live/watched-topics.ts'
import { newStatistics } from '../../../src/pmproxy/statistics.ts'
import { Sample } from '../../agents/sample/open.ts'

interface Message {
  readonly type: string
  readonly time?: number
  readonly messages?: readonly Message[]
}

const parsed = (text: Buffer | undefined): Message => JSON.parse(String(text)) as Message
const row = (n: number, size = 0): Buffer =>
  Buffer.from(JSON.stringify({ type: 'row', time: n, pad: 'x'.repeat(size) }))

describe('a ring', () => {
  test('returns its rows with instances before the first row that refers to them', () => {
    const ring = new RowRing({ bytes: 0 })
    expect(ring.message(7)).toBeUndefined()
    const [a, b] = ['a', 'b'].map((name) => Buffer.from(`{"type":"insts","names":["${name}"]}`))
    ring.add(row(1), [undefined, a])
    ring.add(row(2), [undefined, a])
    ring.add(row(3), [undefined, b])
    const { messages, ...rest } = parsed(ring.message(7))
    expect(rest).toEqual({ type: 'past', topic: 7 })
    expect(messages?.map(({ type, time }) => time ?? type)).toEqual(['insts', 1, 2, 'insts', 3])
    ring.add(row(4), [undefined, b])
    expect(parsed(ring.message(7)).messages?.at(-1)?.time).toBe(4)
  })

  test('keeps a bounded number of rows and bytes, the newest ones', () => {
    const budget: RingBudget = { bytes: 0 }
    const ring = new RowRing(budget)
    for (let n = 0; n < MOST_RING_ROWS + 10; n++) ring.add(row(n), [])
    expect(parsed(ring.message(1)).messages).toHaveLength(MOST_RING_ROWS)
    expect(parsed(ring.message(1)).messages?.[0]?.time).toBe(10)
    for (let n = 0; n < 20; n++) ring.add(row(n, 100_000), [])
    expect(budget.bytes).toBeLessThanOrEqual(MOST_RING_BYTES)
    expect(parsed(ring.message(1)).messages?.map(({ time }) => time)).toEqual([
      10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
    ])
    ring.clear()
    expect(budget.bytes).toBe(0)
    expect(ring.message(1)).toBeUndefined()
  })

  test('of many shares a bound with them', () => {
    const budget: RingBudget = { bytes: 0 }
    const rings = Array.from({ length: 100 }, () => new RowRing(budget))
    for (let n = 0; n < 10; n++) for (const ring of rings) ring.add(row(n, 100_000), [])
    expect(budget.bytes).toBeLessThanOrEqual(32 * 1024 * 1024)
    for (const ring of rings) ring.clear()
    expect(budget.bytes).toBe(0)
  })
})

describe('a page that is reloaded', () => {
  beforeEach(() => {
    // At a tick, so that the first row is fetched at once.
    vi.useFakeTimers({ now: 1_700_000_000_000 })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** A page that records the messages it gets. */
  function pageOf(statistics = newStatistics()): { page: Page; told: Message[] } {
    const told: Message[] = []
    const send = (message: string | Buffer, sent: () => void): void => {
      told.push(JSON.parse(String(message)) as Message)
      sent()
    }
    return { page: new Page({ send }, statistics), told }
  }

  const WISH = { metrics: ['sample.long.one', 'sample.colour'], derive: {}, past: true }
  const never = new AbortController().signal
  const rowsOf = (told: readonly Message[]): (number | undefined)[] =>
    told.filter(({ type }) => type === 'row').map(({ time }) => time)

  async function started(
    everyMs = 1000,
  ): Promise<{ feed: Feed; statistics: ReturnType<typeof newStatistics> }> {
    const sample = new Sample()
    const statistics = newStatistics()
    let topics = 0
    const feed = new Feed(
      async () => Context.over(sample.agent),
      everyMs,
      statistics,
      () => ++topics,
    )
    await feed.start()
    return { feed, statistics }
  }

  test('gets the rows from before, and of the time it was away', async () => {
    const { feed } = await started()
    const first = pageOf()
    const leave = await feed.watch(first.page, 'a', WISH, never)
    await vi.advanceTimersByTimeAsync(5000)
    leave()
    expect(feed.isLingering).toBe(true)
    await vi.advanceTimersByTimeAsync(3000)
    const second = pageOf()
    await feed.watch(second.page, 'a', WISH, never)
    expect(feed.isLingering).toBe(false)
    expect(second.told.map(({ type }) => type)).toEqual(['topic', 'past'])
    const past = second.told[1]!.messages!
    expect(past.filter(({ type }) => type === 'insts')).toHaveLength(1)
    const times = rowsOf(past)
    // Two rows before the first tick, five at ticks, and three while it was away.
    expect(rowsOf(first.told)).toHaveLength(7)
    expect(times.slice(0, 7)).toEqual(rowsOf(first.told))
    expect(times).toHaveLength(10)
    await vi.advanceTimersByTimeAsync(1000)
    expect(second.told.at(-1)).toMatchObject({ type: 'row' })
    await feed.close()
  })

  test('may name its expressions in another order', async () => {
    const { feed } = await started()
    const [x, y] = [{ 'page.x': 'sample.long.one + 1' }, { 'page.y': 'sample.long.one + 2' }]
    const metrics = ['page.x', 'page.y']
    const leave = await feed.watch(pageOf().page, 'a', { ...WISH, metrics, derive: { ...x, ...y } }, never)
    await vi.advanceTimersByTimeAsync(5000)
    leave()
    const second = pageOf()
    await feed.watch(second.page, 'a', { ...WISH, metrics, derive: { ...y, ...x } }, never)
    expect(rowsOf(second.told[1]!.messages!)).toHaveLength(7)
    await feed.close()
  })

  test('late finds nothing, and meanwhile nothing is fetched', async () => {
    const { feed, statistics } = await started()
    const leave = await feed.watch(pageOf().page, 'a', WISH, never)
    await vi.advanceTimersByTimeAsync(2000)
    leave()
    await vi.advanceTimersByTimeAsync(LINGER_MS)
    expect(feed.isLingering).toBe(false)
    const { liveFetches } = statistics
    await vi.advanceTimersByTimeAsync(10_000)
    expect(statistics.liveFetches).toBe(liveFetches)
    const late = pageOf()
    await feed.watch(late.page, 'a', WISH, never)
    expect(late.told.map(({ type }) => type)).toEqual(['topic'])
    await feed.close()
  })

  test.each([
    ['did not want them', 1000, { ...WISH, past: false }],
    ['has rows no finer than recorded ones', 10_000, WISH],
  ])('gets no rows from before if it %s', async (_, everyMs, wish) => {
    const { feed } = await started(everyMs)
    const leave = await feed.watch(pageOf().page, 'a', wish, never)
    await vi.advanceTimersByTimeAsync(3 * everyMs)
    leave()
    expect(feed.isLingering).toBe(false)
    await feed.close()
  })

  test('often with other metrics keeps two lists', async () => {
    const { feed, statistics } = await started()
    for (const name of ['one', 'ten', 'hundred', 'million']) {
      const leave = await feed.watch(pageOf().page, 'a', { ...WISH, metrics: [`sample.long.${name}`] }, never)
      await vi.advanceTimersByTimeAsync(3000)
      leave()
    }
    const kept = async (name: string): Promise<boolean> => {
      const { page, told } = pageOf(statistics)
      await vi.advanceTimersByTimeAsync(1000)
      await feed.watch(page, 'a', { ...WISH, metrics: [`sample.long.${name}`] }, never)
      return told.some(({ type }) => type === 'past')
    }
    expect([await kept('one'), await kept('ten'), await kept('hundred'), await kept('million')]).toEqual([
      false,
      false,
      true,
      true,
    ])
    await feed.close()
  })

  test('is served by a feed that is kept for a minute; eight are kept at most', async () => {
    const sample = new Sample()
    let open = 0
    const feeds = new Feeds(
      {
        open: async () => {
          open++
          const context = Context.over(sample.agent)
          const close = context.close.bind(context)
          context.close = async () => {
            open--
            await close()
          }
          return context
        },
      },
      newStatistics(),
    )
    const user = { kind: 'owner', from: '127.0.0.1' } as const
    const { told } = pageOf()
    const send = (message: string | Buffer, sent: () => void): void => {
      told.push(JSON.parse(String(message)) as Message)
      sent()
    }
    const load = () => feeds.open({ send }, { defaultHost: 'local:', user, keep: () => undefined })
    const page = load()
    for (let n = 0; n < 12; n++)
      await page.receive(JSON.stringify({ subscribe: `k${n}`, every: 1 + n / 10, ...WISH }))
    await vi.advanceTimersByTimeAsync(5000)
    page.close()
    await vi.advanceTimersByTimeAsync(1000)
    expect(open).toBe(8)
    const again = load()
    await again.receive(JSON.stringify({ subscribe: 'k11', every: 2.1, ...WISH }))
    expect(told.at(-1)).toMatchObject({ type: 'past' })
    await vi.advanceTimersByTimeAsync(LINGER_MS)
    expect(open).toBe(1)
    again.close()
    await feeds.close()
    expect(open).toBe(0)
  })
})
