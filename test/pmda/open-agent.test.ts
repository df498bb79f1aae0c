import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { PcpError, statusOf } from '../../src/model/errors.ts'
import { indom, PM_IN_NULL, PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import { InstanceSet } from '../../src/model/instance-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  LABEL_OPTIONAL,
} from '../../src/model/labels.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { Ask, SourceEvent } from '../../src/model/source.ts'
import { PM_TYPE_32, PM_TYPE_64, PM_TYPE_STRING, PM_TYPE_U64 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { makeSet, makeSingular } from '../../src/model/value-writer.ts'
import { PMCD_LABEL_CHANGE, type Value } from '../../src/model/values.ts'
import type { AgentEnv, AgentTables, IndomSpec, MetricSpec } from '../../src/pmda/define.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'
import { Reading } from '../../src/pmda/reading.ts'
import { ASK } from '../lib/agent-catalogue.ts'

const DOMAIN = 400
const id = (item: number): number => pmid(DOMAIN, 0, item)

const base: MetricSpec = {
  item: 0,
  type: '32',
  sem: 'instant',
  units: 'none',
  help: 'One line',
  value: () => 1,
}

const disks: IndomSpec = {
  serial: 3,
  instances: { sda: 0, 'sdb second disk': 1, sdc: 7 },
  help: 'Disks',
}

function open(tables: AgentTables, env: Partial<AgentEnv> = {}): AgentSource {
  return openAgent(defineAgent({ name: 'demo', domain: DOMAIN, ...tables }), env)
}

/** The values of one metric, or its status. */
async function fetchOne(agent: AgentSource, item: number, type: number, profile?: Profile): Promise<unknown> {
  const ask = profile === undefined ? ASK : { requester: { ...ASK.requester, profile } }
  const { sets } = await agent.fetch([id(item)], ask)
  return sets[0]!.status <= 0
    ? sets[0]!.status
    : valuesOf(sets[0]!, type).map(({ inst, value }) => [inst, value])
}

function only(instances: readonly number[], includeAll = false): Profile {
  const entry = { indom: indom(DOMAIN, 3), includeAll, instances: InstanceSet.of(instances) }
  return { includeByDefault: true, entries: new Map([[entry.indom, entry]]) }
}

describe('names and descriptors', () => {
  const agent = open({
    metrics: {
      'demo.b.two': { ...base, item: 2, type: 'u64', units: 'Kbyte / sec', sem: 'counter', indom: disks },
      'demo.a': { ...base, cluster: 5 },
    },
  })

  test('come from the table', async () => {
    expect([...agent.names()]).toEqual([
      ['demo.b.two', id(2)],
      ['demo.a', pmid(DOMAIN, 5, 0)],
    ])
    expect(await agent.children('demo', ASK)).toEqual([
      { name: 'b', isLeaf: false },
      { name: 'a', isLeaf: true },
    ])
    expect(await agent.traverse('', ASK)).toEqual(['demo.b.two', 'demo.a'])
    expect(await agent.lookupId(id(2), ASK)).toEqual(['demo.b.two'])
    const [known, unknown, inner] = await agent.lookupNames(['demo.a', 'demo.x', 'demo.b'], ASK)
    expect(known).toBe(pmid(DOMAIN, 5, 0))
    expect(unknown).toMatchObject({ code: 'PM_ERR_NAME' })
    expect(inner).toMatchObject({ code: 'PM_ERR_NONLEAF' })
  })

  test('an unknown PMID is an error of that one item', async () => {
    const [desc, missing] = await agent.descs([id(2), id(3)], ASK)
    expect(desc).toEqual({ pmid: id(2), type: 3, indom: indom(DOMAIN, 3), sem: 1, units: 0x1f013000 >>> 0 })
    expect(missing).toMatchObject({ code: 'PM_ERR_PMID' })
    await expect(agent.lookupId(id(3), ASK)).rejects.toMatchObject({ code: 'PM_ERR_PMID' })
  })

  test('follow the domain the agent is opened with', async () => {
    const other = openAgent(
      defineAgent({ name: 'demo', domain: 1, metrics: { 'demo.x': { ...base, indom: disks } } }),
      {
        domain: 77,
      },
    )
    const [desc] = await other.descs([pmid(77, 0, 0)], ASK)
    expect(desc).toMatchObject({ pmid: pmid(77, 0, 0), indom: indom(77, 3) })
  })
})

describe('values', () => {
  test('of every type travel unchanged', async () => {
    const cases: readonly [MetricSpec['type'], number, Value][] = [
      ['32', 0, -5],
      ['u32', 1, 4294967295],
      ['64', 2, -(2 ** 40)],
      ['64', 2, -(2n ** 63n)],
      ['u64', 3, 2n ** 64n - 1n],
      ['u64', 3, 2 ** 53 - 1],
      ['float', 4, 0.5],
      ['double', 5, 0.1],
      ['string', 6, 'grün'],
      ['aggregate', 7, Uint8Array.of(1, 2, 3)],
    ]
    for (const [name, type, value] of cases) {
      const agent = open({ metrics: { 'demo.x': { ...base, type: name, value: () => value } } })
      expect(await fetchOne(agent, 0, type)).toEqual([[PM_IN_NULL, value]])
    }
  })

  test('are fetched in request order, duplicates included, unknown PMIDs marked', async () => {
    let next = 0
    const agent = open({ metrics: { 'demo.x': { ...base, value: () => ++next } } }, { clock: () => 1500 })
    const result = await agent.fetch([id(0), id(9), id(0)], ASK)
    expect(result.timestamp).toEqual({ sec: 1, nsec: 500_000_000 })
    expect(result.changes).toBe(0)
    expect(result.sets.map((set) => [set.pmid, set.status])).toEqual([
      [id(0), 1],
      [id(9), statusOf('PM_ERR_PMID')],
      [id(0), 1],
    ])
    expect([result.sets[0]!.word[0], result.sets[2]!.word[0]]).toEqual([1, 2])
  })

  test('are requested only for instances in the profile', async () => {
    const asked: number[] = []
    const value = (inst: number): number => {
      asked.push(inst)
      return inst * 10
    }
    const agent = open({ metrics: { 'demo.x': { ...base, indom: disks, value } } })
    expect(await fetchOne(agent, 0, PM_TYPE_32)).toEqual([
      [0, 0],
      [1, 10],
      [7, 70],
    ])
    asked.length = 0
    expect(await fetchOne(agent, 0, PM_TYPE_32, only([7, 5]))).toEqual([[7, 70]])
    expect(await fetchOne(agent, 0, PM_TYPE_32, only([7], true))).toEqual([
      [0, 0],
      [1, 10],
    ])
    expect(await fetchOne(agent, 0, PM_TYPE_32, { includeByDefault: false, entries: new Map() })).toBe(0)
    expect(asked).toEqual([7, 0, 1])
  })

  test('missing for some instances leave those out', async () => {
    const samples = new Map<number, MetricSpec['value']>([
      [0, () => undefined],
      [1, () => 5],
      [7, () => new PcpError('PM_ERR_VALUE')],
    ])
    const value: MetricSpec['value'] = (inst, ask) => samples.get(inst)!(inst, ask)
    for (const type of ['32', '64'] as const) {
      const agent = open({ metrics: { 'demo.x': { ...base, type, indom: disks, value } } })
      expect(await fetchOne(agent, 0, type === '32' ? PM_TYPE_32 : PM_TYPE_64)).toEqual([[1, 5]])
    }
  })

  test('missing for all instances give the result of the last callback', async () => {
    const agent = open({
      metrics: {
        'demo.error': {
          ...base,
          indom: disks,
          value: (inst) => (inst === 7 ? new PcpError('PM_ERR_AGAIN') : undefined),
        },
        'demo.none': {
          ...base,
          item: 1,
          indom: disks,
          value: (inst) => (inst === 7 ? undefined : new PcpError('PM_ERR_AGAIN')),
        },
        'demo.single': { ...base, item: 2, value: () => undefined },
      },
    })
    expect(await fetchOne(agent, 0, PM_TYPE_32)).toBe(statusOf('PM_ERR_AGAIN'))
    expect(await fetchOne(agent, 1, PM_TYPE_32)).toBe(0)
    expect(await fetchOne(agent, 2, PM_TYPE_32)).toBe(0)
  })

  test('of a type this system does not have are PM_ERR_APPVERSION', async () => {
    const agent = open({ metrics: { 'demo.x': { ...base, type: 'nosupport' } } })
    expect(await fetchOne(agent, 0, PM_TYPE_32)).toBe(statusOf('PM_ERR_APPVERSION'))
  })

  test('of another type than declared are PM_ERR_CONV, logged once', async () => {
    const log: string[] = []
    const agent = open(
      {
        metrics: {
          'demo.x': { ...base, value: () => 'seven' },
          'demo.y': { ...base, item: 1, type: 'string', value: () => 7 },
          'demo.z': { ...base, item: 2, type: 'u64', value: () => Number.NaN },
        },
      },
      { log: (level, text) => log.push(`${level} ${text}`) },
    )
    for (let i = 0; i < 3; i++) {
      expect(await fetchOne(agent, 0, PM_TYPE_32)).toBe(statusOf('PM_ERR_CONV'))
      expect(await fetchOne(agent, 1, PM_TYPE_STRING)).toBe(statusOf('PM_ERR_CONV'))
      expect(await fetchOne(agent, 2, PM_TYPE_U64)).toBe(statusOf('PM_ERR_CONV'))
    }
    expect(log.length).toBe(3)
    expect(log[0]).toContain('error demo.x: ')
  })

  test('of one metric fail without affecting the others', async () => {
    const log: string[] = []
    const agent = open(
      {
        metrics: {
          'demo.bug': {
            ...base,
            value: () => {
              throw new TypeError('undefined is not a function')
            },
          },
          'demo.gone': {
            ...base,
            item: 1,
            value: () => {
              throw Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' })
            },
          },
          'demo.fine': { ...base, item: 2 },
        },
      },
      { log: (_, text) => log.push(text) },
    )
    const { sets } = await agent.fetch([id(0), id(1), id(2), id(0)], ASK)
    expect(sets.map(({ status }) => status)).toEqual([
      statusOf('PM_ERR_GENERIC'),
      -2,
      1,
      statusOf('PM_ERR_GENERIC'),
    ])
    expect(log.length).toBe(2)
    expect(log[0]).toContain('demo.bug: TypeError: undefined is not a function\n    at ')
    expect(log[1]).toBe('demo.gone: ENOENT: no such file')
  })

  test('32-bit integers wrap as a C agent’s do', () => {
    return fc.assert(
      fc.asyncProperty(fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }), async (n) => {
        const agent = open({
          metrics: {
            'demo.x': { ...base, value: () => Number(n) },
            'demo.y': { ...base, item: 1, type: 'u64', value: () => Number(n) },
          },
        })
        expect(await fetchOne(agent, 0, PM_TYPE_32)).toEqual([[PM_IN_NULL, Number(BigInt.asIntN(32, n))]])
        const [[, long]] = (await fetchOne(agent, 1, PM_TYPE_U64)) as [[number, Value]]
        expect(BigInt(long as bigint)).toBe(BigInt.asUintN(64, n))
      }),
      { numRuns: 50 },
    )
  })
})

