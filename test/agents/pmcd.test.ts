import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pmcdAgent } from '../../src/agents/pmcd/index.ts'
import { PcpError } from '../../src/model/errors.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { extract } from '../../src/model/value-set.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'
import { ASK, assertCatalogue, assertHelp, type CatalogueRow, readCatalogue } from '../lib/agent-catalogue.ts'
import { fakeCollector } from '../lib/fake-collector.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pmcd-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function open(statistics = fakeCollector().statistics): AgentSource {
  const env = { PCP_TMP_DIR: '/tmp/pcp', PCP_RUN_DIR: '/run/pcp' }
  return openAgent(pmcdAgent(statistics), { root, env, owner: 1000 })
}

/** Values of a metric by instance, or its error code. */
async function valuesOf(agent: AgentSource, name: string): Promise<unknown> {
  const [id] = await agent.lookupNames([name], ASK)
  const [desc] = await agent.descs([id as number], ASK)
  const { sets } = await agent.fetch([id as number], ASK)
  const set = sets[0]!
  if (set.status < 0) return PcpError.fromStatus(set.status).code
  return Object.fromEntries(
    [...set.inst].map((inst, i) => [inst, extract(set, i, (desc as { type: number }).type)]),
  )
}

/** Added in 7.2.1. The reference has the unit 'nanosec' for a size in bytes by mistake. */
const ADDED: readonly CatalogueRow[] = [
  {
    name: 'pmcd.control.creds_timeout',
    pmid: '2.0.30',
    type: 'u32',
    sem: 'discrete',
    units: 'sec',
    indom: null,
  },
  { name: 'pmcd.limits.inpdusize', pmid: '2.0.27', type: 'u32', sem: 'discrete', units: 'byte', indom: null },
  { name: 'pmcd.limits.contexts', pmid: '2.0.28', type: 'u32', sem: 'discrete', units: 'none', indom: null },
  { name: 'pmcd.limits.metrics', pmid: '2.0.29', type: 'u32', sem: 'discrete', units: 'none', indom: null },
  { name: 'pmcd.pmlogger.note', pmid: '2.3.4', type: 'string', sem: 'discrete', units: 'none', indom: '2.1' },
]

test('has every metric of the reference, as the reference has it, with help', async () => {
  const agent = open()
  await assertCatalogue(agent, [...readCatalogue('pmcd'), ...ADDED])
  await assertHelp(agent)
})

test('counts PDUs by type, and wraps as 32 bits do', async () => {
  const agent = open()
  expect(await valuesOf(agent, 'pmcd.pdu_in.fetch')).toEqual({ '-1': 7 })
  expect(await valuesOf(agent, 'pmcd.pdu_in.pmns_traverse')).toEqual({ '-1': 2 })
  expect(await valuesOf(agent, 'pmcd.pdu_in.highres_result')).toEqual({ '-1': 1 })
  expect(await valuesOf(agent, 'pmcd.pdu_in.total')).toEqual({ '-1': 10 })
  expect(await valuesOf(agent, 'pmcd.pdu_out.total')).toEqual({ '-1': 0 })
})

test('reports agents, clients and features', async () => {
  const agent = open()
  expect(await valuesOf(agent, 'pmcd.agent.status')).toEqual({ 2: 0, 29: 776 })
  expect(await valuesOf(agent, 'pmcd.agent.type')).toEqual({ 2: 0, 29: 4 })
  expect(await valuesOf(agent, 'pmcd.agent.fenced')).toEqual({ 2: 0, 29: 1 })
  expect(await valuesOf(agent, 'pmcd.numagents')).toEqual({ '-1': 1 })
  expect(await valuesOf(agent, 'pmcd.client.whoami')).toEqual({ 9: 'me' })
  expect(await valuesOf(agent, 'pmcd.feature.ipv6')).toEqual({ '-1': 1 })
  expect(await valuesOf(agent, 'pmcd.feature.secure')).toEqual({ '-1': 0 })
})

