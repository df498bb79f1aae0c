/** The agent over files: names, numbers, instances, labels, filters, changes and failures. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agent as definition } from '../../../src/agents/openmetrics/index.ts'
import { isError, statusOf } from '../../../src/model/errors.ts'
import { indom, indomStr, PM_INDOM_NULL, pmid, pmidStr } from '../../../src/model/ids.ts'
import { LABEL_CLUSTER, LABEL_INDOM, LABEL_INSTANCES, LABEL_ITEM } from '../../../src/model/labels.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_U32 } from '../../../src/model/types.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { makeSingular } from '../../../src/model/value-writer.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import { ASK, ROOT_ASK } from '../../lib/agent-catalogue.ts'
import { eventually } from '../../lib/eventually.ts'

let root: string
let agent: AgentSource
let log: string[]
let nowMs: number

const NO_INSTANCES = { ids: [] as readonly number[], names: [] as readonly string[] }
const CONFIG = '/pmdas/openmetrics/config.d'
const ENV = { PCP_PMDAS_DIR: '/pmdas', PCP_VAR_DIR: '/var', PCP_OPENMETRICS_INTERVAL: '1000' }

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'openmetrics-'))
  mkdirSync(join(root, CONFIG), { recursive: true })
  log = []
  nowMs = 1_700_000_000_000
})

afterEach(async () => {
  await agent.close()
  rmSync(root, { recursive: true })
})

function open(env: Readonly<Record<string, string>> = {}): AgentSource {
  agent = openAgent(definition, {
    root,
    env: { ...ENV, ...env },
    clock: () => nowMs,
    log: (_level, text) => log.push(text),
  })
  return agent
}

function write(path: string, text: string): string {
  const full = join(root, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
  return full
}

/** A document, and a file in the configuration directory with its URL. */
function publish(name: string, text: string, config = ''): void {
  const path = write(`/documents/${name}`, text)
  write(`${CONFIG}/${name}.url`, `file://${path}\n${config}`)
}

const names = async (below = 'openmetrics'): Promise<string[]> =>
  (await agent.traverse(below, ASK)).filter((name) => !name.startsWith('openmetrics.control'))

async function namesAppear(count: number): Promise<string[]> {
  await eventually(async () => expect((await names()).length).toBe(count))
  return names()
}

/** PMID, descriptor and values of a metric, formatted. */
async function show(name: string): Promise<string> {
  const [id] = await agent.lookupNames([name], ASK)
  if (id === undefined || isError(id)) return `${name} ${id?.code}`
  const [desc] = await agent.descs([id], ASK)
  if (desc === undefined || isError(desc)) return `${name} ${desc?.code}`
  const { sets } = await agent.fetch([id], ASK)
  const domain = desc.indom === PM_INDOM_NULL ? '-' : indomStr(desc.indom)
  if (sets[0]!.status < 0) return `${pmidStr(id)} ${domain} ${sets[0]!.status}`
  const { ids, names: called } =
    desc.indom === PM_INDOM_NULL ? NO_INSTANCES : await agent.instances(desc.indom, undefined, ASK)
  const values = valuesOf(sets[0]!, desc.type).map(({ inst, value }) =>
    inst < 0 ? String(value) : `${called[ids.indexOf(inst)]}=${value}`,
  )
  return `${pmidStr(id)} ${domain} ${values.join(', ')}`
}

async function store(
  name: string,
  value: number,
  type: typeof PM_TYPE_DOUBLE | typeof PM_TYPE_U32 = PM_TYPE_DOUBLE,
): Promise<void> {
  const [id] = await agent.lookupNames([name], ASK)
  if (id === undefined || isError(id)) throw new Error(name)
  await agent.store([makeSingular(id, type, value)], ROOT_ASK)
}

const labels = async (level: number, id: number): Promise<string[]> =>
  (await agent.labels({ level, id }, ASK)).map(({ json }) => json)

test('without a directory it has its own metrics and no sources', async () => {
  rmSync(join(root, CONFIG), { recursive: true })
  open()
  expect(await names()).toEqual([])
  expect(await show('openmetrics.control.calls')).toBe('144.0.1 144.0 control=0')
  expect(log).toEqual([])
})

test('numbers go by files in order of their paths, and by metrics in order of their lines', async () => {
  publish('b', 'one 1\ntwo{x="y",a="z"} 2\ntwo{x="w"} 3\n')
  publish('sub/deep/a', 'three:x 3\n')
  open()
  expect(await namesAppear(3)).toEqual([
    'openmetrics.b.one',
    'openmetrics.b.two',
    'openmetrics.sub.deep.a.three.x',
  ])
  expect(await show('openmetrics.b.one')).toBe('144.1.0 - 1')
  expect(await show('openmetrics.b.two')).toBe(`144.1.1 144.${4096 + 1024 + 1} 0 a:z x:y=2, 1 x:w=3`)
  expect(await show('openmetrics.sub.deep.a.three.x')).toBe('144.2.0 - 3')
  expect(readdirSync(join(root, 'var/config/pmda')).sort()).toEqual(
    ['0', '1', '2', '5121'].map((serial) => `144.${serial}.py`),
  )
})