describe('readings', () => {
  function counting(): { agent: AgentSource; reads: () => number; fail: (error?: Error) => void } {
    let reads = 0
    let failure: Error | undefined
    const reading = new Reading(() => {
      reads++
      if (failure !== undefined) throw failure
      return reads
    })
    const indomOfReading: IndomSpec = {
      serial: 9,
      reading,
      instances: () => ({ ids: [reading.value], names: [`n${reading.value}`] }),
      help: 'As many as were read',
    }
    const agent = open({
      metrics: {
        'demo.x': { ...base, reading, value: () => reading.value },
        'demo.y': { ...base, item: 1, reading, indom: indomOfReading, value: (inst) => inst },
        'demo.z': { ...base, item: 2 },
      },
    })
    return {
      agent,
      reads: () => reads,
      fail: (error) => {
        failure = error
      },
    }
  }

  test('are made once a fetch, for values and instances together', async () => {
    const { agent, reads } = counting()
    const { sets } = await agent.fetch([id(0), id(1), id(0), id(1)], ASK)
    expect(sets.map((set) => [set.inst[0], set.word[0]])).toEqual([
      [-1, 1],
      [1, 1],
      [-1, 1],
      [1, 1],
    ])
    expect(reads()).toBe(1)
    await agent.fetch([id(0)], ASK)
    expect(reads()).toBe(2)
  })

  test('are made once per batch, for any request', async () => {
    const { agent, reads } = counting()
    const ask = { ...ASK, batch: {} }
    await agent.fetch([id(0)], ask)
    await agent.fetch([id(1)], ask)
    expect(await agent.instances(indom(DOMAIN, 9), undefined, ask)).toMatchObject({ ids: [1], names: ['n1'] })
    expect(reads()).toBe(1)
    await agent.fetch([id(0)], { ...ASK, batch: {} })
    expect(reads()).toBe(2)
  })

  test('that fail give their error to the metrics that need them, and to no other', async () => {
    const { agent, fail } = counting()
    fail(new PcpError('PM_ERR_APPVERSION', 'This kernel has no such file'))
    const { sets } = await agent.fetch([id(0), id(1), id(2)], ASK)
    const status = statusOf('PM_ERR_APPVERSION')
    expect(sets.map((set) => set.status)).toEqual([status, status, 1])
    await expect(agent.instances(indom(DOMAIN, 9), undefined, ASK)).rejects.toMatchObject({
      code: 'PM_ERR_APPVERSION',
    })
    fail()
    expect((await agent.fetch([id(0)], ASK)).sets[0]!.status).toBe(1)
  })

  test('are not made for clients that may not see the values', async () => {
    let reads = 0
    const reading = new Reading(() => ++reads)
    const isShown = ({ requester }: Ask): boolean => requester.credentials?.uid === 0
    const agent = open({
      metrics: { 'demo.secret': { ...base, reading, isVisibleTo: isShown, value: () => 1 } },
    })
    expect([(await agent.fetch([id(0)], ASK)).sets[0]!.status, reads]).toEqual([0, 0])
    const root = { requester: { ...ASK.requester, credentials: { uid: 0, gid: 0 } } }
    expect([(await agent.fetch([id(0)], root)).sets[0]!.status, reads]).toEqual([1, 1])
  })
})