test('reads the files that pmlogger and pmie leave, of living processes only', async () => {
  for (const daemon of ['pmlogger', 'pmie']) mkdirSync(join(root, 'tmp/pcp', daemon), { recursive: true })
  mkdirSync(join(root, 'proc/70/fd'), { recursive: true })
  writeFileSync(join(root, 'tmp/pcp/pmlogger/70'), '4330\nhost.a\n/log/base\nnote\n')
  writeFileSync(join(root, 'tmp/pcp/pmlogger/71'), '4331\nhost.b\n/log/other\n')
  writeFileSync(join(root, 'tmp/pcp/pmlogger/primary'), '4330\nhost.a\n/log/base\n')
  // The layout of 6.0.3, recorded from a pmie with two rules: offsets 0, 4097, 8194, then words from 8260.
  const bytes = Buffer.alloc(8292)
  bytes.write('/etc/rules', 0)
  bytes.write('/log/pmie.log', 4097)
  bytes.write('host.c', 8194)
  Buffer.from('0000004002000000080000000400000004000000000000000800000001000000', 'hex').copy(bytes, 8260)
  writeFileSync(join(root, 'tmp/pcp/pmie/70'), bytes)
  const agent = open()
  expect(await valuesOf(agent, 'pmcd.pmlogger.port')).toEqual({ 70: 4330 })
  expect(await valuesOf(agent, 'pmcd.pmlogger.pmcd_host')).toEqual({ 70: 'host.a' })
  expect(await valuesOf(agent, 'pmcd.pmlogger.archive')).toEqual({ 70: '/log/base' })
  expect(await valuesOf(agent, 'pmcd.pmlogger.note')).toEqual({ 70: 'note' })
  expect(await valuesOf(agent, 'pmcd.pmie.configfile')).toEqual({ 70: '/etc/rules' })
  expect(await valuesOf(agent, 'pmcd.pmie.pmcd_host')).toEqual({ 70: 'host.c' })
  expect(await valuesOf(agent, 'pmcd.pmie.numrules')).toEqual({ 70: 2 })
  expect(await valuesOf(agent, 'pmcd.pmie.eval.expected')).toEqual({ 70: 2 })
  expect(await valuesOf(agent, 'pmcd.pmie.eval.actual')).toEqual({ 70: 8 })
})

test('a host without loggers has no instances and no error', async () => {
  expect(await valuesOf(open(), 'pmcd.pmlogger.port')).toEqual({})
})

/** Stores one value the way the toolkit's own fetch returned it, so that no encoder is needed here. */
async function store(agent: AgentSource, name: string, ask: Ask, word: number, inst = -1): Promise<void> {
  const [id] = await agent.lookupNames([name], ask)
  const set = {
    pmid: id as number,
    status: 1,
    format: 0,
    inst: Int32Array.of(inst),
    word: Int32Array.of(word),
    bytes: new Uint8Array(0),
  }
  await agent.store([set], ask)
}

const ROOT: Ask = { requester: { ...ANONYMOUS, credentials: { uid: 0 } } }

test('controls take what they can be and refuse the rest', async () => {
  const { statistics, told } = fakeCollector()
  const agent = open(statistics)
  await store(agent, 'pmcd.control.timeout', ROOT, 9)
  expect(statistics.controls.timeoutSec).toBe(9)
  await store(agent, 'pmcd.control.sighup', ROOT, 1)
  await store(agent, 'pmcd.control.dumpconn', ROOT, 0)
  await store(agent, 'pmcd.agent.fenced', ROOT, 1, 29)
  await store(agent, 'pmcd.seqnum', ROOT, 5)
  expect(told).toEqual(['reconfigure', 'connections', 'fence 29 true', 'advance'])
  await expect(store(agent, 'pmcd.control.creds_timeout', ROOT, 0)).rejects.toMatchObject({
    code: 'PM_ERR_CONV',
  })
  await expect(store(agent, 'pmcd.agent.fenced', ROOT, 2, 29)).rejects.toMatchObject({
    code: 'PM_ERR_BADSTORE',
  })
  await expect(store(agent, 'pmcd.limits.contexts', ROOT, 1)).rejects.toMatchObject({ code: 'PM_ERR_PMID' })
  const code = (name: string, value: number): Promise<unknown> =>
    store(agent, name, ROOT, value).catch((error) => error.code)
  expect(await code('pmcd.control.tracepdu', 2)).toBe('PM_ERR_BADSTORE')
  expect(await code('pmcd.control.tracebufs', -1)).toBe('PM_ERR_SIGN')
  for (const name of ['traceconn', 'tracepdu', 'tracenobuf', 'dumptrace', 'tracebufs', 'debug'])
    expect(await code(`pmcd.control.${name}`, name === 'traceconn' ? 0 : 1)).toBeUndefined()
  expect(statistics.trace).toMatchObject({
    recordsConnections: false,
    recordsPdus: true,
    isUnbuffered: true,
    size: 1,
  })
  expect(statistics.debug.bits).toBe(1)
  expect(await valuesOf(agent, 'pmcd.control.tracepdu')).toEqual({ '-1': 1 })
  expect(told.at(-1)).toBe('trace')
})

test("controls belong to user 0 and the collector's own user", async () => {
  const agent = open()
  const as = (uid: number): Ask => ({ requester: { ...ANONYMOUS, credentials: { uid } } })
  await store(agent, 'pmcd.control.timeout', as(1000), 9)
  await expect(store(agent, 'pmcd.control.timeout', as(1001), 9)).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
  })
  await expect(store(agent, 'pmcd.control.timeout', ASK, 9)).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
  })
  await expect(store(agent, 'pmcd.agent.fenced', ASK, 1, 29)).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
  })
})

test('registers keep stored values', async () => {
  const agent = open()
  await store(agent, 'pmcd.control.register', ROOT, -5, 3)
  expect(await valuesOf(agent, 'pmcd.control.register')).toMatchObject({ 2: 0, 3: -5 })
})
