import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { agent as definition } from '../../../src/agents/mmv/index.ts'
import { MmvWriter } from '../../../src/mmv/index.ts'
import { parseMmv } from '../../../src/mmv/layout.ts'
import { isError } from '../../../src/model/errors.ts'
import { PM_INDOM_NULL, pmid, pmidStr } from '../../../src/model/ids.ts'
import { LABEL_INSTANCES } from '../../../src/model/labels.ts'
import { PM_SEM_INSTANT, PM_TYPE_32 } from '../../../src/model/types.ts'
import { unitsStr } from '../../../src/model/units.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { makeSingular } from '../../../src/model/value-writer.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import { ASK, ROOT_ASK, readCatalogue } from '../../lib/agent-catalogue.ts'
import { type BuildOptions, buildMmv } from './build.ts'

let root: string
let agent: AgentSource
let log: string[]
const NOW_MS = 1_700_000_000_000

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mmv-'))
  mkdirSync(join(root, 'run', 'mmv'), { recursive: true })
  log = []
  agent = openAgent(definition, {
    root,
    env: { PCP_TMP_DIR: '/run' },
    clock: () => NOW_MS,
    log: (_level, text) => log.push(text),
  })
})

afterEach(async () => {
  await agent.close()
  rmSync(root, { recursive: true })
})

/** Puts a file in place; what the agent has of one of that name becomes stale by its generation. */
function publish(name: string, options: Partial<BuildOptions> = {}): void {
  const file = buildMmv({ version: 1, level: { type: 1, bits: 42n }, counts: [3, 4], ...options })
  writeFileSync(join(root, 'run', 'mmv', name), file)
}

async function valuesNamed(name: string): Promise<readonly unknown[] | string> {
  const [id] = await agent.lookupNames([name], ASK)
  if (id === undefined || isError(id)) return id?.code ?? ''
  const [desc] = await agent.descs([id], ASK)
  const { sets } = await agent.fetch([id], ASK)
  if (desc === undefined || isError(desc)) return 'no descriptor'
  return valuesOf(sets[0]!, desc.type).map(({ value }) => value)
}

test('has the metrics of the catalogue', async () => {
  const rows = readCatalogue('mmv')
  const ids = await agent.lookupNames(
    rows.map(({ name }) => name),
    ASK,
  )
  expect(ids.map((id) => (isError(id) ? id.code : pmidStr(id)))).toEqual(rows.map(({ pmid }) => pmid))
  const descs = await agent.descs(ids as number[], ASK)
  expect(descs).toEqual(
    ids.map((id) => ({ pmid: id, type: PM_TYPE_32, sem: PM_SEM_INSTANT, units: 0, indom: PM_INDOM_NULL })),
  )
})

describe.each([1, 2] as const)('a file of version %i', (version) => {
  it('gives names, descriptors, texts, instances and values', async () => {
    publish('app', { version })
    expect((await agent.traverse('mmv', ASK)).filter((name) => !name.includes('control'))).toEqual([
      'mmv.app.count',
      'mmv.app.level',
    ])
    const ids = [pmid(70, 5, 7), pmid(70, 5, 8)]
    const descs = (await agent.descs(ids, ASK)).map((desc) =>
      isError(desc) ? desc.code : [desc.type, desc.sem, unitsStr(desc.units)],
    )
    expect(descs).toEqual([
      [1, 3, 'Kbyte'],
      [1, 1, 'count'],
    ])
    expect(await agent.text({ kind: 'metric', id: ids[0]!, level: 'oneline' }, ASK)).toBe('Depth')
    await expect(agent.text({ kind: 'metric', id: ids[1]!, level: 'oneline' }, ASK)).rejects.toMatchObject({
      code: 'PM_ERR_TEXT',
    })
    const indom = (70 << 22) | (5 << 11) | 3
    expect(await agent.instances(indom, undefined, ASK)).toEqual({
      indom,
      ids: [1, 2],
      names: ['red', 'green'],
    })
    expect(await valuesNamed('mmv.app.level')).toEqual([42])
    expect(await valuesNamed('mmv.app.count')).toEqual([3, 4])
  })

  it('is refused when it is cut off anywhere, and nothing else is', async () => {
    publish('good', { version })
    const whole = buildMmv({ version, level: { type: 1, bits: 1n }, counts: [1, 2] })
    for (let length = 0; length < whole.length; length += 97) {
      publish('cut', { version, generation: BigInt(length + 1) })
      truncateSync(join(root, 'run', 'mmv', 'cut'), length)
      expect(await valuesNamed('mmv.good.level')).toEqual([42])
      rmSync(join(root, 'run', 'mmv', 'cut'))
      expect(await agent.traverse('mmv', ASK)).not.toContain('mmv.cut.level')
    }
  })
})

