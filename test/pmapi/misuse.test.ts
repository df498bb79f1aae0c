/** Nonsensical requests are refused with an error, and not mistaken for a missing value. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLocal } from '../../src/local.ts'
import { MmvWriter } from '../../src/mmv/index.ts'
import { pmid } from '../../src/model/ids.ts'
import { type Columns, type Context, known } from '../../src/pmapi/index.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'

const loads = { serial: 0, instances: { '1 minute': 1, '5 minute': 5 }, help: 'Averages' }
const row = { type: 'u32', sem: 'instant', units: 'none', help: 'A number', value: () => 1 } as const
const agent = defineAgent({
  name: 'misuse',
  domain: 400,
  metrics: { 'misuse.one': { ...row, item: 0 }, 'misuse.load': { ...row, item: 1, indom: loads } },
})

let pcp: Context
beforeEach(async () => {
  pcp = await openLocal({ agents: [agent], env: { PCP_DERIVED_CONFIG: '' } })
})
afterEach(() => pcp.close())

/** Returns the first row of a table. */
async function table(columns: Columns): Promise<unknown> {
  for await (const { values } of pcp.table(columns, { count: 1 })) return values
  return undefined
}

test('a value with a missing or unexpected instance', async () => {
  const row = await pcp.values(['misuse.one', 'misuse.load'])
  expect(row.value('misuse.load', '5 minute')).toBe(1)
  expect(row.value('misuse.load', 'gone')).toBeUndefined()
  expect(() => row.value('misuse.load')).toThrow(expect.objectContaining({ code: 'PM_ERR_INDOM' }))
  expect(() => row.value('misuse.load')).toThrow('"misuse.load" has instances: name one')
  expect(() => row.value('misuse.one', 'x')).toThrow('"misuse.one" has no instances: leave "x" out')
})

test('columns: a string may name an instance with a blank, and nothing is silently ignored', async () => {
  expect(await table({ load: 'misuse.load[5 minute]' })).toEqual({ load: 1 })
  expect(await table({ load: 'misuse.load["5 minute"]' })).toEqual({ load: 1 })
  const refused = (columns: Columns): Promise<unknown> =>
    table(columns).catch(({ code }: { code: string }) => code)
  expect(await refused({ load: 'misuse.load[1 minute,5 minute]' })).toBe('PM_ERR_ARG')
  expect(await refused({ load: 'misuse.load' })).toBe('PM_ERR_INDOM')
  expect(await refused({ one: { metric: 'misuse.one', instances: 'all' } })).toBe('PM_ERR_INDOM')
  expect(await refused({ load: { metric: 'misuse.load', instance: '5', instances: 'all' } })).toBe(
    'PM_ERR_ARG',
  )
})

test('a context of known metrics closes the underlying context', async () => {
  const metrics = {
    'misuse.one': { pmid: pmid(400, 0, 0), type: 'u32', sem: 'instant', hasInstances: false, units: '' },
  } as const
  {
    await using its = await known(pcp, metrics)
    expect((await its.values(['misuse.one'])).value('misuse.one')).toBe(1)
  }
  await expect(pcp.children()).rejects.toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
})

test('a counter refuses negative increments', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pcp-ts-misuse-'))
  const writer = new MmvWriter('misuse', { directory })
  const counter = writer.counter('count')
  for (const amount of [-1, Number.NaN])
    expect(() => counter.add(amount)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  counter.add(2)
  expect(counter.value).toBe(2)
  writer.close()
  rmSync(directory, { recursive: true })
})
