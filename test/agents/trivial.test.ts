import { expect, test } from 'vitest'
import { agent as definition } from '../../src/agents/trivial/index.ts'
import { pmid } from '../../src/model/ids.ts'
import { LABEL_DOMAIN } from '../../src/model/labels.ts'
import { PM_TYPE_U64 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { ASK, assertCatalogue, assertHelp, readCatalogue } from '../lib/agent-catalogue.ts'

const TIME = pmid(250, 0, 0)
const agent = openAgent(definition, { clock: () => 1_700_000_000_999 })

test('has the metric of the catalogue', async () => {
  await assertCatalogue(agent, readCatalogue('trivial'))
  await assertHelp(agent)
})

test('returns the time', async () => {
  const { sets } = await agent.fetch([TIME], ASK)
  expect(valuesOf(sets[0]!, PM_TYPE_U64).map(({ value }) => value)).toEqual([1_700_000_000])
})

test('stores nothing', async () => {
  await expect(agent.store([makeSingular(TIME, PM_TYPE_U64, 1)], ASK)).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
  })
})

test('has no labels, not even its name', async () => {
  expect(await agent.labels({ level: LABEL_DOMAIN, id: 250 }, ASK)).toEqual([])
})