test.each([
  ['signed', { type: 0, bits: -5n }, -5],
  ['64 bits', { type: 2, bits: -6n }, -6],
  ['64 bits unsigned', { type: 3, bits: 2n ** 63n }, 2n ** 63n],
  ['float', { type: 4, bits: 0x3fc00000n }, 1.5],
  ['double', { type: 5, bits: 0xbff8000000000000n }, -1.5],
  ['text', { type: 6, bits: 0n }, 'deep'],
  ['elapsed', { type: 9, bits: 1000n }, 1000],
  ['elapsed and going on', { type: 9, bits: 1000n, extra: -BigInt(NOW_MS * 1000 - 250) }, 1250],
])('values: %s', async (_what, level, value) => {
  publish('app', { level })
  expect(await valuesNamed('mmv.app.level')).toEqual([value])
})

test('values change in place; a new generation changes what there is', async () => {
  publish('app')
  expect(await valuesNamed('mmv.app.level')).toEqual([42])
  publish('app', { level: { type: 1, bits: 43n } })
  expect(await valuesNamed('mmv.app.level')).toEqual([43])
  publish('app', { generation: 100n, cluster: 6 })
  expect(await agent.lookupNames(['mmv.app.level'], ASK)).toEqual([pmid(70, 6, 7)])
})

test('a file that is being written is looked at again until it is complete', async () => {
  publish('app', { generation: 0n })
  expect(await valuesNamed('mmv.app.level')).toBe('PM_ERR_NAME')
  publish('app')
  expect(await valuesNamed('mmv.app.level')).toEqual([42])
})

test('flags: no prefix, sentinels, and a process that has to live', async () => {
  publish('a', { flags: 1 })
  publish('b', { flags: 4, cluster: 0, level: { type: 3, bits: -1n } })
  publish('c', { flags: 2, pid: 2 ** 22 + 7, cluster: 9 })
  expect(await valuesNamed('mmv.level')).toEqual([42])
  expect(await valuesNamed('mmv.b.level')).toEqual([])
  expect(await valuesNamed('mmv.c.level')).toBe('PM_ERR_NAME')
  expect(log.join('\n')).toContain('c: process 4194311 has ended')
})

test('duplicate names and unknown types are left out and logged', async () => {
  publish('a', { flags: 1 })
  publish('b', { flags: 1, cluster: 6 })
  publish('c', { cluster: 7, level: { type: 33, bits: 0n } })
  expect(await valuesNamed('mmv.level')).toEqual([42])
  expect(await valuesNamed('mmv.c.count')).toEqual([3, 4])
  expect(log).toContain('b: mmv.level already exists')
  expect(log).toContain('c: mmv.c.level is left out: unknown type 33')
})