test('numbers stay when files and lines come and go', async () => {
  publish('b', 'one 1\ntwo 2\n')
  open()
  await namesAppear(2)
  await agent.close()
  publish('a', 'zero 0\n')
  publish('b', 'two 22\nthree 3\none 1\n')
  open()
  await namesAppear(4)
  expect(await show('openmetrics.a.zero')).toBe('144.2.0 - 0')
  expect(await show('openmetrics.b.two')).toBe('144.1.1 - 22')
  expect(await show('openmetrics.b.three')).toBe('144.1.2 - 3')
})

test('new, changed and removed files are noticed by requests for names', async () => {
  publish('a', 'x 1\n')
  open()
  await namesAppear(1)
  publish('b', 'y 1\n')
  nowMs += 2000
  await namesAppear(2)
  publish('b', 'y 1\nz 1\n', 'FILTER: EXCLUDE METRIC y')
  nowMs += 2000
  await eventually(async () => expect(await names()).toEqual(['openmetrics.a.x', 'openmetrics.b.z']))
  rmSync(join(root, CONFIG, 'a.url'))
  nowMs += 2000
  expect(await names()).toEqual(['openmetrics.b.z'])
  expect(await show('openmetrics.control.calls')).toContain('control=')
})

test('labels name instances; OPTIONAL ones annotate, EXCLUDEd ones are gone', async () => {
  publish(
    'a',
    'm{keep="1",note="n",drop="d"} 5\nonly{drop="x"} 6\n',
    'FILTER: EXCLUDE LABEL drop\nFILTER: OPTIONAL LABEL note\n',
  )
  open()
  await namesAppear(2)
  expect(await show('openmetrics.a.m')).toBe('144.1.0 144.5120 0 keep:1=5')
  expect(await show('openmetrics.a.only')).toBe('144.1.1 - 6')
  expect(await labels(LABEL_ITEM, pmid(144, 1, 0))).toEqual(['{"keep":"1","note":"n"}'])
  expect(await labels(LABEL_INDOM, indom(144, 5120))).toEqual(['{"source":"a"}'])
  expect(await labels(LABEL_INSTANCES, indom(144, 5120))).toEqual(['{"instname":"0 keep:1","keep":"1"}'])
  const [cluster] = await labels(LABEL_CLUSTER, pmid(144, 1, 0))
  expect(JSON.parse(cluster!)).toMatchObject({ source: 'a', url: `file://${root}/documents/a` })
})

test('labels that PCP cannot have under their name have another one, however many there are', async () => {
  const many = Array.from({ length: 400 }, (_, i) => `l${i}="${'v'.repeat(i % 100)}"`).join(',')
  publish('a', `m{"odd label"="1",k8s:pod="2"} 5\nwide{${many},instname="w"} 6\n`)
  publish('pcp', `# PCP5 wide 1.2.3 u32 1.2 instant none\nwide{instname="w",${many}} 6\n`)
  open()
  await namesAppear(3)
  expect(await show('openmetrics.a.m')).toBe('144.1.0 144.5120 0 k8s:pod:2 odd label:1=5')
  expect(await labels(LABEL_ITEM, pmid(144, 1, 0))).toEqual(['{"k8s_pod":"2","odd_label":"1"}'])
  expect(await show('openmetrics.pcp.wide')).toMatch(/ w=6$/)
  const [wide] = await labels(LABEL_ITEM, pmid(144, 2, 0))
  expect(Object.keys(JSON.parse(wide!)).length).toBeGreaterThan(50)
  expect(log.some((text) => text.includes('labels together are longer'))).toBe(true)
})

test('metrics of PCP have their own names, types and instances', async () => {
  publish(
    'pcp',
    [
      '# PCP5 disk.dev.read 60.0.4 u64 60.1 counter count',
      '# HELP disk_dev_read reads\\nof each disk',
      'disk_dev_read{instname="sda",instid="0",hostname="h"} 18446744073709551615',
      '# PCP5 hinv.ncpu 60.0.32 u32 PM_INDOM_NULL discrete none',
      'hinv_ncpu{hostname="h"} 2',
    ].join('\n'),
  )
  open()
  expect(await namesAppear(2)).toEqual(['openmetrics.pcp.disk.dev.read', 'openmetrics.pcp.hinv.ncpu'])
  expect(await show('openmetrics.pcp.disk.dev.read')).toBe('144.1.0 144.5120 sda=18446744073709551615')
  expect(await show('openmetrics.pcp.hinv.ncpu')).toBe('144.1.1 - 2')
  const text = (level: 'oneline' | 'help'): Promise<string> =>
    agent.text({ kind: 'metric', id: pmid(144, 1, 0), level }, ASK)
  expect([await text('oneline'), await text('help')]).toEqual(['reads', 'of each disk'])
})

