import { describe, expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { dynamicRoot, pmid } from '../../src/model/ids.ts'
import { LABEL_ITEM, LABEL_OPTIONAL } from '../../src/model/labels.ts'
import type { SourceEvent } from '../../src/model/source.ts'
import { PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { PMCD_NAMES_CHANGE } from '../../src/model/values.ts'
import type { AgentEnv, AgentTables, MetricSpec } from '../../src/pmda/define.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'
import { ASK } from '../lib/agent-catalogue.ts'

const ROW: MetricSpec = {
  item: 0,
  type: 'u32',
  sem: 'instant',
  units: 'none',
  help: 'A row of a test',
  value: () => 7,
}

function opened(tables: AgentTables): { agent: AgentSource; env: AgentEnv } {
  let env: AgentEnv | undefined
  const agent = openAgent(
    defineAgent({
      name: 'names',
      domain: 480,
      open: (given) => {
        env = given
        return tables
      },
    }),
  )
  return { agent, env: env! }
}

describe('aliases', () => {
  const { agent } = opened({
    metrics: {
      'names.other.agent': { alias: pmid(2, 4, 1) },
      'names.first': ROW,
      'names.second': { alias: 'names.first' },
      'names.nobody': { alias: pmid(480, 1, 1) },
    },
  })

  test('have the PMID of another row or of any agent', async () => {
    const names = ['names.other.agent', 'names.second', 'names.nobody']
    expect(await agent.lookupNames(names, ASK)).toEqual([pmid(2, 4, 1), pmid(480, 0, 0), pmid(480, 1, 1)])
  })

  test('are among all names of a PMID', async () => {
    expect([...(await agent.lookupId(pmid(480, 0, 0), ASK))].sort()).toEqual(['names.first', 'names.second'])
    expect(await agent.lookupId(pmid(2, 4, 1), ASK)).toEqual(['names.other.agent'])
  })

  test('create no metric', async () => {
    expect(await agent.descs([pmid(480, 1, 1)], ASK)).toEqual([expect.any(PcpError)])
  })

  test.each([['names.nothing'], ['names.second'], ['constructor']])('to %s are refused', (alias) => {
    const metrics = { 'names.first': ROW, 'names.second': { alias: 'names.first' }, 'names.third': { alias } }
    expect(() => opened({ metrics })).toThrow(`the aliased metric "${alias}" does not exist`)
  })
})

describe('dynamic roots', () => {
  const tables: AgentTables = {
    metrics: {
      'names.fixed': ROW,
      'names.ghosts.deep.one': { ...ROW, item: 1 },
      'names.ghosts.two': { ...ROW, item: 2 },
      'names.ghosts.deep.three': { ...ROW, item: 3 },
    },
    dynamicRoots: ['names.ghosts', 'names.empty'],
  }

  test('are one name each for a collector', () => {
    expect([...opened(tables).agent.names()]).toEqual([
      ['names.ghosts', dynamicRoot(480)],
      ['names.empty', dynamicRoot(480)],
      ['names.fixed', pmid(480, 0, 0)],
    ])
  })

  test('are returned by the agent in table order', async () => {
    const { agent } = opened(tables)
    expect(await agent.traverse('names.ghosts', ASK)).toEqual([
      'names.ghosts.deep.one',
      'names.ghosts.two',
      'names.ghosts.deep.three',
    ])
    expect(await agent.traverse('names.ghosts.deep', ASK)).toHaveLength(2)
    expect(await agent.traverse('names.ghosts.two', ASK)).toEqual(['names.ghosts.two'])
    expect(await agent.children('names.ghosts', ASK)).toEqual([
      { name: 'deep', isLeaf: false },
      { name: 'two', isLeaf: true },
    ])
    await expect(agent.traverse('names.ghosts.de', ASK)).rejects.toThrow('names.ghosts.de')
  })

  test('may have nothing below them', async () => {
    const { agent } = opened(tables)
    expect(await agent.traverse('names.empty', ASK)).toEqual([])
    expect(await agent.children('names.empty', ASK)).toEqual([])
  })

  test('have inner nodes that fail as non-leaves or as unknown names', async () => {
    const names = ['names.ghosts', 'names.ghosts.deep', 'names.ghosts.two', 'names.ghosts.none', 'names']
    const codes = async (more: Partial<AgentTables>): Promise<readonly unknown[]> =>
      (await opened({ ...tables, ...more }).agent.lookupNames(names, ASK)).map((outcome) =>
        typeof outcome === 'number' ? outcome : (outcome as PcpError).code,
      )
    const leaf = pmid(480, 0, 2)
    expect(await codes({})).toEqual([
      'PM_ERR_NONLEAF',
      'PM_ERR_NONLEAF',
      leaf,
      'PM_ERR_NAME',
      'PM_ERR_NONLEAF',
    ])
    const hidden = ['PM_ERR_NAME', 'PM_ERR_NAME', leaf, 'PM_ERR_NAME', 'PM_ERR_NONLEAF']
    expect(await codes({ hidesDynamicNodes: true })).toEqual(hidden)
  })

  test('cannot be metrics', () => {
    expect(() => opened({ ...tables, dynamicRoots: ['names.fixed'] })).toThrow('dynamic root "names.fixed"')
  })

  test('get and lose names with new tables, and clients are notified', async () => {
    const { agent, env } = opened(tables)
    const events: SourceEvent[] = []
    agent.subscribe((event) => events.push(event))
    env.replaceTables({ ...tables, metrics: { 'names.fixed': ROW } })
    expect(events).toEqual([{ type: 'changed', changes: PMCD_NAMES_CHANGE }])
    expect(await agent.traverse('names.ghosts', ASK)).toEqual([])
    const { sets } = await agent.fetch([pmid(480, 0, 1)], ASK)
    expect(sets[0]!.status).toBe(new PcpError('PM_ERR_PMID').status)
    expect(() => env.replaceTables({ metrics: { 'names.fixed': { ...ROW, item: -1 } } })).toThrow('not -1')
    expect(await agent.lookupNames(['names.fixed'], ASK)).toEqual([pmid(480, 0, 0)])
  })
})

describe('before each request', () => {
  test('the agent gets its kind and may refuse it', async () => {
    const kinds: string[] = []
    const { agent } = opened({
      metrics: { 'names.fixed': ROW },
      beforeRequest: (kind) => {
        kinds.push(kind)
        if (kind === 'text') throw new PcpError('PM_ERR_AGAIN')
      },
    })
    const id = pmid(480, 0, 0)
    await agent.fetch([id], ASK)
    await agent.descs([id], ASK)
    await agent.labels({ level: LABEL_ITEM, id }, ASK)
    await agent.traverse('', ASK)
    await agent.store([], ASK)
    await expect(agent.text({ kind: 'metric', id, level: 'help' }, ASK)).rejects.toMatchObject({
      code: 'PM_ERR_AGAIN',
    })
    expect(kinds).toEqual(['fetch', 'descs', 'labels', 'names', 'store', 'text'])
  })
})

describe('metadata of a metric at run time', () => {
  test('its descriptor', async () => {
    let type = PM_TYPE_DOUBLE
    const describeNow: MetricSpec['describe'] = (desc) => {
      if (type === 0) throw new PcpError('PM_ERR_APPVERSION')
      return { ...desc, type }
    }
    const { agent } = opened({ metrics: { 'names.fixed': { ...ROW, describe: describeNow } } })
    const id = pmid(480, 0, 0)
    expect(await agent.descs([id], ASK)).toMatchObject([{ type: PM_TYPE_DOUBLE }])
    const { sets } = await agent.fetch([id], ASK)
    expect(valuesOf(sets[0]!, PM_TYPE_DOUBLE).map(({ value }) => value)).toEqual([7])
    type = 0
    expect(await agent.descs([id], ASK)).toMatchObject([{ code: 'PM_ERR_APPVERSION' }])
    expect((await agent.fetch([id], ASK)).sets[0]!.status).toBe(new PcpError('PM_ERR_APPVERSION').status)
  })

  test('its labels and notes', async () => {
    let changed = false
    const labels = { color: 'red' }
    const { agent } = opened({
      metrics: { 'names.fixed': { ...ROW, labels, optionalLabels: () => ({ changed }) } },
    })
    changed = true
    const [set] = await agent.labels({ level: LABEL_ITEM, id: pmid(480, 0, 0) }, ASK)
    expect(set!.json).toBe('{"changed":true,"color":"red"}')
    expect(set!.labels.map(({ flags }) => flags)).toEqual([LABEL_ITEM | LABEL_OPTIONAL, LABEL_ITEM])
  })

  test('the number of an instance', async () => {
    const indom = { serial: 0, instances: { a: 1, b: 2 }, help: 'Letters of a test' }
    const { agent } = opened({
      metrics: { 'names.fixed': { ...ROW, indom, reportedAs: (inst) => inst * 10 } },
    })
    const { sets } = await agent.fetch([pmid(480, 0, 0)], ASK)
    expect([...sets[0]!.inst]).toEqual([10, 20])
  })
})
