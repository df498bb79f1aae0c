import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agent as definition } from '../../src/agents/simple/index.ts'
import { indom, PM_IN_NULL, pmid } from '../../src/model/ids.ts'
import { InstanceSet } from '../../src/model/instance-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../../src/model/labels.ts'
import { ALL_INSTANCES } from '../../src/model/profile.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_U32 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { makeSet, makeSingular } from '../../src/model/value-writer.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'
import { ASK, assertCatalogue, assertHelp, readCatalogue } from '../lib/agent-catalogue.ts'

const NUMFETCH = pmid(253, 0, 0)
const COLOR = pmid(253, 0, 1)
const USER = pmid(253, 1, 2)
const SYS = pmid(253, 1, 3)
const NOW = pmid(253, 2, 4)
const NOW_INDOM = indom(253, 1)
/** 12:34:56 local time. */
const NOON = new Date(2024, 4, 6, 12, 34, 56).getTime()

let dir: string
let agent: AgentSource
let log: string[]

function writeConf(text: string, mtimeSec: number): void {
  const path = join(dir, 'pmdas/simple/simple.conf')
  writeFileSync(path, text)
  utimesSync(path, mtimeSec, mtimeSec)
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'simple-'))
  mkdirSync(join(dir, 'pmdas/simple'), { recursive: true })
  log = []
  agent = openAgent(definition, {
    root: dir,
    env: { PCP_PMDAS_DIR: '/pmdas' },
    clock: () => NOON,
    log: (level, text) => log.push(`${level} ${text}`),
  })
})

afterEach(async () => {
  await agent.close()
  rmSync(dir, { recursive: true })
})

async function value(id: number, type: number): Promise<unknown> {
  const { sets } = await agent.fetch([id], ASK)
  return sets[0]!.status < 1 ? sets[0]!.status : valuesOf(sets[0]!, type).map((entry) => entry.value)
}

test('has the metrics of the catalogue', async () => {
  await assertCatalogue(agent, readCatalogue('simple'))
  await assertHelp(agent)
})

describe('simple.numfetch', () => {
  test('counts fetch requests, not metrics, also when they share a moment', async () => {
    const ask = { ...ASK, batch: {} }
    await agent.fetch([COLOR, COLOR], ask)
    const { sets } = await agent.fetch([NUMFETCH, NUMFETCH], ask)
    expect(sets.map((set) => set.word[0])).toEqual([2, 2])
  })

  test('counts on from a stored value', async () => {
    await agent.store([makeSingular(NUMFETCH, PM_TYPE_U32, 41)], ASK)
    expect(await value(NUMFETCH, PM_TYPE_U32)).toEqual([42])
  })

  test('refuses a negative value and starts over', async () => {
    await agent.fetch([NUMFETCH], ASK)
    await expect(agent.store([makeSingular(NUMFETCH, PM_TYPE_U32, -1)], ASK)).rejects.toMatchObject({
      code: 'PM_ERR_BADSTORE',
    })
    expect(await value(NUMFETCH, PM_TYPE_U32)).toEqual([1])
  })
})

describe('simple.color', () => {
  test('adds one to each instance fetched', async () => {
    expect(await value(COLOR, PM_TYPE_32)).toEqual([1, 101, 201])
    const entries = new Map([
      [indom(253, 0), { indom: indom(253, 0), includeAll: false, instances: InstanceSet.of([1]) }],
    ])
    const requester = { ...ASK.requester, profile: { ...ALL_INSTANCES, entries } }
    await agent.fetch([COLOR], { requester })
    expect(await value(COLOR, PM_TYPE_32)).toEqual([2, 103, 202])
  })

  test('starts over after 255', async () => {
    await agent.store([makeSet(COLOR, PM_TYPE_32, [2], [255])], ASK)
    expect(await value(COLOR, PM_TYPE_32)).toEqual([1, 101, 0])
  })

  test('refuses values out of range but keeps the nearest one in range', async () => {
    const store = agent.store([makeSet(COLOR, PM_TYPE_32, [0, 1], [300, 7])], ASK)
    await expect(store).rejects.toMatchObject({ code: 'PM_ERR_BADSTORE' })
    expect(await value(COLOR, PM_TYPE_32)).toEqual([0, 101, 201])
  })

  test('refuses an instance that does not exist', async () => {
    const store = agent.store([makeSet(COLOR, PM_TYPE_32, [3], [1])], ASK)
    await expect(store).rejects.toMatchObject({ code: 'PM_ERR_INST' })
  })
})

