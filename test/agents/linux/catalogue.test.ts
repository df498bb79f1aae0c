/** Names, PMIDs, types, semantics, units and help of the linux agent. */
import { afterAll, expect, test } from 'vitest'
import { indom, pmid } from '../../../src/model/ids.ts'
import { LABEL_DOMAIN, LABEL_INDOM, LABEL_INSTANCES, LABEL_ITEM } from '../../../src/model/labels.ts'
import {
  ASK,
  assertCatalogue,
  assertHelp,
  assertNameOrder,
  readCatalogue,
} from '../../lib/agent-catalogue.ts'
import { openFixture } from '../../lib/linux-agent.ts'

const agent = openFixture('server')
afterAll(() => agent.close())

test('describes every metric as the catalogue of PCP 6.0.3 does', async () => {
  await assertCatalogue(agent, readCatalogue('linux'))
})

test('has its names in the order of the name space of PCP', () => {
  assertNameOrder(agent, readCatalogue('linux'))
})

test('explains every metric and instance domain', async () => {
  await assertHelp(agent)
})

/** Label sets as objects, empty ones left out. */
async function labels(level: number, id: number): Promise<unknown[]> {
  const sets = await agent.labels({ level, id }, ASK)
  return sets.filter(({ json }) => json !== '').map(({ json }) => JSON.parse(json) as unknown)
}

test('labels the domain, CPUs, nodes, disks, interrupts and swap devices', async () => {
  expect(await labels(LABEL_DOMAIN, 60)).toEqual([{ agent: 'linux' }])
  expect(await labels(LABEL_INDOM, indom(60, 0))).toEqual([{ device_type: 'cpu', indom_name: 'per cpu' }])
  expect(await labels(LABEL_INDOM, indom(60, 1))).toEqual([{ device_type: 'block', indom_name: 'per disk' }])
  expect(await labels(LABEL_INDOM, indom(60, 10))).toEqual([
    { device_type: 'block', indom_name: 'per partition' },
  ])
  expect(await labels(LABEL_INDOM, indom(60, 40))).toEqual([
    { device_type: ['irq', 'cpu'], indom_name: 'per cpu, per irq' },
  ])
  expect(await labels(LABEL_INDOM, indom(60, 6))).toEqual([
    { device_type: ['block', 'memory'], indom_name: 'per swap device' },
  ])
  expect(await labels(LABEL_ITEM, pmid(60, 0, 20))).toEqual([{ device_type: 'cpu' }])
  expect(await labels(LABEL_ITEM, pmid(60, 0, 62))).toEqual([{ device_type: ['numa_node', 'cpu'] }])
})

test('labels instances with what they are', async () => {
  expect((await labels(LABEL_INSTANCES, indom(60, 0)))[3]).toEqual({ cpu: 3 })
  expect(await labels(LABEL_INSTANCES, indom(60, 19))).toEqual([{ numa_node: 0 }, { numa_node: 1 }])
  expect((await labels(LABEL_INSTANCES, indom(60, 1)))[0]).toEqual({ device_name: 'sda' })
  expect((await labels(LABEL_INSTANCES, indom(60, 24)))[0]).toEqual({ device_name: 'vg-root' })
  expect((await labels(LABEL_INSTANCES, indom(60, 4)))[0]).toEqual({
    irq: '0',
    irqtext: 'IO-APIC 2-edge timer',
  })
  expect((await labels(LABEL_INSTANCES, indom(60, 40)))[1]).toEqual({
    cpu: 1,
    irq: '0',
    irqtext: 'IO-APIC 2-edge timer',
  })
  expect((await labels(LABEL_INSTANCES, indom(60, 41)))[9]).toEqual({ cpu: 1, softirq: 'TIMER' })
})