describe('instances', () => {
  const agent = open({ metrics: { 'demo.x': { ...base, indom: disks } } })
  const ids = async (name: string): Promise<readonly number[]> =>
    (await agent.instances(indom(DOMAIN, 3), { name }, ASK)).ids

  test('are listed in table order', async () => {
    expect(await agent.instances(indom(DOMAIN, 3), undefined, ASK)).toEqual({
      indom: indom(DOMAIN, 3),
      ids: [0, 1, 7],
      names: ['sda', 'sdb second disk', 'sdc'],
    })
  })

  test('are found by id, by full name, and by the part of a name before its first space', async () => {
    expect(await agent.instances(indom(DOMAIN, 3), { id: 7 }, ASK)).toMatchObject({
      ids: [7],
      names: ['sdc'],
    })
    expect(await ids('sda')).toEqual([0])
    expect(await ids('sdb second disk')).toEqual([1])
    expect(await ids('sdb')).toEqual([1])
  })

  test('that do not exist are PM_ERR_INST', async () => {
    for (const name of ['sd', 'sdb second', 'sda x', '']) {
      await expect(ids(name)).rejects.toMatchObject({ code: 'PM_ERR_INST' })
    }
    await expect(agent.instances(indom(DOMAIN, 3), { id: 2 }, ASK)).rejects.toMatchObject({
      code: 'PM_ERR_INST',
    })
    await expect(agent.instances(indom(DOMAIN, 4), undefined, ASK)).rejects.toMatchObject({
      code: 'PM_ERR_INDOM',
    })
  })

  test('lists instances for the requester, and names only if requested', async () => {
    let looks = 0
    const mine: IndomSpec = {
      ...disks,
      isPerRequester: true,
      canonicalName: (given) => given.padStart(3, '0'),
      instances: ({ requester }) => ({
        ids: [requester.context],
        names: () => {
          looks++
          return [`00${requester.context} disk`]
        },
      }),
    }
    const source = open({ metrics: { 'demo.x': { ...base, indom: mine, value: (inst) => inst } } })
    const batch = {}
    for (const context of [7, 8]) {
      const asker = { requester: { ...ASK.requester, context }, batch }
      const { sets } = await source.fetch([id(0)], asker)
      expect(valuesOf(sets[0]!, PM_TYPE_32).map(({ inst }) => inst)).toEqual([context])
    }
    expect(looks).toBe(0)
    const asker = { requester: { ...ASK.requester, context: 8 }, batch }
    expect((await source.instances(indom(DOMAIN, 3), { name: '8' }, asker)).ids).toEqual([8])
    expect(looks).toBe(1)
  })

  test('that an agent lists wrongly are an error, not a crash', async () => {
    const broken = { ...disks, instances: () => ({ ids: [1, 2], names: ['a'] }) }
    const source = open({ metrics: { 'demo.x': { ...base, indom: broken } } })
    expect(await fetchOne(source, 0, PM_TYPE_32)).toBe(statusOf('PM_ERR_GENERIC'))
  })
})

