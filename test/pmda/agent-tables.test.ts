/** Every table and hook of an agent takes effect, whether given beside `open`, by it, or by `replaceTables`. */
import { expect, test } from 'vitest'
import { type Indom, indom, pmid } from '../../src/model/ids.ts'
import { LABEL_CLUSTER, LABEL_DOMAIN } from '../../src/model/labels.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import type { AgentEnv, AgentTables, IndomSpec, MetricSpec } from '../../src/pmda/define.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'
import { ASK } from '../lib/agent-catalogue.ts'

const DOMAIN = 400
const metric = (item: number, value = item): MetricSpec => ({
  item,
  type: 'u32',
  sem: 'instant',
  units: 'none',
  help: 'A number',
  value: () => value,
})
const queues: IndomSpec = { serial: 7, instances: { a: 0 }, help: 'Queues' }
const ALWAYS = { 'demo.always': metric(1023) }

/** One field of an agent's tables, and a check that it takes effect. `seen` collects the hooks that were called. */
interface Effect<K extends keyof AgentTables> {
  readonly give: (seen: string[]) => Required<AgentTables>[K]
  readonly check: (source: AgentSource, seen: string[]) => Promise<void>
}

const fetch = async (source: AgentSource): Promise<unknown> => {
  const { sets } = await source.fetch([pmid(DOMAIN, 0, 1)], ASK)
  return valuesOf(sets[0]!, PM_TYPE_U32)[0]?.value
}
const labels = async (source: AgentSource, level: number, id: number): Promise<string> =>
  (await source.labels({ level, id }, ASK)).map(({ json }) => json).join()

/** One entry for each field: the compiler rejects a list that lacks one. */
const EFFECTS: { readonly [K in keyof Required<AgentTables>]: Effect<K> } = {
  metrics: {
    give: () => ({ 'demo.one': metric(1) }),
    check: async (source) => expect(await fetch(source)).toBe(1),
  },
  dynamicRoots: {
    give: () => ['demo.moving'],
    check: async (source) => expect([...source.names()].map(([name]) => name)).toContain('demo.moving'),
  },
  hidesDynamicNodes: {
    give: () => true,
    check: async (source) => {
      const [outcome] = await source.lookupNames(['demo.sub'], ASK)
      expect(outcome).toMatchObject({ code: 'PM_ERR_NAME' })
    },
  },
  labels: {
    give: () => ({ team: 'core' }),
    check: async (source) => expect(await labels(source, LABEL_DOMAIN, DOMAIN)).toContain('core'),
  },
  clusterLabels: {
    give: () => ({ 0: { part: 'first' } }),
    check: async (source) =>
      expect(await labels(source, LABEL_CLUSTER, pmid(DOMAIN, 0, 0))).toContain('first'),
  },
  indoms: {
    give: () => [queues],
    check: async (source) => {
      const id: Indom = indom(DOMAIN, 7)
      expect((await source.instances(id, undefined, ASK)).names).toEqual(['a'])
    },
  },
  beforeRequest: {
    give: (seen) => (kind) => void seen.push(`before ${kind}`),
    check: async (source, seen) => {
      await fetch(source)
      expect(seen).toEqual(['before fetch'])
    },
  },
  afterRequest: {
    give: (seen) => (kind) => void seen.push(`after ${kind}`),
    check: async (source, seen) => {
      await fetch(source)
      expect(seen).toEqual(['after fetch'])
    },
  },
  tablesFor: {
    give: (seen) => () => ({
      metrics: { 'demo.one': { ...metric(1, 42), store: (value) => void seen.push(`stored ${value}`) } },
    }),
    check: async (source, seen) => {
      expect(await fetch(source)).toBe(42)
      await source.store([makeSingular(pmid(DOMAIN, 0, 1), PM_TYPE_U32, 7)], ASK)
      expect(seen).toEqual(['stored 7'])
    },
  },
  beforeFetch: {
    give: (seen) => () => void seen.push('fetch'),
    check: async (source, seen) => {
      await fetch(source)
      expect(seen).toEqual(['fetch'])
    },
  },
  endClient: {
    give: (seen) => (client) => void seen.push(`end ${client}`),
    check: async (source, seen) => {
      source.endClient?.(3)
      expect(seen).toEqual(['end 3'])
    },
  },
  close: {
    give: (seen) => () => seen.push('closed'),
    check: async (source, seen) => {
      await source.close()
      expect(seen).toEqual(['closed'])
    },
  },
}

const cases = Object.entries(EFFECTS) as [keyof AgentTables, Effect<keyof AgentTables>][]

/** Where tables may be given: opens an agent with `field` there and everything else elsewhere. */
const PLACES: Readonly<Record<string, (field: Partial<AgentTables>, rest: AgentTables) => AgentSource>> = {
  'without open': (field, rest) =>
    openAgent(
      defineAgent({
        name: 'demo',
        domain: DOMAIN,
        ...rest,
        ...field,
        metrics: { ...rest.metrics, ...field.metrics },
      }),
    ),
  'beside open': (field, rest) =>
    openAgent(defineAgent({ name: 'demo', domain: DOMAIN, ...field, open: () => rest })),
  'by open': (field, rest) =>
    openAgent(
      defineAgent({ name: 'demo', domain: DOMAIN, ...rest, open: () => ({ metrics: {}, ...field }) }),
    ),
  'beside open, after replaceTables': (field, rest) => {
    let env: AgentEnv | undefined
    const open = (given: AgentEnv): AgentTables => {
      env = given
      return rest
    }
    const source = openAgent(defineAgent({ name: 'demo', domain: DOMAIN, ...field, open }))
    env!.replaceTables({ ...rest, metrics: { ...rest.metrics, 'demo.later': metric(500) } })
    return source
  },
}

for (const [place, open] of Object.entries(PLACES))
  for (const [field, { give, check }] of cases)
    test(`${field} ${place}`, async () => {
      const seen: string[] = []
      const metrics = { ...ALWAYS, 'demo.sub.two': metric(2) }
      const rest = field === 'hidesDynamicNodes' ? { metrics, dynamicRoots: ['demo.sub'] } : { metrics }
      const one = field === 'metrics' || field === 'dynamicRoots' ? {} : EFFECTS.metrics.give(seen)
      const source = open({ [field]: give(seen) }, { ...rest, metrics: { ...rest.metrics, ...one } })
      await check(source, seen)
    })

test('nothing may be given twice, because one of both would be lost', () => {
  const twice = (own: Partial<AgentTables>, opened: AgentTables) => (): unknown =>
    openAgent(defineAgent({ name: 'demo', domain: DOMAIN, ...own, open: () => opened }))
  expect(twice({ labels: { a: 1 } }, { metrics: {}, labels: { b: 2 } })).toThrow('labels is given beside')
  expect(twice({ close: () => {} }, { metrics: {}, close: () => {} })).toThrow('close is given beside')
  expect(twice({ metrics: ALWAYS }, { metrics: ALWAYS })).toThrow('metric demo.always is given beside')
})
