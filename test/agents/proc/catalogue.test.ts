/** Names, PMIDs, types, semantics, units, help and labels of the proc agent. */
import { afterAll, expect, test } from 'vitest'
import { indom } from '../../../src/model/ids.ts'
import { LABEL_DOMAIN, LABEL_INDOM } from '../../../src/model/labels.ts'
import {
  ASK,
  assertCatalogue,
  assertHelp,
  assertNameOrder,
  readCatalogue,
} from '../../lib/agent-catalogue.ts'
import { openProc } from '../../lib/proc-agent.ts'

const agent = openProc('v1')
afterAll(() => agent.close())

test('describes every metric as the catalogue of PCP 6.0.3 does', async () => {
  await assertCatalogue(agent, readCatalogue('proc'))
})

test('has its names in the order of the name space of PCP', () => {
  assertNameOrder(agent, readCatalogue('proc'))
})

test('explains every metric and instance domain', async () => {
  await assertHelp(agent)
})

test('labels the domain and what control groups are about', async () => {
  const labels = async (level: number, id: number): Promise<unknown> => {
    const [set] = await agent.labels({ level, id }, ASK)
    return set === undefined ? undefined : JSON.parse(set.json)
  }
  expect(await labels(LABEL_DOMAIN, 3)).toEqual({ agent: 'proc' })
  const devices: Record<number, string | undefined> = {
    9: undefined,
    16: undefined,
    17: 'block',
    20: 'cpu',
    21: 'cpu',
    22: 'cpu',
    23: 'cpu',
    24: 'memory',
    25: 'interface',
    26: 'block',
    27: 'block',
    37: undefined,
    38: undefined,
  }
  for (const [serial, device] of Object.entries(devices))
    expect(await labels(LABEL_INDOM, indom(3, Number(serial)))).toEqual(
      device === undefined ? undefined : { device_type: device },
    )
})