test('simple.time is CPU time, which cannot be stored', async () => {
  const [user] = (await value(USER, PM_TYPE_DOUBLE)) as number[]
  const [sys] = (await value(SYS, PM_TYPE_DOUBLE)) as number[]
  expect(user).toBeGreaterThan(0)
  expect(user! + sys!).toBeLessThan(process.uptime() * 1000 * cpus().length) // other tests run in threads beside this one
  await expect(agent.store([makeSingular(USER, PM_TYPE_DOUBLE, 1)], ASK)).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
  })
})

test('a store to an unknown metric is refused', async () => {
  await expect(agent.store([makeSingular(pmid(253, 9, 9), PM_TYPE_32, 1)], ASK)).rejects.toMatchObject({
    code: 'PM_ERR_PMID',
  })
})

describe('simple.now', () => {
  test('has no instances without simple.conf', async () => {
    expect(await agent.instances(NOW_INDOM, undefined, ASK)).toMatchObject({ ids: [], names: [] })
    expect(await value(NOW, PM_TYPE_U32)).toBe(0)
  })

  test('has the parts that the first line of simple.conf lists', async () => {
    writeConf('sec,min, hour\nignored\n', 1000)
    expect(await agent.instances(NOW_INDOM, undefined, ASK)).toMatchObject({
      ids: [0, 1, 2],
      names: ['sec', 'min', 'hour'],
    })
    expect(await value(NOW, PM_TYPE_U32)).toEqual([56, 34, 12])
  })

  test('reads a changed simple.conf again, and names keep their numbers', async () => {
    writeConf('hour,sec\n', 1000)
    expect(await agent.instances(NOW_INDOM, { name: 'sec' }, ASK)).toMatchObject({ ids: [1] })
    writeConf('sec,min\n', 2000)
    expect(await agent.instances(NOW_INDOM, undefined, ASK)).toMatchObject({
      ids: [1, 2],
      names: ['sec', 'min'],
    })
    await expect(agent.instances(NOW_INDOM, { name: 'hour' }, ASK)).rejects.toMatchObject({
      code: 'PM_ERR_INST',
    })
  })

  test('logs unknown words', async () => {
    writeConf('sec,day,toString\n', 1000)
    expect(await value(NOW, PM_TYPE_U32)).toEqual([56])
    expect(log).toEqual([
      'warning simple.conf: "day" is not one of sec, min and hour: ignored',
      'warning simple.conf: "toString" is not one of sec, min and hour: ignored',
    ])
  })
})

test('labels of every level', async () => {
  writeConf('sec,hour\n', 1000)
  const json = async (level: number, id: number): Promise<string[]> =>
    (await agent.labels({ level, id }, ASK)).map((set) => set.json)
  expect(await json(LABEL_DOMAIN, 253)).toEqual(['{"role":"testing"}'])
  expect(await json(LABEL_INDOM, indom(253, 0))).toEqual(['{"indom_name":"color","model":"RGB"}'])
  expect(await json(LABEL_INDOM, NOW_INDOM)).toEqual(['{"indom_name":"time","unitsystem":"SI"}'])
  expect(await json(LABEL_INSTANCES, NOW_INDOM)).toEqual(['{"units":"sec"}', '{"units":"hour"}'])
  expect(await json(LABEL_INSTANCES, indom(253, 0))).toEqual(['', '', ''])
  expect(await json(LABEL_CLUSTER, NUMFETCH)).toEqual([])
  expect(await json(LABEL_ITEM, NUMFETCH)).toEqual([])
  const sets = await agent.labels({ level: LABEL_DOMAIN, id: 253 }, ASK)
  expect(sets[0]!.inst).toBe(PM_IN_NULL)
})
