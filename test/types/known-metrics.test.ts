/** What pmgenmap --typescript promises: misspelt metrics and wrong types do not compile. */
import { expectTypeOf, test } from 'vitest'
import type { KnownContext, KnownRow } from '../../src/pmapi/index.ts'
import { BIN, COUNT, type demo, ONE } from './demo-metrics.ts'

type Demo = typeof demo
declare const pcp: KnownContext<Demo>
declare const row: KnownRow<Demo, keyof Demo>

test('a misspelt metric does not compile', () => {
  expectTypeOf<KnownContext<Demo>['values']>().toBeCallableWith([ONE, 'demo.text'])
  // @ts-expect-error there is no such metric
  const misspelt = () => pcp.values(['demo.txt'])
  // @ts-expect-error it was not asked for
  const notAsked = async () => (await pcp.values([ONE])).value('demo.text')
  expectTypeOf(misspelt).toBeFunction()
  expectTypeOf(notAsked).toBeFunction()
})

test('values have the types of their metrics', () => {
  const values = () => ({
    one: row.value(ONE),
    big: row.value('demo.big'),
    text: row.value('demo.text'),
    bytes: row.value('demo.events'),
    bin: row.value(BIN, 'first'),
    bins: row.get(BIN).instances,
    plain: row.toObject(),
  })
  expectTypeOf(values).returns.toHaveProperty('one').toEqualTypeOf<number | undefined>()
  expectTypeOf(values).returns.toHaveProperty('big').toEqualTypeOf<number | bigint | undefined>()
  expectTypeOf(values).returns.toHaveProperty('text').toEqualTypeOf<string | undefined>()
  expectTypeOf(values).returns.toHaveProperty('bytes').toEqualTypeOf<Uint8Array | undefined>()
  expectTypeOf(values).returns.toHaveProperty('bin').toEqualTypeOf<number | undefined>()
  expectTypeOf(values).returns.toHaveProperty('bins').toEqualTypeOf<ReadonlyMap<string, number>>()
  type Plain = ReturnType<typeof values>['plain']
  expectTypeOf<Plain['demo.text']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<Plain['demo.bin']>().toEqualTypeOf<{ readonly [instance: string]: number } | undefined>()
  // @ts-expect-error text is no number
  const wrong = (): number | undefined => row.value('demo.text')
  expectTypeOf(wrong).toBeFunction()
})

test('a metric with instances needs one, and only that', () => {
  // @ts-expect-error which bin?
  const without = () => row.value(BIN)
  // @ts-expect-error it has no instances
  const needless = () => row.value(ONE, 'first')
  expectTypeOf(without).toBeFunction()
  expectTypeOf(needless).toBeFunction()
})

test('rates of counters are numbers, whatever the counters are', () => {
  const rates = async () => {
    for await (const each of pcp.sample([COUNT, 'demo.big'], { rates: true }))
      return { rate: each.value(COUNT), other: each.value('demo.big') }
    return undefined
  }
  const raw = async () => {
    for await (const each of pcp.sample([COUNT])) return each.value(COUNT)
    return undefined
  }
  expectTypeOf(rates).returns.resolves.toEqualTypeOf<
    { rate: number | undefined; other: number | bigint | undefined } | undefined
  >()
  expectTypeOf(raw).returns.resolves.toEqualTypeOf<number | bigint | undefined>()
})

test('columns are of known metrics, with an instance exactly where there are some', () => {
  const rows = async () => {
    const columns = {
      one: ONE,
      first: 'demo.bin[first]',
      bins: { metric: BIN, instances: 'all' },
      text: { metric: 'demo.text', as: 'text' },
      rate: COUNT,
      raw: { metric: COUNT, as: 'exact', scale: 'instant' },
      exact: { metric: BIN, instance: 'first', as: 'exact' },
    } as const
    for await (const { values } of pcp.table(columns)) return values
    throw new Error('no row')
  }
  expectTypeOf(rows).returns.resolves.toEqualTypeOf<{
    readonly one: number | undefined
    readonly first: number | undefined
    readonly bins: ReadonlyMap<string, number>
    readonly text: string | undefined
    readonly rate: number | undefined
    readonly raw: number | bigint | undefined
    readonly exact: number | undefined
  }>()
  const wrong = () => [
    // @ts-expect-error there is no such metric
    pcp.table({ a: 'demo.on' }),
    // @ts-expect-error which bin?
    pcp.table({ a: BIN }),
    // @ts-expect-error it has no instances
    pcp.table({ a: { metric: ONE, instance: 'first' } }),
    // @ts-expect-error text is no number unless one says so
    pcp.table({ a: 'demo.text' }),
    // @ts-expect-error event records are neither numbers nor text
    pcp.table({ a: 'demo.events' }),
  ]
  expectTypeOf(wrong).toBeFunction()
})

test('items of a fetch group have the types of their metrics', () => {
  const items = async () => {
    const group = pcp.group()
    const text = await group.item('demo.text')
    const bin = await group.item(BIN, { instance: 'first' })
    const rate = await group.item('demo.count')
    const raw = await group.item('demo.count', { scale: 'instant' })
    const bins = await group.indom(BIN)
    return {
      text: text.value,
      bin: bin.value,
      rate: rate.value,
      raw: raw.value,
      bins: bins.instances[0]?.value,
    }
  }
  expectTypeOf(items).returns.resolves.toEqualTypeOf<{
    text: string | undefined
    bin: number | undefined
    rate: number | undefined
    raw: number | bigint | undefined
    bins: number | undefined
  }>()
  const wrong = async () => {
    const group = pcp.group()
    // @ts-expect-error there is no such metric
    await group.item('demo.txt')
    // @ts-expect-error which bin?
    await group.item(BIN)
    // @ts-expect-error it has no instances
    await group.item(ONE, { instance: 'first' })
    // @ts-expect-error it has no event records
    await group.events(ONE, { field: COUNT })
    await group.events('demo.events', { field: COUNT })
  }
  expectTypeOf(wrong).toBeFunction()
})
