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