test('help texts: one line, the full text, or the line where there is no more', async () => {
  const agent = open({
    metrics: { 'demo.x': { ...base, text: 'Much more.' }, 'demo.y': { ...base, item: 1, indom: disks } },
  })
  const text = (kind: 'metric' | 'indom', of: number, level: 'oneline' | 'help'): Promise<string> =>
    agent.text({ kind, id: of, level }, ASK)
  expect(await text('metric', id(0), 'oneline')).toBe('One line')
  expect(await text('metric', id(0), 'help')).toBe('Much more.')
  expect(await text('metric', id(1), 'help')).toBe('One line')
  expect(await text('indom', indom(DOMAIN, 3), 'oneline')).toBe('Disks')
  await expect(text('metric', id(5), 'help')).rejects.toMatchObject({ code: 'PM_ERR_TEXT' })
  await expect(text('indom', PM_INDOM_NULL, 'help')).rejects.toMatchObject({ code: 'PM_ERR_TEXT' })
})

describe('labels', () => {
  const metrics = {
    'demo.x': {
      ...base,
      labels: { unit: 'bytes', nested: { b: [1, null], a: true } },
      indom: {
        ...disks,
        labels: { kind: 'disk' },
        instanceLabels: (inst: number, name: string) => (inst === 1 ? undefined : { inst, name }),
      },
    },
  }

  test('name the agent unless it has labels', async () => {
    const ask = { level: LABEL_DOMAIN, id: DOMAIN }
    expect(await open({ metrics }).labels(ask, ASK)).toMatchObject([{ json: '{"agent":"demo"}' }])
    expect(await open({ metrics, labels: { a: 1 } }).labels(ask, ASK)).toMatchObject([{ json: '{"a":1}' }])
  })

  test('of each level come from the table', async () => {
    const agent = open({ metrics, clusterLabels: { 0: { group: 'io' } } })
    const json = async (level: number, of: number): Promise<string[]> =>
      (await agent.labels({ level, id: of }, ASK)).map((set) => set.json)
    expect(await json(LABEL_CLUSTER, id(99))).toEqual(['{"group":"io"}'])
    expect(await json(LABEL_CLUSTER, pmid(DOMAIN, 1, 0))).toEqual([])
    expect(await json(LABEL_ITEM, id(0))).toEqual(['{"nested.a":true,"nested.b":[1,null],"unit":"bytes"}'])
    expect(await json(LABEL_INDOM, indom(DOMAIN, 3))).toEqual(['{"kind":"disk"}'])
    await expect(agent.labels({ level: 3, id: 0 }, ASK)).rejects.toMatchObject({ code: 'PM_ERR_TYPE' })
  })

  test('of instances may be annotations as well', async () => {
    const noted = { ...base, indom: { ...disks, optionalInstanceLabels: () => ({ seen: 'today' }) } }
    const agent = open({ metrics: { 'demo.x': noted } })
    const sets = await agent.labels({ level: LABEL_INSTANCES, id: indom(DOMAIN, 3) }, ASK)
    expect(sets.length).toBeGreaterThan(0)
    for (const { json, labels } of sets) {
      expect(json).toBe('{"seen":"today"}')
      expect(labels[0]?.flags).toBe(LABEL_INSTANCES | LABEL_OPTIONAL)
    }
  })

  test('of instances: one set for each in the profile, empty without labels', async () => {
    const agent = open({ metrics })
    const requester = { ...ASK.requester, profile: only([0, 1]) }
    const sets = await agent.labels({ level: LABEL_INSTANCES, id: indom(DOMAIN, 3) }, { requester })
    expect(sets.map(({ inst, json }) => [inst, json])).toEqual([
      [0, '{"inst":0,"name":"sda"}'],
      [1, ''],
    ])
  })

  test('of instances: no set from an agent that labels none', async () => {
    const agent = open({ metrics: { 'demo.x': { ...base, indom: disks } } })
    expect(await agent.labels({ level: LABEL_INSTANCES, id: indom(DOMAIN, 3) }, ASK)).toEqual([])
  })
})

