import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agent as definition } from '../../src/agents/mmv/index.ts'
import { isError } from '../../src/model/errors.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'
import { PRIMARY_NAME, SelfMetrics, selfName } from '../../src/pmlogger/self-metrics.ts'
import { ASK } from '../lib/agent-catalogue.ts'

let root: string
let agent: AgentSource
let metrics: SelfMetrics[]

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'self-metrics-'))
  metrics = []
  agent = openAgent(definition, { root, env: { PCP_TMP_DIR: '/' } })
})
afterEach(async () => {
  for (const one of metrics) one.close()
  await agent.close()
  rmSync(root, { recursive: true })
})

function open(name: string): SelfMetrics {
  const made = new SelfMetrics(name, { PCP_TMP_DIR: root })
  metrics.push(made)
  made.publish()
  return made
}

async function value(name: string): Promise<number> {
  const [id] = await agent.lookupNames([name], ASK)
  if (id === undefined || isError(id)) throw id
  const [desc] = await agent.descs([id], ASK)
  if (desc === undefined || isError(desc)) throw desc
  const { sets } = await agent.fetch([id], ASK)
  return Number(valuesOf(sets[0]!, desc.type)[0]?.value)
}

test('the mmv agent reads the counters of a recorder', async () => {
  const counts = open(PRIMARY_NAME).counts()
  counts.archiveBegun()
  for (const bytes of [100, 20]) counts.recorded(bytes)
  for (const fail of [counts.lost, counts.fetchFailed, counts.syncFailed]) fail()
  counts.fetchBegan(250, 0)
  counts.fetchBegan(30, 2)
  const names = ['archives', 'records', 'bytes', 'failures.write', 'failures.fetch', 'failures.sync']
  const found = await Promise.all(
    [...names, 'late.last', 'late.left_out'].map((name) => value(`mmv.pmlogger.${name}`)),
  )
  expect(found).toEqual([1, 2, 120, 1, 1, 1, 30, 2])
})

test('the age of unsynced values is that of the oldest logger, and grows by itself', async () => {
  const all = open(PRIMARY_NAME)
  const [one, other] = [all.counts(), all.counts()]
  expect(await value('mmv.pmlogger.sync.age')).toBe(0)
  one.unsyncedAge(5000)
  other.unsyncedAge(2000)
  const age = await value('mmv.pmlogger.sync.age')
  expect(age).toBeGreaterThan(4_000_000)
  while ((await value('mmv.pmlogger.sync.age')) <= age) {
    // Waits, because the age grows without updates.
  }
  one.unsyncedAge(undefined)
  expect(await value('mmv.pmlogger.sync.age')).toBeLessThan(age)
  other.unsyncedAge(undefined)
  expect(await value('mmv.pmlogger.sync.age')).toBe(0)
})

test('two loggers of one collector have separate metrics, and none without write permission', () => {
  for (let i = 0; i < 2; i++) open(selfName('db1.example.com:44322'))
  expect(readdirSync(join(root, 'mmv')).sort()).toEqual([
    'pmlogger_db1_example_com_44322',
    `pmlogger_db1_example_com_44322_${process.pid}`,
  ])
  rmSync(join(root, 'mmv'), { recursive: true })
  const none = new SelfMetrics('x', { PCP_TMP_DIR: '/proc/nowhere' })
  metrics.push(none)
  none.publish()
  none.counts().recorded(1)
})
