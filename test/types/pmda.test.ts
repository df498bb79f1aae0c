/** What authors of agents may rely on, as types. */
import { expectTypeOf, test } from 'vitest'
import {
  type AgentDefinition,
  type AgentSource,
  type AgentSpec,
  defineAgent,
  type MetricSpec,
  openAgent,
  runDaemon,
  type SemName,
  type TypeName,
} from '../../src/pmda/index.ts'

const jobs: string[] = []

test('an agent is a table', () => {
  const agent = defineAgent({
    name: 'queue',
    domain: 400,
    metrics: {
      'queue.depth': {
        item: 0,
        type: 'u32',
        sem: 'instant',
        units: 'count',
        help: 'Jobs waiting',
        value: () => jobs.length,
      },
    },
  })
  expectTypeOf(agent).toEqualTypeOf<AgentDefinition>()
  expectTypeOf(openAgent).toBeCallableWith(agent)
  expectTypeOf(openAgent).returns.toExtend<AgentSource>()
  expectTypeOf(runDaemon).toBeCallableWith(agent)
  expectTypeOf(runDaemon).toBeCallableWith(async () => agent)
})

test('types and semantics are words', () => {
  expectTypeOf<'u32' | 'string' | 'double'>().toExtend<TypeName>()
  expectTypeOf<'unsigned'>().not.toExtend<TypeName>()
  expectTypeOf<'counter' | 'instant' | 'discrete'>().toEqualTypeOf<SemName>()
})

test('a metric without help, or an agent without name, does not compile', () => {
  expectTypeOf<{ item: 0; type: 'u32'; sem: 'instant'; units: 'count' }>().not.toExtend<MetricSpec>()
  expectTypeOf<{ domain: 400; metrics: Record<string, never> }>().not.toExtend<AgentSpec>()
})
