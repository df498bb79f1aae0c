/** Cost of a fetch in the agent toolkit, without reading files. */
import { bench, run } from 'mitata'
import { indom, pmid } from '../../src/model/ids.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import type { IndomSpec, MetricSpec } from '../../src/pmda/define.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { Reading } from '../../src/pmda/reading.ts'

const counters = new Reading(() => ({ small: 7, large: 2 ** 40 }))
const disks: IndomSpec = {
  serial: 1,
  reading: counters,
  instances: () => ({ ids: [0, 1, 2, 3], names: ['sda', 'sdb', 'sdc', 'sdd'] }),
  help: 'Four disks',
}
const common = { sem: 'counter', units: 'count', help: 'Something', reading: counters } as const
const metrics: { readonly [name: string]: MetricSpec } = {
  'b.u32': { ...common, item: 0, type: 'u32', value: () => counters.value.small },
  'b.u64': { ...common, item: 1, type: 'u64', value: () => counters.value.large },
  'b.double': { ...common, item: 2, type: 'double', value: () => 0.5 },
  'b.string': { ...common, item: 3, type: 'string', value: () => 'Linux' },
  'b.disk': { ...common, item: 4, type: 'u64', indom: disks, value: (inst) => counters.value.large + inst },
}
const agent = openAgent(defineAgent({ name: 'bench', domain: 9, metrics }), { clock: () => 0 })
const ask = { requester: ANONYMOUS }
const one = [pmid(9, 0, 0)]
const five = [0, 1, 2, 3, 4].map((item) => pmid(9, 0, item))
const thousand = Array.from({ length: 1000 }, () => pmid(9, 0, 4))

bench('1 metric, u32', async () => agent.fetch(one, ask))
bench('5 metrics of all kinds, 8 values', async () => agent.fetch(five, ask))
bench('1000 metrics, 4000 u64 values', async () => agent.fetch(thousand, ask))
bench('instances by name', async () => agent.instances(indom(9, 1), { name: 'sdd' }, ask))
await run()
