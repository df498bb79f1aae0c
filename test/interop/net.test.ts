/** Our connections to the reference's pmcd and agents. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { indom, pmid } from '../../src/model/ids.ts'
import { InstanceSet } from '../../src/model/instance-set.ts'
import { LABEL_CONTEXT, LABEL_DOMAIN, LABEL_INSTANCES } from '../../src/model/labels.ts'
import { ALL_INSTANCES, type Profile } from '../../src/model/profile.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { openAgentLink } from '../../src/net/agent-link.ts'
import { PduConnection } from '../../src/net/connection.ts'
import { HostSource } from '../../src/net/host-source.ts'

const PMCD = '/usr/lib/pcp/bin/pmcd'
const AGENTS = '/var/lib/pcp/pmdas'
const isThere = existsSync(PMCD) && existsSync(`${AGENTS}/simple/pmdasimple`)
if (!isThere) console.log('net interop skipped: the reference pmcd and pmdasimple are not installed')

const ask = { requester: ANONYMOUS }
const COLOR = pmid(253, 0, 1)

describe.skipIf(!isThere)('HostSource and the reference pmcd', () => {
  let dir = ''
  let pmcd: ChildProcess
  let source: HostSource

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'pcp-net-'))
    writeFileSync(
      join(dir, 'pmcd.conf'),
      `pmcd 2 dso pmcd_init ${AGENTS}/pmcd/pmda_pmcd.so\nsimple 253 pipe binary ${AGENTS}/simple/pmdasimple -d 253\n`,
    )
    const args = ['-f', '-p', '0', '-s', join(dir, 's'), '-c', join(dir, 'pmcd.conf'), '-l', join(dir, 'log')]
    pmcd = spawn(PMCD, args, { cwd: dir, stdio: 'ignore' })
    source = await untilAnswers(() => HostSource.connect(`unix:/${join(dir, 's')}`))
  })

  afterAll(async () => {
    await source?.close()
    pmcd?.kill()
    rmSync(dir, { recursive: true, force: true })
  })

  test('names, descriptors and instances', async () => {
    const children = await source.children('simple', ask)
    expect(children.map((child) => child.name)).toContain('color')
    expect(await source.traverse('simple', ask)).toContain('simple.color')
    const [color, nosuch, inner, empty] = await source.lookupNames(
      ['simple.color', 'no.such', 'simple', ''],
      ask,
    )
    expect(color).toBe(COLOR)
    expect(nosuch).toMatchObject({ code: 'PM_ERR_NAME' })
    expect(inner).toMatchObject({ code: 'PM_ERR_NONLEAF' })
    expect(empty).toMatchObject({ code: 'PM_ERR_NAME' })
    expect(await source.lookupId(COLOR, ask)).toEqual(['simple.color'])
    const [desc, unknown, nobody] = await source.descs([COLOR, pmid(253, 0, 99), pmid(400, 0, 0)], ask)
    expect(desc).toMatchObject({ pmid: COLOR, type: 0, sem: 3, indom: indom(253, 0) })
    expect(unknown).toMatchObject({ code: 'PM_ERR_PMID' })
    expect(nobody).toMatchObject({ code: expect.stringMatching(/^PM_ERR_(PMID|NOAGENT)$/) })
    const all = await source.instances(indom(253, 0), undefined, ask)
    expect(all).toEqual({ indom: indom(253, 0), ids: [0, 1, 2], names: ['red', 'green', 'blue'] })
    expect((await source.instances(indom(253, 0), { id: 1 }, ask)).names).toEqual(['green'])
    expect((await source.instances(indom(253, 0), { name: 'blue' }, ask)).ids).toEqual([2])
    await expect(source.instances(indom(253, 0), { name: 'pink' }, ask)).rejects.toMatchObject({
      code: 'PM_ERR_INST',
    })
  })

  test('lists of unknown names', async () => {
    const [first, second] = await source.descs([pmid(253, 0, 99), pmid(400, 0, 0)], ask)
    expect([first, second]).toMatchObject([{ code: 'PM_ERR_PMID' }, { code: 'PM_ERR_PMID' }])
    const names = await source.lookupNames(['no.such', 'nor.this'], ask)
    expect(names).toMatchObject([{ code: 'PM_ERR_NAME' }, { code: 'PM_ERR_NAME' }])
  })

  test('twenty thousand names in several messages', async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? 'simple.color' : 'simple.numfetch'))
    const ids = await source.lookupNames(names, ask)
    expect(ids.length).toBe(20_000)
    expect(new Set(ids).size).toBe(2)
  })

  test('values, filtered by the profile of each context', async () => {
    const only: Profile = {
      includeByDefault: true,
      entries: new Map([
        [indom(253, 0), { indom: indom(253, 0), includeAll: false, instances: InstanceSet.of([1]) }],
      ]),
    }
    const second = { requester: { client: 0, context: 5, profile: only } }
    const [all, one, again] = await Promise.all([
      source.fetch([COLOR, pmid(253, 0, 99), pmid(400, 0, 0)], ask),
      source.fetch([COLOR], second),
      source.fetch([COLOR], ask),
    ])
    expect(all.sets.map((set) => set.status)).toEqual([3, -12358, -12386])
    expect(Array.from(one.sets[0]!.inst)).toEqual([1])
    expect(Array.from(again.sets[0]!.inst)).toEqual([0, 1, 2])
    expect(Math.abs(all.timestamp.sec - Date.now() / 1000)).toBeLessThan(60)
    const tooMany = Array.from({ length: 20_000 }, () => COLOR)
    await expect(source.fetch(tooMany, ask)).rejects.toMatchObject({ code: 'PM_ERR_TOOBIG' })
  })

  test('texts, labels and stores', async () => {
    const oneline = await source.text({ kind: 'metric', id: COLOR, level: 'oneline' }, ask)
    expect(oneline.length).toBeGreaterThan(0)
    await expect(
      source.text({ kind: 'metric', id: pmid(253, 0, 99), level: 'help' }, ask),
    ).rejects.toMatchObject({ code: expect.stringMatching(/^PM_ERR_(TEXT|PMID)$/) })
    const context = await source.labels({ level: LABEL_CONTEXT, id: 0 }, ask)
    expect(context[0]!.labels.map((label) => label.name)).toContain('hostname')
    const instances = await source.labels({ level: LABEL_INSTANCES, id: indom(253, 0) }, ask)
    expect(instances.map((set) => set.inst)).toEqual([0, 1, 2])
    const numfetch = await source.fetch([pmid(253, 0, 0)], ask)
    await source.store(numfetch.sets, ask)
    const unknown = numfetch.sets.map((set) => ({ ...set, pmid: pmid(253, 0, 99) }))
    await expect(source.store(unknown, ask)).rejects.toMatchObject({ code: 'PM_ERR_PMID' })
  })

  test('a rejected profile closes the connection with its reason', async () => {
    const other = await HostSource.connect(source.spec)
    const fetched = other.fetch([COLOR], { requester: { ...ANONYMOUS, context: -1 } })
    const results = await Promise.allSettled([fetched, other.lookupId(COLOR, ask)])
    for (const result of results) expect(result).toMatchObject({ reason: { code: 'PM_ERR_IPC' } })
    expect(other.closedBy?.message).toMatch(/Profile of context -1/)
  })

  test('requests to a lost collector are rejected, and the loss is reported', async () => {
    const other = await HostSource.connect(`unix:/${join(dir, 's')}`)
    const lost = new Promise((resolve) => other.subscribe((event) => resolve(event.type)))
    await other.fetch([COLOR], { requester: { ...ANONYMOUS, profile: ALL_INSTANCES } })
    await other.close()
    expect(await lost).toBe('lost')
    await expect(other.fetch([COLOR], ask)).rejects.toMatchObject({ code: 'PM_ERR_EOF' })
  })
})

describe.skipIf(!isThere)('AgentLink and the reference agents', () => {
  test('pmdasample answers every request over its pipes', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'pcp-agent-'))
    const agent = spawn(`${AGENTS}/sample/pmdasample`, ['-d', '29'], {
      cwd: dir,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const stream = { readable: agent.stdout, writable: agent.stdin }
    const link = await openAgentLink(new PduConnection(stream, { name: 'sample' }), { name: 'sample' })
    const [desc, unknown] = await link.descs([pmid(29, 0, 5), pmid(29, 0, 999)], ask)
    expect(desc).toMatchObject({ pmid: pmid(29, 0, 5), indom: indom(29, 1) })
    expect(unknown).toMatchObject({ code: 'PM_ERR_PMID' })
    const colours = await link.instances(indom(29, 1), undefined, ask)
    expect(colours.names).toEqual(['red', 'green', 'blue'])
    expect((await link.instances(indom(29, 1), { id: colours.ids[1]! }, ask)).names).toEqual(['green'])
    expect((await link.instances(indom(29, 1), { name: 'blue' }, ask)).ids).toEqual([colours.ids[2]])
    const { sets } = await link.fetch([pmid(29, 0, 5), pmid(29, 0, 999), pmid(29, 0, 5)], ask)
    expect(sets.map((set) => set.status)).toEqual([3, expect.any(Number), 3])
    expect(
      (await link.children('sample.secret', ask)).map((child) => [child.name, child.isLeaf]),
    ).toContainEqual(['bar', true])
    const [bar] = await link.lookupNames(['sample.secret.bar'], ask)
    expect(await link.lookupId(bar as number, ask)).toEqual(['sample.secret.bar'])
    expect(await link.traverse('sample.secret', ask)).toContain('sample.secret.bar')
    expect(await link.text({ kind: 'metric', id: pmid(29, 0, 5), level: 'oneline' }, ask)).not.toBe('')
    expect((await link.labels({ level: LABEL_DOMAIN, id: 29 }, ask)).length).toBe(1)
    await expect(link.store([{ ...sets[1]!, status: 0 }], ask)).rejects.toMatchObject({ code: 'PM_ERR_PMID' })
    link.endClient(0)
    const ended = new Promise<number | null>((resolve) => agent.once('exit', resolve))
    await link.close()
    expect(await ended).toBe(0)
    rmSync(dir, { recursive: true, force: true })
  })
})

/** Retries until the daemon listens. */
async function untilAnswers<T>(attempt: () => Promise<T>): Promise<T> {
  const end = Date.now() + 60_000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