describe('stores', () => {
  const stored: unknown[] = []
  const agent = open({
    metrics: {
      'demo.x': { ...base, type: '64', store: (value) => stored.push(value) },
      'demo.y': { ...base, item: 1, indom: disks, store: (value, inst) => stored.push([inst, value]) },
      'demo.z': { ...base, item: 2 },
    },
  })

  test('reach the metric as values of its type', async () => {
    await agent.store(
      [makeSingular(id(0), PM_TYPE_64, -(2n ** 60n)), makeSet(id(1), PM_TYPE_32, [7, 0], [1, 2])],
      ASK,
    )
    expect(stored).toEqual([-(2n ** 60n), [7, 1], [0, 2]])
  })

  test('of the wrong type, to a wrong place or without permission are refused', async () => {
    const refusal = async (set: ReturnType<typeof makeSet>): Promise<string> => {
      const error: unknown = await agent.store([set], ASK).catch((reason: unknown) => reason)
      return error instanceof PcpError ? error.code : 'accepted'
    }
    expect(await refusal(makeSingular(id(0), PM_TYPE_32, 1))).toBe('PM_ERR_BADSTORE')
    expect(await refusal(makeSingular(id(0), PM_TYPE_STRING, '1'))).toBe('PM_ERR_BADSTORE')
    expect(await refusal(makeSet(id(1), PM_TYPE_32, [2], [1]))).toBe('PM_ERR_INST')
    expect(await refusal(makeSingular(id(2), PM_TYPE_32, 1))).toBe('PM_ERR_PERMISSION')
    expect(await refusal(makeSingular(id(3), PM_TYPE_32, 1))).toBe('PM_ERR_PMID')
  })

  test('list the instances once, however many values are stored', async () => {
    let listings = 0
    const instances = (): { ids: number[]; names: string[] } => {
      listings++
      return { ids: [0, 1, 2], names: ['a', 'b', 'c'] }
    }
    const listing = open({
      metrics: { 'demo.x': { ...base, indom: { ...disks, instances }, store: () => undefined } },
    })
    await listing.store([makeSet(id(0), PM_TYPE_32, [0, 1, 2], [7, 8, 9])], ASK)
    expect(listings).toBe(1)
  })
})

