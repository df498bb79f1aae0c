import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { overrideSource } from '../../src/model/layer.ts'
import type { MetricSource } from '../../src/model/source.ts'
import { PM_TYPE_AGGREGATE } from '../../src/model/types.ts'
import type { Clock } from '../../src/pmapi/clock.ts'
import { Context } from '../../src/pmapi/context.ts'
import { Row } from '../../src/pmapi/row.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { demoAgent } from '../lib/demo-agent.ts'

/** A clock that advances only during sleeps; it records when each sleep ended. */
class FakeClock implements Clock {
  time = 0
  readonly wakings: number[] = []

  now(): number {
    return this.time
  }

  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    this.time += ms
    this.wakings.push(this.time)
  }
}

/** Returns the demo agent with timestamps of the fake clock; each fetch takes `fetchMs`. */
function sourceOn(clock: FakeClock, fetchMs = 0): MetricSource {
  const agent = openAgent(demoAgent)
  return overrideSource(agent, {
    fetch: async (ids, ask) => {
      const result = await agent.fetch(ids, ask)
      clock.time += fetchMs
      return {
        ...result,
        timestamp: { sec: Math.floor(clock.time / 1000), nsec: (clock.time % 1000) * 1e6 },
      }
    },
  })
}

async function collect(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = []
  for await (const row of rows) all.push(row)
  return all
}

test('values() names values and instances, and expands a node to the metrics below it', async () => {
  const context = Context.over(openAgent(demoAgent))
  const row = await context.values(['demo.text', 'demo.bin', 'demo.param', 'demo.broken', 'demo.big'])
  expect(row.value('demo.text')).toBe('hello')
  expect(row.value('demo.bin', 'first')).toBe(10)
  expect([...row.get('demo.bin').instances]).toEqual([
    ['second bin', 20],
    ['first', 10],
  ])
  expect(row.value('demo.param.text')).toBeUndefined()
  expect(row.get('demo.broken').error).toMatchObject({ code: 'PM_ERR_AGAIN' })
  expect(row.value('demo.big')).toBe(2n ** 64n - 1n)
  expect(row.get('demo.big').units).toBe('byte')
  expect([...row].map(({ name }) => name).slice(0, 3)).toEqual(['demo.text', 'demo.bin', 'demo.param.text'])
  expect(() => row.get('demo.one')).toThrow('"demo.one" was not requested')
})

test('values() keeps the requested instances, by full name or first word', async () => {
  const context = Context.over(openAgent(demoAgent))
  const row = await context.values(['demo.bin'], { instances: ['second'] })
  expect([...row.get('demo.bin').instances.keys()]).toEqual(['second bin'])
})

test('an unknown name is an error immediately', async () => {
  const context = Context.over(openAgent(demoAgent))
  await expect(context.values(['demo.one', 'nosuch'])).rejects.toMatchObject({
    code: 'PM_ERR_NAME',
    message: 'Unknown metric name: "nosuch"',
  })
})

test('samples counters as change per second; the first row needs two fetches', async () => {
  const clock = new FakeClock()
  const context = Context.over(sourceOn(clock), { clock })
  const rows = await collect(
    context.sample(['demo.count', 'demo.busy', 'demo.one'], { every: '2 sec', rates: true, count: 2 }),
  )
  expect(rows.map((row) => row.value('demo.count'))).toEqual([5, 5])
  expect(rows[0]!.get('demo.count').units).toBe('count / sec')
  // A second of time in two seconds: utilisation 0.5.
  expect(rows[0]!.value('demo.busy')).toBe(0.5)
  expect(rows[0]!.get('demo.busy').units).toBe('')
  expect(rows[0]!.value('demo.one')).toBe(1)
  expect(rows.map((row) => row.time.sec)).toEqual([2, 4])
})

