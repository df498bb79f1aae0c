/** Sampling a source that goes away and comes back. */
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { isError, PcpError } from '../../src/model/errors.ts'
import { overrideSource } from '../../src/model/layer.ts'
import type { MetricSource, SourceEvent } from '../../src/model/source.ts'
import { Context } from '../../src/pmapi/context.ts'
import { FetchGroup } from '../../src/pmapi/fetch-group.ts'
import { known } from '../../src/pmapi/known-metrics.ts'
import type { Row } from '../../src/pmapi/row.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { ManualClock } from '../lib/fake-host.ts'

const RESET = new PcpError('ECONNRESET', 'demo closed the connection')

/** Returns a host with the demo agent, which restarts, with its counters, whenever it is opened. */
function demoHost(clock: ManualClock, change: (source: MetricSource, opening: number) => MetricSource) {
  const listeners = new Set<(event: SourceEvent) => void>()
  let lostBy: PcpError | undefined
  let openings = 0
  return {
    /** Whether it accepts connections. */
    isUp: true,
    open(): MetricSource {
      lostBy = undefined
      const agent = openAgent(demoAgent)
      const source = overrideSource(agent, {
        fetch: async (ids, ask) => {
          if (lostBy !== undefined) throw lostBy
          const result = await agent.fetch(ids, ask)
          return { ...result, timestamp: { sec: clock.now() / 1000, nsec: 0 } }
        },
        subscribe: (listener) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      })
      return change(source, ++openings)
    },
    lose(): void {
      lostBy = RESET
      for (const listener of [...listeners]) listener({ type: 'lost', error: RESET })
    },
  }
}

async function setUp(change: (source: MetricSource, opening: number) => MetricSource = (source) => source) {
  const clock = new ManualClock()
  const host = demoHost(clock, change)
  const context = Context.over(host.open(), {
    clock,
    reconnect: true,
    reconnectTimeouts: [1],
    random: () => 0,
    reopen: async () => {
      if (!host.isUp) throw new PcpError('ECONNREFUSED')
      return host.open()
    },
  })
  return { clock, host, context }
}

/** Returns the next row while time advances. */
async function next<R>(rows: AsyncGenerator<R>, clock: ManualClock): Promise<R> {
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  let found: IteratorResult<R> | undefined
  let failure: unknown
  rows.next().then(
    (result) => {
      found = result
    },
    (error: unknown) => {
      failure = error
    },
  )
  for (let i = 0; i < 100 && found === undefined && failure === undefined; i++) {
    await turn()
    if (found === undefined && failure === undefined && clock.sleepers > 0)
      await clock.advance(await clock.nextMs())
  }
  if (failure !== undefined) throw failure
  return found!.value as R
}

test('an absence of the source yields one row without values, then rows continue', async () => {
  const { clock, host, context } = await setUp()
  const rows = context.sample(['demo.one', 'demo.bin'], { every: 2 })
  const first = await next(rows, clock)
  expect(first.value('demo.one')).toBe(1)
  expect(first.away).toBeUndefined()
  host.lose()
  host.isUp = false
  const gap = await next(rows, clock)
  expect(gap.away).toBe(RESET)
  expect(gap.time).toEqual({ sec: 2, nsec: 0 })
  expect(gap.value('demo.one')).toBeUndefined()
  expect(gap.get('demo.bin')).toMatchObject({ error: RESET, instances: new Map() })
  expect(gap.toObject()).toEqual({})
  expect(JSON.parse(JSON.stringify(gap))).toEqual({
    time: '1970-01-01T00:00:02.000000000Z',
    values: {},
    errors: { 'demo.one': 'ECONNRESET', 'demo.bin': 'ECONNRESET' },
    away: 'ECONNRESET',
  })
  expect(inspect(gap)).toBe('Row 1970-01-01T00:00:02.000000000Z away: demo closed the connection')
  const later = next(rows, clock)
  await clock.advance(10_000)
  host.isUp = true
  expect((await later).value('demo.bin', 'first')).toBe(10)
  // Rows keep their times.
  expect((await later).time.sec % 2).toBe(0)
  await context.close()
})

test('no rate is computed across a gap: it needs two fetches again', async () => {
  const { clock, host, context } = await setUp()
  const rows = context.sample(['demo.count'], { every: 2, rates: true })
  expect((await next(rows, clock)).value('demo.count')).toBe(5)
  host.lose()
  expect((await next(rows, clock)).away).toBe(RESET)
  const after = await next(rows, clock)
  expect(after.away).toBeUndefined()
  expect(after.value('demo.count')).toBe(5)
  await context.close()
})