test('a metric has instances when any of its lines has labels', async () => {
  publish('a', 'm 1\nm{x="y"} 2\n')
  open()
  await namesAppear(1)
  expect(await show('openmetrics.a.m')).toBe('144.1.0 144.5120 0 =1, 1 x:y=2')
})

test('wrong lines are logged with file, URL and number; other lines are kept', async () => {
  publish('a', 'ok 1\nbad{ 2\n9x 3\nodd many\nfine 5\n')
  open()
  await namesAppear(3)
  expect(await show('openmetrics.a.fine')).toMatch(/ 5$/)
  expect(await show('openmetrics.control.bad_lines')).toContain('a=3')
  const where = `${root}${CONFIG}/a.url (file://${root}/documents/a): line`
  expect(log).toEqual([
    `${where} 2: label "2" has no value`,
    `${where} 3: "9x" is not a valid metric name`,
    `${where} 4: odd: "many" is not a value of type double`,
  ])
})

test('a name that conflicts with another one is left out', async () => {
  publish('a', 'x:y 1\nx 2\nx:y:z 3\n')
  open()
  expect(await namesAppear(1)).toEqual(['openmetrics.a.x.y'])
  expect(log.length).toBe(2)
})

test('files that cannot be sources are logged once', async () => {
  publish('control', 'x 1\n')
  publish('9a', 'x 1\n')
  write(`${CONFIG}/README`, 'x 1')
  chmodSync(write(`${CONFIG}/all.sh`, '#!/bin/sh\n'), 0o777)
  open()
  nowMs += 5000
  expect(await names()).toEqual([])
  expect(log.map((text) => text.slice(text.indexOf(CONFIG) + CONFIG.length + 1))).toEqual([
    '9a.url is left out: "9a" cannot be part of a metric name',
    `all.sh is left out: ${root}${CONFIG}/all.sh is writable by everybody (chmod o-w)`,
    'control.url is left out: the name belongs to the metrics of the agent itself',
  ])
})

test('a document that disappeared has no values and a status', async () => {
  publish('a', 'x 1\n')
  open({ PCP_OPENMETRICS_INTERVAL: '0.1' })
  await namesAppear(1)
  expect(await show('openmetrics.control.status')).toContain('a=success')
  rmSync(join(root, 'documents/a'))
  await eventually(async () =>
    expect(await show('openmetrics.a.x')).toBe(`144.1.0 - ${statusOf('PM_ERR_AGAIN')}`),
  )
  expect(await show('openmetrics.control.status')).toContain('a=cannot read the document of')
  expect(await show('openmetrics.control.errors')).not.toContain('a=0')
  publish('a', 'x 2\n')
  await eventually(async () => expect(await show('openmetrics.a.x')).toBe('144.1.0 - 2'))
})

test('the interval can be stored, within bounds', async () => {
  publish('a', 'x 1\n')
  open()
  await namesAppear(1)
  await expect(store('openmetrics.control.interval', 0.01)).rejects.toMatchObject({
    code: 'PM_ERR_BADSTORE',
  })
  await store('openmetrics.control.interval', 0.1)
  expect(await show('openmetrics.control.interval')).toBe('144.0.7 - 0.1')
  publish('a', 'x 2\n')
  await eventually(async () => expect(await show('openmetrics.a.x')).toMatch(/ 2$/))
})

test('metrics of the agent report the state of a source', async () => {
  publish('a', 'x 1\ny 2\n')
  open()
  await namesAppear(2)
  nowMs += 3000
  const tell = async (name: string): Promise<string> =>
    (await show(`openmetrics.control.${name}`)).replace(/^.*144\.0 /, '')
  expect(await tell('calls')).toBe('control=1, a=1')
  expect(await tell('samples')).toBe('control=0, a=2')
  expect(await tell('age')).toBe('a=3')
  expect(await tell('status_code')).toBe('control=0, a=0')
  await store('openmetrics.control.debug', 1, PM_TYPE_U32)
  expect(await tell('debug')).toBe('144.0.4 - 1')
})

test('options of the daemon are stronger than variables', async () => {
  publish('a', 'x 1\n')
  agent = openAgent(definition, {
    root,
    env: { ...ENV, PCP_OPENMETRICS_ROOT: 'other', PCP_OPENMETRICS_CONFIG: '/nowhere' },
    options: { root: 'exposed', config: `${CONFIG}/`, nosort: true, interval: '60' },
  })
  await eventually(async () => expect(await agent.traverse('exposed.a', ASK)).toEqual(['exposed.a.x']))
  expect(await show('exposed.control.interval')).toBe('144.0.7 - 60')
  expect(() => openAgent(definition, { root, options: { root: 'a.b' } })).toThrow('The root "a.b"')
})

test('an invalid number of seconds is refused', () => {
  open()
  expect(() => openAgent(definition, { root, env: { ...ENV, PCP_OPENMETRICS_TIMEOUT: 'soon' } })).toThrow(
    'The timeout is "soon"',
  )
})