describe('announcements', () => {
  function announcing(): { agent: AgentSource; announce: (event: SourceEvent) => void } {
    let announce: (event: SourceEvent) => void = () => {}
    const definition = defineAgent({
      name: 'demo',
      domain: DOMAIN,
      open: (env) => {
        announce = env.announce
        return { metrics: { 'demo.x': base } }
      },
    })
    return { agent: openAgent(definition), announce: (event) => announce(event) }
  }
  const change: SourceEvent = { type: 'changed', changes: PMCD_LABEL_CHANGE }

  test('reach subscribers', async () => {
    const { agent, announce } = announcing()
    announce(change)
    const heard: SourceEvent[] = []
    const stop = agent.subscribe((event) => heard.push(event))
    announce(change)
    announce({ type: 'notready' })
    stop()
    announce({ type: 'ready' })
    expect(heard).toEqual([change, { type: 'notready' }])
  })
})

test('hooks are called for every fetch, for disconnected clients, and once at the end', async () => {
  const heard: unknown[] = []
  const agent = open({
    metrics: { 'demo.x': base },
    beforeFetch: (ask) => heard.push(['fetch', ask.requester.client]),
    endClient: (client) => heard.push(['end', client]),
    close: () => heard.push('close'),
  })
  await agent.fetch([id(0), id(0)], { requester: { ...ASK.requester, client: 3 } })
  agent.endClient?.(3)
  await agent.close()
  await agent.close()
  expect(heard).toEqual([['fetch', 3], ['end', 3], 'close'])
})