test('a source that was lost and is back between two fetches counts as away', async () => {
  const { clock, host, context } = await setUp()
  const rows = context.sample(['demo.count'], { every: 60, rates: true })
  await next(rows, clock)
  host.lose()
  await clock.nextMs()
  await clock.advance(1000)
  expect(context.away).toBeUndefined()
  expect((await next(rows, clock)).away).toBe(RESET)
  expect((await next(rows, clock)).value('demo.count')).toBeCloseTo(10 / 60)
  await context.close()
})

test('a host that comes and goes without a fetch in between counts as away once', async () => {
  let isBroken = true
  const { clock, host, context } = await setUp((source, opening) =>
    opening === 1
      ? source
      : overrideSource(source, {
          lookupNames: async (names, ask) => {
            if (!isBroken) return source.lookupNames(names, ask)
            host.lose()
            throw RESET
          },
        }),
  )
  const rows = context.sample(['demo.one'], { every: 2 })
  await next(rows, clock)
  host.lose()
  expect((await next(rows, clock)).away).toBe(RESET)
  const later = next(rows, clock)
  for (let i = 0; i < 5; i++) await clock.advance(2000)
  isBroken = false
  expect((await later).away).toBeUndefined()
  expect(context.openings).toBeGreaterThan(2)
  await context.close()
})

test('metrics that are missing or different after the gap remain in the rows with an error until they are back', async () => {
  let isComplete = false
  const { clock, host, context } = await setUp((source, opening) =>
    opening === 1
      ? source
      : overrideSource(source, {
          lookupNames: async (names, ask) => {
            const found = await source.lookupNames(names, ask)
            return isComplete
              ? found
              : found.map((id, i) => (names[i] === 'demo.one' ? new PcpError('PM_ERR_NAME') : id))
          },
          descs: async (ids, ask) => {
            const descs = await source.descs(ids, ask)
            return descs.map((desc) =>
              desc instanceof PcpError || isComplete || desc.sem !== 1 ? desc : { ...desc, type: 5 },
            )
          },
        }),
  )
  const rows = context.sample(['demo.one', 'demo.count', 'demo.bin'], { every: 1 })
  await next(rows, clock)
  host.lose()
  await next(rows, clock)
  const part = await next(rows, clock)
  expect(part.get('demo.one').error).toMatchObject({ code: 'PM_ERR_NAME' })
  expect(part.get('demo.count').error).toMatchObject({ code: 'PM_ERR_TYPE' })
  expect(part.value('demo.bin', 'first')).toBe(10)
  isComplete = true
  const whole = await next(rows, clock)
  expect(whole.value('demo.one')).toBe(1)
  expect(whole.value('demo.count')).toBe(110)
  expect([...whole].map(({ name }) => name)).toEqual(['demo.one', 'demo.count', 'demo.bin'])
  await context.close()
})

test('instance names are refetched: an id may belong to another instance', async () => {
  const { clock, host, context } = await setUp((source, opening) =>
    overrideSource(source, {
      instances: async (indom, query, ask) => {
        const found = await source.instances(indom, query, ask)
        return { ...found, names: found.names.map((name) => `${name} of ${opening}`) }
      },
    }),
  )
  const names = (row: Row): string[] => [...row.get('demo.bin').instances.keys()]
  const rows = context.sample(['demo.bin'], { every: 1 })
  expect(names(await next(rows, clock))).toEqual(['second bin of 1', 'first of 1'])
  host.lose()
  await next(rows, clock)
  expect(names(await next(rows, clock))).toEqual(['second bin of 2', 'first of 2'])
  await context.close()
})

test('derived metrics return, without comparing across the gap', async () => {
  const { clock, host, context } = await setUp()
  await context.addDerived('d.delta', 'delta(demo.count)')
  const rows = context.sample(['d.delta'], { every: 1 })
  await next(rows, clock)
  expect((await next(rows, clock)).value('d.delta')).toBe(10)
  host.lose()
  expect((await next(rows, clock)).away).toBe(RESET)
  expect((await next(rows, clock)).value('d.delta')).toBeUndefined()
  expect((await next(rows, clock)).value('d.delta')).toBe(10)
  await context.close()
})

