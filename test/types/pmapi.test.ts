/** What users of pcp-ts/pmapi may rely on, as types. Checked by the compiler; running it only proves that names exist. */
import { expectTypeOf, test } from 'vitest'
import {
  type ConnectOptions,
  Context,
  connect,
  convScale,
  type ErrorCode,
  type FetchGroup,
  type FetchResult,
  isError,
  type MetricDesc,
  type MetricSource,
  type MetricValues,
  type Outcome,
  PcpError,
  type PlainValues,
  parseInterval,
  parseUnits,
  type ReconnectOptions,
  type Row,
  type RowJson,
  type SampleOptions,
  type TableRow,
  type Timestamp,
  type Value,
  type ValueSet,
  valuesOf,
} from '../../src/pmapi/index.ts'

test('a context comes from a host, or from any source', () => {
  expectTypeOf(connect).toBeCallableWith()
  expectTypeOf(connect).toBeCallableWith('db1', { signal: AbortSignal.abort(), container: 'web' })
  expectTypeOf(connect).returns.resolves.toEqualTypeOf<Context>()
  expectTypeOf<ConnectOptions>().toHaveProperty('env')
  expectTypeOf(Context.over).parameter(0).toEqualTypeOf<MetricSource>()
  expectTypeOf<Context>().toExtend<AsyncDisposable>()
  expectTypeOf<FetchGroup>().toExtend<AsyncDisposable>()
})

test('options to reconnect, and rows that mark an absence', () => {
  expectTypeOf(connect).toBeCallableWith('db1', { reconnect: true })
  expectTypeOf(connect).toBeCallableWith('db1', { reconnect: { delays: [1, 5] }, maxRequests: 1000 })
  expectTypeOf<ReconnectOptions['delays']>().toEqualTypeOf<readonly number[] | undefined>()
  expectTypeOf<Row['away']>().toEqualTypeOf<PcpError | undefined>()
  expectTypeOf<TableRow<{ a: 'hinv.ncpu' }>['away']>().toEqualTypeOf<PcpError | undefined>()
  expectTypeOf<RowJson['away']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<Context['away']>().toEqualTypeOf<PcpError | undefined>()
  expectTypeOf<Context['untilOpen']>().returns.resolves.toEqualTypeOf<void>()
})

test('rows know the names that were asked for', () => {
  type Asked = 'kernel.all.load' | 'disk.dev.read'
  const sample = (pcp: Context): AsyncGenerator<Row<Asked>> =>
    pcp.sample(['kernel.all.load', 'disk.dev.read'], { every: '1s', rates: true })
  expectTypeOf(sample).returns.toExtend<AsyncIterable<Row>>()
  const values = (pcp: Context): Promise<Row<'hinv.ncpu'>> => pcp.values(['hinv.ncpu'])
  expectTypeOf(values).returns.resolves.toExtend<Row>()
  // Names read from somewhere are fine too, and so are names below one that was asked for.
  expectTypeOf<Context['values']>().toBeCallableWith([String(1)])
  expectTypeOf<Row<Asked>['value']>().toBeCallableWith('disk.dev.read', 'sda')
  expectTypeOf<Row<Asked>['value']>().toBeCallableWith('disk.dev.read.below')
  expectTypeOf<SampleOptions['every']>().toEqualTypeOf<number | string | undefined>()
})

test('values are numbers, bigints, text or bytes', () => {
  expectTypeOf<Value>().toEqualTypeOf<number | bigint | string | Uint8Array>()
  expectTypeOf<Row['value']>().returns.toEqualTypeOf<Value | undefined>()
  expectTypeOf<Row['get']>().returns.toEqualTypeOf<MetricValues>()
  expectTypeOf<Row['time']>().toEqualTypeOf<Timestamp>()
  expectTypeOf<MetricValues['instances']>().toEqualTypeOf<ReadonlyMap<string, Value>>()
  expectTypeOf<Row['toObject']>().returns.toEqualTypeOf<{ [metric: string]: PlainValues<Value> }>()
  expectTypeOf<Row['toJSON']>().returns.toEqualTypeOf<RowJson>()
})

test('an error in the place of an item is told from the item', () => {
  expectTypeOf<Context['lookupNames']>().returns.resolves.toEqualTypeOf<readonly Outcome<number>[]>()
  const describe = (outcome: Outcome<MetricDesc>): ErrorCode | number =>
    isError(outcome) ? outcome.code : outcome.units
  expectTypeOf(describe).parameter(0).toEqualTypeOf<MetricDesc | PcpError>()
  expectTypeOf(PcpError).toBeConstructibleWith('ECONNREFUSED', 'why', { cause: undefined })
})

test('questions one by one', () => {
  expectTypeOf<Context['desc']>().returns.resolves.toEqualTypeOf<MetricDesc>()
  expectTypeOf<Context['fetch']>().returns.resolves.toEqualTypeOf<FetchResult>()
  expectTypeOf<FetchResult['sets']>().toEqualTypeOf<readonly ValueSet[]>()
  expectTypeOf<Context['text']>().toBeCallableWith(1, { level: 'oneline' })
  expectTypeOf(valuesOf).returns.items.toHaveProperty('inst')
  expectTypeOf(convScale).returns.toEqualTypeOf<number | bigint>()
  expectTypeOf(parseUnits('Kbyte / sec').units).toEqualTypeOf<number>()
  expectTypeOf(parseInterval('5 min')).toEqualTypeOf<Timestamp>()
})