test('a defect in a callback is a PcpError for the requester, and is logged', async () => {
  const log: string[] = []
  const fail = (): never => {
    throw new TypeError('a defect')
  }
  const agent = open(
    {
      metrics: {
        'demo.x': { ...base, store: fail, indom: { ...disks, instances: fail } },
        'demo.y': { ...base, item: 1, store: fail },
      },
      beforeFetch: fail,
      endClient: fail,
      close: fail,
    },
    { log: (_, text) => log.push(text) },
  )
  agent.endClient?.(1)
  expect(log).toHaveLength(1)
  for (const answer of [
    agent.instances(indom(DOMAIN, 3), undefined, ASK),
    agent.fetch([id(1)], ASK),
    agent.store([makeSingular(id(1), PM_TYPE_32, 1)], ASK),
    agent.close(),
  ])
    await expect(answer).rejects.toMatchObject({ name: 'PcpError', code: 'PM_ERR_GENERIC' })
  expect(log[0]).toContain('demo: TypeError: a defect\n    at ')
})

test('fetches of any PMIDs answer each in order', () => {
  const agent = open({
    metrics: {
      'demo.x': base,
      'demo.y': { ...base, item: 1, indom: disks, value: (inst) => (inst === 0 ? undefined : inst) },
      'demo.z': { ...base, item: 2, type: 'string', value: () => 'z' },
    },
  })
  const items = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 12 })
  const insts = fc.array(fc.integer({ min: -1, max: 8 }), { maxLength: 4 })
  return fc.assert(
    fc.asyncProperty(items, insts, fc.boolean(), async (wanted, listed, includeAll) => {
      const requester = { ...ASK.requester, profile: only(listed, includeAll) }
      const { sets } = await agent.fetch(wanted.map(id), { requester })
      expect(sets.map((set) => set.pmid)).toEqual(wanted.map(id))
      for (const set of sets) {
        expect(set.inst.length).toBe(Math.max(0, set.status))
        expect(set.word.length).toBe(set.inst.length)
        if (set.pmid === id(1))
          expect([...set.inst]).toEqual([1, 7].filter((inst) => listed.includes(inst) !== includeAll))
      }
    }),
  )
})

