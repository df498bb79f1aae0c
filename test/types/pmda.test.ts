/** What users of pcp-ts/pmda may rely on, as types. Checked by the compiler; running it only proves that names exist. */
import { expectTypeOf, test } from 'vitest'
import {
  type AgentDefinition,
  type AgentSource,
  type Ask,
  type BackgroundReading,
  type CachedInstance,
  ChildFeed,
  cacheDir,
  defineAgent,
  type EventQueue,
  InstanceCache,
  LogTail,
  type OptionValues,
  openAgent,
  type PcpError,
  queryService,
  Rates,
  type Reading,
  type Refreshable,
  runDaemon,
  runProgram,
  type Sample,
  SocketFeed,
  snapshotFile,
  WorkerReader,
} from '../../src/pmda/index.ts'

test('an agent is a table, or a function that makes one', () => {
  expectTypeOf(defineAgent).returns.toEqualTypeOf<AgentDefinition>()
  expectTypeOf(openAgent).returns.toEqualTypeOf<AgentSource>()
  expectTypeOf(runDaemon).parameter(0).toEqualTypeOf<AgentDefinition | (() => Promise<AgentDefinition>)>()
  expectTypeOf<Sample>().toEqualTypeOf<number | bigint | string | Uint8Array | PcpError | undefined>()
  expectTypeOf<OptionValues>().toEqualTypeOf<Readonly<Record<string, string | true>>>()
})

test('whatever refreshes may be the reading of a metric', () => {
  expectTypeOf<Reading<number>>().toExtend<Refreshable>()
  expectTypeOf<BackgroundReading<string>>().toExtend<Refreshable>()
  expectTypeOf(snapshotFile<number[]>).returns.toEqualTypeOf<Reading<number[]>>()
  expectTypeOf(WorkerReader<number>)
    .instance.toHaveProperty('read')
    .returns.resolves.toEqualTypeOf<number>()
})

test('instances keep what the agent gives them', () => {
  expectTypeOf<InstanceCache<Date>['get']>().returns.toEqualTypeOf<CachedInstance<Date> | undefined>()
  expectTypeOf(new InstanceCache({ domain: 1, serial: 0 })).toEqualTypeOf<InstanceCache>()
  expectTypeOf(cacheDir).returns.toBeString()
  expectTypeOf(new Rates<string>().get).parameter(0).toBeString()
})

test('events are fetched with the question that asks for them', () => {
  expectTypeOf<EventQueue<string>['append']>().parameter(0).toBeString()
  expectTypeOf<EventQueue<string>['records']>().parameters.toEqualTypeOf<[Ask]>()
})

test('data comes as lines, or as a text', () => {
  expectTypeOf(LogTail).constructorParameters.toHaveProperty('0')
  expectTypeOf(ChildFeed).instance.toHaveProperty('start')
  expectTypeOf(SocketFeed).instance.toHaveProperty('start')
  expectTypeOf(runProgram).returns.resolves.toBeString()
  expectTypeOf(queryService).returns.resolves.toBeString()
})
