import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pmid } from '../../src/model/ids.ts'
import { LABEL_CONTEXT } from '../../src/model/labels.ts'
import type { Credentials } from '../../src/model/source.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { openLocal } from '../../src/routing/local-context.ts'

let dir: string
let env: Record<string, string>

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-local-'))
  mkdirSync(join(dir, 'pmns'))
  writeFileSync(
    join(dir, 'pcp.conf'),
    `PCP_VAR_DIR=${dir}\nPCP_SYSCONF_DIR=${dir}\nPCP_PMDAS_DIR=${dir}/pmdas\n`,
  )
  writeFileSync(
    join(dir, 'pmcd.conf'),
    [
      'pmcd 2 dso pmcd_init /pmdas/pmcd/pmda_pmcd.so',
      'simple 253 dso simple_init /pmdas/simple/pmda_simple.so',
      'strange 111 dso strange_init /pmdas/strange/pmda_strange.so',
      'piped 112 pipe binary /bin/piped',
      'trivial 250 dso worker:trivial_init /pmdas/trivial/pmda_trivial.so',
    ].join('\n'),
  )
  env = { PCP_CONF: join(dir, 'pcp.conf'), PCP_PMCDCONF_PATH: join(dir, 'pmcd.conf') }
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('has the shared objects of pmcd.conf that we replace; others are PM_ERR_NOAGENT', async () => {
  const warnings: string[] = []
  const pcp = await openLocal({ env, warn: (text) => warnings.push(text) })
  const row = await pcp.values(['simple.numfetch'])
  expect(row.value('simple.numfetch')).toBe(1)
  for (const domain of [2, 111, 112]) {
    const { sets } = await pcp.fetch([pmid(domain, 0, 0)])
    expect(sets[0]!.status).toBe(-12386)
    await expect(pcp.desc(pmid(domain, 0, 0))).rejects.toMatchObject({ code: 'PM_ERR_NOAGENT' })
  }
  // Agents in threads belong to the collector.
  expect((await pcp.fetch([pmid(250, 0, 0)])).sets[0]!.status).toBe(1)
  expect(warnings).toEqual([])
  await pcp.close()
})

test('the table is edited by specs, or else by the environment', async () => {
  const simple = pmid(253, 0, 0)
  const statusIn = async (options: Parameters<typeof openLocal>[0]): Promise<number> => {
    const pcp = await openLocal({ env, ...options })
    const { sets } = await pcp.fetch([simple])
    await pcp.close()
    return sets[0]!.status
  }
  expect(await statusIn({ specs: ['del,253'] })).toBe(-12386)
  expect(await statusIn({ env: { ...env, PCP_SPECLOCAL: 'clear' } })).toBe(-12386)
  expect(await statusIn({ specs: ['clear', 'add,253,simple/pmda_simple,simple_init'] })).toBe(1)
  expect(await statusIn({ specs: [], env: { ...env, PCP_SPECLOCAL: 'clear' } })).toBe(1)
  await expect(statusIn({ specs: ['bogus'] })).rejects.toMatchObject({ code: 'PM_ERR_CONV' })
  await expect(statusIn({ specs: ['del,9'] })).rejects.toMatchObject({ code: 'PM_ERR_INDOM' })
})

test('a requested agent that is not available causes a warning', async () => {
  const warnings: string[] = []
  const specs = ['add,29,x/y,z_init', 'add,30,simple/pmda_simple.so,z_init']
  const pcp = await openLocal({ env, specs, warn: (text) => warnings.push(text) })
  await pcp.close()
  expect(warnings).toEqual([
    '__pmConnectLocal: Warning: cannot find DSO at "x/y.so" or "x/y": this package has no agent to replace it',
    `__pmConnectLocal: Warning: couldn't find init function "z_init" in DSO "${dir}/pmdas/simple/pmda_simple.so"`,
  ])
})

test("names come from the installation's name space if there is one", async () => {
  writeFileSync(join(dir, 'names'), 'root { fetches 253:0:0 nobody 9:0:0 }')
  const pcp = await openLocal({ env: { ...env, PMNS_DEFAULT: join(dir, 'names') } })
  expect(await pcp.traverse()).toEqual(['fetches', 'nobody', 'event.flags', 'event.missed'])
  await pcp.close()
})

test("the caller's agents get requests with this process's credentials, and are closed with the context", async () => {
  const heard: (Credentials | undefined)[] = []
  let closed = 0
  const agent = defineAgent({
    name: 'own',
    domain: 400,
    open: () => ({
      metrics: {
        'own.word': {
          item: 1,
          type: 'u32',
          sem: 'instant',
          units: 'none',
          help: 'a word',
          value: () => 7,
          store: (_value, _inst, ask) => void heard.push(ask.requester.credentials),
        },
      },
      close: () => {
        closed++
      },
    }),
  })
  const pcp = await openLocal({ env, agents: [agent] })
  expect(await pcp.traverse()).toContain('own.word')
  await pcp.store([makeSet(pmid(400, 0, 1), PM_TYPE_U32, [-1], [1])])
  const { pid } = process
  expect(heard).toEqual([{ uid: process.geteuid!(), gid: process.getegid!(), pid }])
  const labels = await pcp.labels(LABEL_CONTEXT, 0)
  expect(JSON.parse(labels[0]!.json)).toMatchObject({
    userid: process.geteuid!(),
    groupid: process.getegid!(),
  })
  await pcp.close()
  expect(closed).toBe(1)
})

test('open agents are closed if the context cannot be opened', async () => {
  const closed: string[] = []
  const agentThat = (name: string, item: number, open = (): void => {}) =>
    defineAgent({
      name,
      domain: 400,
      open: () => {
        open()
        const metric = { item, type: 'u32', sem: 'instant', units: 'none', help: 'A number' } as const
        return { metrics: { 'a.number': { ...metric, value: () => 1 } }, close: () => closed.push(name) }
      },
    })
  const [good, other] = [agentThat('good', 1), agentThat('other', 2)]
  const bad = agentThat('bad', 3, () => {
    throw new Error('no such device')
  })
  await expect(openLocal({ env, agents: [good, bad] })).rejects.toThrow('no such device')
  expect(closed).toEqual(['good'])
  await expect(openLocal({ env, agents: [good, other] })).rejects.toMatchObject({ code: 'PM_ERR_PMNS' })
  expect(closed).toEqual(['good', 'good', 'other'])
})