test('a prefetch that never ends fails its metrics; only the first fetch waits for the time limit', async () => {
  const log: string[] = []
  const begun: number[] = []
  let end = (): void => {}
  const hanging = new Promise<void>((resolve) => {
    end = resolve
  })
  const metric = (item: number, ahead?: MetricSpec['prefetch']): MetricSpec => ({
    ...base,
    item,
    ...(ahead === undefined ? {} : { prefetch: ahead }),
    value: () => item,
  })
  const agent = open(
    {
      metrics: {
        'demo.plain': metric(1),
        'demo.quick': metric(2, () => Promise.resolve()),
        'demo.hung': metric(3, () => {
          begun.push(3)
          return hanging
        }),
        'demo.rejects': metric(4, () => Promise.reject(new Error('not heeded'))),
      },
    },
    { timeoutMs: () => 20, log: (_level, text) => log.push(text) },
  )
  const fetch = async (): Promise<number[]> =>
    (await agent.fetch([id(1), id(2), id(3), id(4)], ASK)).sets.map(({ status, word }) => word[0] ?? status)
  const TIMEOUT = statusOf('PM_ERR_TIMEOUT')
  expect(await fetch()).toEqual([1, 2, TIMEOUT, 4])
  for (let i = 0; i < 1000; i++) expect(await fetch()).toEqual([1, 2, TIMEOUT, 4])
  expect(begun).toEqual([3]) // no further prefetch was begun
  expect(log).toHaveLength(1)
  end()
  await hanging
  expect(await fetch()).toEqual([1, 2, 3, 4])
  expect(begun).toEqual([3, 3])
})

test('a prefetch that was late is begun again after its end, even while other fetches wait', async () => {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const pending = (item: number, onBegin = (): void => {}) => {
    return (): Promise<void> => {
      begun.push(item)
      onBegin()
      return new Promise((resolve) => ends.push(resolve))
    }
  }
  const metric = (item: number, ahead: NonNullable<MetricSpec['prefetch']>): MetricSpec => ({
    ...base,
    item,
    prefetch: ahead,
    value: () => item,
  })
  let timeoutMs = 20
  // The late prefetch ends while a fetch waits for the other one.
  const slow = pending(2, () => ends[0]!())
  const agent = open(
    { metrics: { 'demo.late': metric(1, pending(1)), 'demo.slow': metric(2, slow) } },
    { timeoutMs: () => timeoutMs },
  )
  await agent.fetch([id(1)], ASK)
  await agent.fetch([id(1), id(2)], ASK)
  timeoutMs = 0
  const again = agent.fetch([id(1)], ASK)
  await expect.poll(() => begun).toEqual([1, 2, 1])
  for (const end of ends) end()
  expect((await again).sets[0]!.word[0]).toBe(1)
})

test('an agent whose end returns a promise is waited for, five seconds at most', async () => {
  const log: string[] = []
  let isOver = false
  const orderly = open({
    metrics: { 'demo.x': base },
    close: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      isOver = true
    },
  })
  await Promise.all([orderly.close(), orderly.close()])
  expect(isOver).toBe(true)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const hanging = open(
      { metrics: { 'demo.x': base }, close: () => new Promise(() => {}) },
      { log: (_level, text) => log.push(text) },
    )
    const closing = hanging.close()
    await vi.advanceTimersByTimeAsync(5000)
    await closing
  } finally {
    vi.useRealTimers()
  }
  expect(log).toEqual(['close did not end within 5000 ms; not waiting any longer'])
})