test('without rates counters are unchanged, from the first fetch on', async () => {
  const clock = new FakeClock()
  const context = Context.over(sourceOn(clock), { clock })
  const rows = await collect(context.sample(['demo.count'], { every: 0.5, count: 3 }))
  expect(rows.map((row) => row.value('demo.count'))).toEqual([100, 110, 120])
  expect(clock.wakings).toEqual([500, 1000])
})

test('a slow fetch skips sample times without shifting them', async () => {
  const clock = new FakeClock()
  const context = Context.over(sourceOn(clock, 1300), { clock })
  await collect(context.sample(['demo.one'], { every: '1s', count: 4 }))
  expect(clock.wakings).toEqual([2000, 4000, 6000])
})

test('ends on abort', async () => {
  const clock = new FakeClock()
  const context = Context.over(sourceOn(clock), { clock })
  const controller = new AbortController()
  const rows: Row[] = []
  const sampling = (async () => {
    for await (const row of context.sample(['demo.one'], { signal: controller.signal })) {
      rows.push(row)
      if (rows.length === 3) controller.abort(new Error('enough'))
    }
  })()
  await expect(sampling).rejects.toThrow('enough')
  expect(rows).toHaveLength(3)
})

test.each([
  ['250ms', 250],
  ['0.5 s', 500],
  ['1s 500 ms', 1500],
  ['2min', 120_000],
  [0.1, 100],
])('%s from one row to the next', async (every, ms) => {
  const clock = new FakeClock()
  const context = Context.over(sourceOn(clock), { clock })
  await collect(context.sample(['demo.one'], { every, count: 2 }))
  expect(clock.wakings).toEqual([ms])
})

test.each(['0', 'soon', -1])('an interval of %s is refused', async (every) => {
  const context = Context.over(openAgent(demoAgent))
  await expect(context.sample(['demo.one'], { every }).next()).rejects.toMatchObject({ code: 'PM_ERR_ARG' })
})

test('a row is shown in the console, converted to plain objects and to JSON', async () => {
  const context = Context.over(sourceOn(new FakeClock()))
  const row = await context.values(['demo.text', 'demo.bin', 'demo.none', 'demo.broken', 'demo.big'])
  expect(row.toObject()).toEqual({
    'demo.text': 'hello',
    'demo.bin': { 'second bin': 20, first: 10 },
    'demo.big': 2n ** 64n - 1n,
  })
  expect(JSON.parse(JSON.stringify(row))).toEqual({
    time: '1970-01-01T00:00:00.000000000Z',
    values: {
      'demo.text': 'hello',
      'demo.bin': { 'second bin': 20, first: 10 },
      'demo.big': '18446744073709551615',
    },
    errors: { 'demo.broken': 'PM_ERR_AGAIN' },
  })
  expect(inspect(row, { breakLength: Number.POSITIVE_INFINITY })).toBe(
    "Row 1970-01-01T00:00:00.000000000Z { 'demo.text': 'hello', 'demo.bin': { 'second bin': 20, first: 10 }, " +
      "'demo.big': 18446744073709551615n, 'demo.broken': 'PM_ERR_AGAIN' }",
  )
  expect(Object.keys(row)).toEqual(['time', 'away'])
})

test('a row outside the range of Date shows its time as a number', async () => {
  const row = new Row({ sec: 2 ** 50, nsec: 5 }, new Map())
  expect(row.toJSON()).toEqual({ time: '1125899906842624.000000005', values: {}, errors: {} })
})

test('bytes are base64 in JSON, and an instance may be called __proto__', async () => {
  const desc = { pmid: 1, type: PM_TYPE_AGGREGATE, indom: 1, sem: 3, units: 0 }
  const instances = new Map([['__proto__', Uint8Array.of(1, 255)]])
  const metric = { name: 'a', desc, units: '', error: undefined, value: undefined, instances }
  const row = new Row({ sec: 0, nsec: 0 }, new Map([['a', metric]]))
  expect(JSON.stringify(row)).toContain('{"a":{"__proto__":"Af8="}}')
})
