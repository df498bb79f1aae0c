/** Old names work, with one warning each. docs/reference/deprecations.md */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DEPRECATIONS } from '../../src/base/deprecated.ts'

beforeEach(() => vi.resetModules())
const spies: { mockRestore(): void }[] = []
afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore()
})

/** Returns the codes of warnings from now on. */
function codes(): string[] {
  const found: string[] = []
  spies.push(
    vi.spyOn(process, 'emitWarning').mockImplementation((...given: unknown[]) => {
      found.push(String(given[2]))
    }),
  )
  return found
}

test('the page lists every deprecation, with its code', () => {
  const rows = readFileSync(join('docs', 'reference', 'deprecations.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| PCP_DEP'))
  expect(rows).toEqual(
    Object.entries(DEPRECATIONS).map(
      ([code, { old, replacement, entry, since, removedIn }]) =>
        `| ${code} | \`${old}\` | \`${replacement}\` | \`${entry}\` | ${since} | ${removedIn} |`,
    ),
  )
})

test('a warning is one of Node, with a code, once for each name', async () => {
  const { warnDeprecated } = await import('../../src/base/deprecated.ts')
  const warning = once(process, 'warning')
  warnDeprecated('PCP_DEP0001')
  const [error] = (await warning) as [Error & { code: string }]
  expect([error.name, error.code, error.message]).toEqual([
    'DeprecationWarning',
    'PCP_DEP0001',
    'MetricSpec.ahead of pcp-ts/pmda is deprecated and will be removed in 0.2: use MetricSpec.prefetch',
  ])
  const found = codes()
  warnDeprecated('PCP_DEP0001')
  warnDeprecated('PCP_DEP0002')
  warnDeprecated('PCP_DEP0002')
  expect(found).toEqual(['PCP_DEP0002'])
})

test('an agent with the old names of fields works', async () => {
  const { defineAgent, openAgent } = await import('../../src/pmda/index.ts')
  const { LABEL_INSTANCES, LABEL_ITEM } = await import('../../src/model/labels.ts')
  const { ASK } = await import('../lib/agent-catalogue.ts')
  const found = codes()
  const called: string[] = []
  const indom = {
    serial: 1,
    instances: { red: 1 },
    help: 'Colours',
    instanceNotes: () => ({ shade: 'dark' }),
  }
  const row = { type: '32', sem: 'instant', units: 'none', help: 'Old' } as const
  const agent = openAgent(
    defineAgent({
      name: 'old',
      domain: 400,
      metrics: {
        'old.value': {
          ...row,
          item: 0,
          indom,
          notes: { made: 'here' },
          ahead: async () => void called.push('ahead'),
          storesToOwn: true,
          store: () => void called.push('store'),
          value: () => 3,
        },
        'old.hidden': { ...row, item: 1, isShown: () => false, value: () => 4 },
      },
    }),
  )
  const ids = (await agent.lookupNames(['old.value', 'old.hidden'], ASK)).map(Number)
  const { sets } = await agent.fetch(ids, ASK)
  expect(sets.map(({ inst, status }) => (status < 0 ? status : inst.length))).toEqual([1, 0])
  expect(called).toEqual(['ahead'])
  const labels = async (level: number, id: number): Promise<string[]> =>
    (await agent.labels({ level, id }, ASK)).map(({ json }) => json)
  expect(await labels(LABEL_ITEM, ids[0]!)).toEqual(['{"made":"here"}'])
  const [desc] = await agent.descs(ids, ASK)
  expect(await labels(LABEL_INSTANCES, (desc as { indom: number }).indom)).toEqual(['{"shade":"dark"}'])
  expect(found.sort()).toEqual(['PCP_DEP0001', 'PCP_DEP0002', 'PCP_DEP0003', 'PCP_DEP0004', 'PCP_DEP0005'])
  await agent.close()
})

test('present names win over old ones, and do not warn', async () => {
  const { renameFields } = await import('../../src/base/deprecated.ts')
  const found = codes()
  type Options = { readonly size?: number; readonly old?: number }
  const names = { old: ['size', 'PCP_DEP0008'] } as const
  expect(renameFields<Options>({ size: 1 }, names)).toEqual({ size: 1 })
  expect(found).toEqual([])
  expect(renameFields<Options>({ size: 1, old: 2 }, names)).toMatchObject({ size: 1 })
  expect(renameFields<Options>({ old: 2 }, names)).toMatchObject({ size: 2 })
  expect(found).toEqual(['PCP_DEP0008'])
})

test('options of caches and archives, and askService', async () => {
  const { InstanceCache, askService } = await import('../../src/pmda/index.ts')
  const { archiveOutput } = await import('../../src/archive.ts')
  const found = codes()
  const cache = new InstanceCache({ domain: 400, serial: 1, mostInactive: 4 })
  for (let i = 0; i < 20; i++) {
    cache.add(`n${i}`)
    cache.hide(`n${i}`)
  }
  expect(cache.sizes.inactive).toBeLessThanOrEqual(4)
  archiveOutput('unused', { collect: 10 })
  await expect(askService({ path: '/nonexistent/socket' }, '')).rejects.toMatchObject({ code: 'ENOENT' })
  expect(found).toEqual(['PCP_DEP0006', 'PCP_DEP0008', 'PCP_DEP0007'])
})