test('two files that share a cluster may share an item, which then has two names', async () => {
  publish('a')
  publish('b', { level: { type: 1, bits: 7n } })
  expect(await agent.lookupNames(['mmv.a.level', 'mmv.b.level'], ASK)).toEqual([
    pmid(70, 5, 7),
    pmid(70, 5, 7),
  ])
  expect(await valuesNamed('mmv.a.level')).toEqual([42])
  expect(await valuesNamed('mmv.b.level')).toEqual([42])
  publish('b', { generation: 100n, level: { type: 3, bits: 7n } })
  expect(await valuesNamed('mmv.a.level')).toEqual([7])
})

test('pipes, directories and huge files do not block the agent', async () => {
  publish('good')
  const directory = join(root, 'run', 'mmv')
  mkdirSync(join(directory, 'folder'))
  execFileSync('mkfifo', [join(directory, 'pipe')])
  publish('huge')
  truncateSync(join(directory, 'huge'), 2 ** 40)
  expect(await valuesNamed('mmv.good.level')).toEqual([42])
  expect(await valuesNamed('mmv.control.files')).toEqual([1])
  expect(log.join('\n')).toContain('huge: 1099511627776 bytes are more than')
})

test('sections that claim the same records again and again are refused', () => {
  const file = buildMmv({ version: 1, level: { type: 1, bits: 1n }, counts: [1, 2] })
  for (const section of [1, 4]) {
    file.writeUInt32LE(6, 40 + section * 16)
    file.writeUInt32LE(Math.floor(file.length / 256), 40 + section * 16 + 4)
    file.writeBigUInt64LE(0n, 40 + section * 16 + 8)
  }
  expect(() => parseMmv(file)).toThrow(/overlap/)
})

test('files are counted, and read anew on request', async () => {
  publish('app')
  expect(await valuesNamed('mmv.control.files')).toEqual([1])
  await agent.store([makeSingular(pmid(70, 0, 0), 0, 1)], ROOT_ASK)
  expect(await valuesNamed('mmv.control.reload')).toEqual([0])
  await expect(agent.store([makeSingular(pmid(70, 0, 2), 0, 1)], ASK)).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
  })
})

describe('files that define the same metric', () => {
  const share = (name: string, instances: readonly string[]): MmvWriter => {
    const writer = new MmvWriter(name, { directory: join(root, 'run', 'mmv'), cluster: 9, prefix: false })
    const domain = writer.instances({ serial: 4 })
    const tag = domain.gauge('tag', { item: 1, type: 'u32' })
    for (const instance of instances) {
      const id = Number(instance.slice(1))
      domain.add(instance, { id, labels: { at: { [name]: id } } })
      tag.of(instance).set(id)
    }
    writer.publish()
    return writer
  }

  it('add their instances and values to it', async () => {
    const some = share('some', ['i1', 'i2'])
    const more = share('more', ['i3'])
    expect(await valuesNamed('mmv.tag')).toEqual([3, 1, 2])
    const { names } = await agent.instances((70 << 22) | (9 << 11) | 4, undefined, ASK)
    expect(names).toEqual(['i3', 'i1', 'i2'])
    expect(log).toEqual([])
    some.close()
    expect(await valuesNamed('mmv.tag')).toEqual([3])
    more.close()
    expect(await valuesNamed('mmv.tag')).toBe('PM_ERR_NAME')
  })

  it('add to one compound label', async () => {
    const writers = [share('some', ['i1']), share('more', ['i1'])]
    const sets = await agent.labels({ level: LABEL_INSTANCES, id: (70 << 22) | (9 << 11) | 4 }, ASK)
    expect(sets.map(({ json }) => json)).toEqual(['{"at.more":1,"at.some":1}'])
    for (const writer of writers) writer.close()
  })
})

test('a process or a flag that changes in place counts at once', async () => {
  publish('app')
  expect(await valuesNamed('mmv.app.level')).toEqual([42])
  publish('app', { flags: 1 })
  expect(await valuesNamed('mmv.level')).toEqual([42])
  publish('app', { flags: 2, pid: 0xffffffff })
  expect(await valuesNamed('mmv.app.level')).toBe('PM_ERR_NAME')
})