test('tables have gap rows too, which `count` ignores', async () => {
  const { clock, host, context } = await setUp()
  const columns = {
    one: 'demo.one',
    rate: 'demo.count',
    bins: { metric: 'demo.bin', instances: 'all' },
  } as const
  const rows = context.table(columns, { every: 2, count: 3 })
  await next(rows, clock)
  expect((await next(rows, clock)).values.rate).toBe(5)
  host.lose()
  const gap = await next(rows, clock)
  expect(gap).toEqual({
    time: { sec: 4, nsec: 0 },
    values: { one: undefined, rate: undefined, bins: new Map() },
    errors: { one: RESET, rate: RESET, bins: RESET },
    away: RESET,
  })
  const back = await next(rows, clock)
  expect(back).toMatchObject({
    away: undefined,
    values: { one: 1 },
    errors: { rate: { code: 'PM_ERR_AGAIN' } },
  })
  expect((await rows.next()).done).toBe(true)
  await context.close()
})

test('known rows have gap rows too', async () => {
  const { clock, host, context } = await setUp()
  const metrics = {
    'demo.one': { pmid: 250 << 22, type: '32', sem: 'discrete', hasInstances: false, units: '' },
  } as const
  const pcp = await known(context, metrics)
  const rows = pcp.sample(['demo.one'], { every: 1 })
  await next(rows, clock)
  host.lose()
  expect((await next(rows, clock)).away).toBe(RESET)
  await context.close()
})

test('items of a group restart: a rate needs two fetches after a reconnect', async () => {
  const { clock, host, context } = await setUp()
  await using group = FetchGroup.over(context)
  const rate = await group.item('demo.count')
  const fetchLater = async (): Promise<void> => {
    await clock.advance(1000)
    await group.fetch()
  }
  await fetchLater()
  await fetchLater()
  expect(rate.value).toBe(10)
  host.lose()
  await expect(group.fetch()).rejects.toBe(RESET)
  await clock.nextMs()
  await clock.advance(1000)
  await context.untilOpen()
  await fetchLater()
  expect(rate.error).toMatchObject({ code: 'PM_ERR_AGAIN' })
  await fetchLater()
  expect(rate.value).toBe(10)
})

test('a lost source ends the loop with its error unless the context reconnects automatically', async () => {
  const clock = new ManualClock()
  const host = demoHost(clock, (source) => source)
  const context = Context.over(host.open(), { clock, reopen: async () => host.open() })
  const rows = context.sample(['demo.one'], { every: 1 })
  await next(rows, clock)
  host.lose()
  await expect(next(rows, clock)).rejects.toBe(RESET)
})

test('closing the context ends a loop whose source is away', async () => {
  const { clock, host, context } = await setUp()
  const rows = context.sample(['demo.one'], { every: 1 })
  await next(rows, clock)
  host.lose()
  host.isUp = false
  await next(rows, clock)
  const waiting = expect(rows.next()).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
  await new Promise((resolve) => setImmediate(resolve))
  await context.close()
  await waiting
  expect(clock.sleepers).toBe(0)
})

test('metrics below a name remain in the rows with an error until they are back', async () => {
  let isBack = false
  const { clock, host, context } = await setUp((source, opening) =>
    overrideSource(source, {
      traverse: async (name, ask) => {
        const names = await source.traverse(name, ask)
        return opening === 1 || isBack || isError(names) ? names : names.filter((each) => each !== 'demo.one')
      },
    }),
  )
  const rows = context.sample(['demo'], { every: 2 })
  expect((await next(rows, clock)).value('demo.one')).toBe(1)
  host.lose()
  expect((await next(rows, clock)).away).toBe(RESET)
  const partial = await next(rows, clock)
  expect(partial.get('demo.one')).toMatchObject({ error: { code: 'PM_ERR_NAME' } })
  expect(partial.value('demo.bin', 'first')).toBe(10)
  isBack = true
  expect((await next(rows, clock)).value('demo.one')).toBe(1)
})

test('sampling ends at its end time even while the source is away', async () => {
  const { clock, host, context } = await setUp()
  const rows = context.sample(['demo.one'], { every: 2, to: { sec: 9, nsec: 0 } })
  await next(rows, clock)
  host.lose()
  host.isUp = false
  expect((await next(rows, clock)).away).toBe(RESET)
  let isDone = false
  void rows.next().then(({ done }) => {
    isDone = done === true
  })
  for (let i = 0; i < 100 && !isDone; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (!isDone && clock.sleepers > 0) await clock.advance(await clock.nextMs())
  }
  expect(isDone).toBe(true)
  await context.close()
})
