import { expect, test } from 'vitest'
import { indom, pmid } from '../../src/model/ids.ts'
import { mergeLabelSets } from '../../src/model/label-set.ts'
import { Context } from '../../src/pmapi/context.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'

const DOMAIN = 251
const agent = defineAgent({
  name: 'labelled',
  domain: DOMAIN,
  labels: { role: 'test' },
  clusterLabels: { 3: { cluster: 'three' } },
  metrics: {
    'labelled.slots': {
      cluster: 3,
      item: 1,
      type: 'u32',
      sem: 'instant',
      units: 'none',
      help: 'Slots',
      labels: { item: 'slots' },
      indom: {
        serial: 7,
        instances: () => ({ ids: [4, 9], names: ['four', 'nine'] }),
        help: 'Slots',
        labels: { kind: 'slot' },
        instanceLabels: (inst: number) => ({ slot: inst }),
      },
      value: (inst: number) => inst,
    },
  },
})
const id = pmid(DOMAIN, 3, 1)
const slots = indom(DOMAIN, 7)

const json = (sets: readonly { readonly json: string }[]): string[] => sets.map((set) => set.json)

test('each level has its own labels', async () => {
  const context = Context.over(openAgent(agent))
  expect(json(await context.domainLabels(DOMAIN))).toEqual(['{"role":"test"}'])
  expect(json(await context.indomLabels(slots))).toEqual(['{"kind":"slot"}'])
  expect(json(await context.clusterLabels(id))).toEqual(['{"cluster":"three"}'])
  expect(json(await context.itemLabels(id))).toEqual(['{"item":"slots"}'])
  const instances = await context.instancesLabels(slots)
  expect(instances.map(({ inst }) => inst)).toEqual([4, 9])
  expect(json(instances)).toEqual(['{"slot":4}', '{"slot":9}'])
  expect(json(await context.contextLabels())).toEqual([])
})

test('a metric has the labels of all levels except instances, the weakest first', async () => {
  const context = Context.over(openAgent(agent))
  const sets = await context.labelsFor(id)
  expect(json(sets)).toEqual([
    '{"role":"test"}',
    '{"kind":"slot"}',
    '{"cluster":"three"}',
    '{"item":"slots"}',
  ])
  const [first] = await context.instancesLabels(slots)
  expect(mergeLabelSets([...sets, first!]).json).toBe(
    '{"cluster":"three","item":"slots","kind":"slot","role":"test","slot":4}',
  )
})
