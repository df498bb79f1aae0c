/** An agent with a metric of every kind; values depend on the number of fetches. */
import { PcpError } from '../../src/model/errors.ts'
import { encodeEvents } from '../../src/model/events.ts'
import { pmid } from '../../src/model/ids.ts'
import { PM_TYPE_64, PM_TYPE_AGGREGATE, PM_TYPE_EVENT, PM_TYPE_STRING } from '../../src/model/types.ts'
import type { IndomSpec, MetricSpec } from '../../src/pmda/define.ts'
import { type AgentDefinition, defineAgent } from '../../src/pmda/define-agent.ts'

const DOMAIN = 250

/** Two seconds of event records: one with parameters, one that reports three lost records. */
const RECORDS: Uint8Array = encodeEvents(PM_TYPE_EVENT, [
  {
    timestamp: { sec: 3661, nsec: 250_000_000 },
    flags: 1,
    params: [
      { pmid: pmid(DOMAIN, 0, 10), type: PM_TYPE_STRING, value: 'begin' },
      { pmid: pmid(DOMAIN, 0, 11), type: PM_TYPE_64, value: -5 },
      { pmid: pmid(DOMAIN, 0, 12), type: PM_TYPE_AGGREGATE, value: Uint8Array.of(1, 255) },
    ],
  },
  { timestamp: { sec: 3662, nsec: 0 }, flags: 0x80000000, missed: 3, params: [] },
])

/** The agent. When opened its counters start at 100; they grow by 10 with every fetch. */
export const demoAgent: AgentDefinition = defineAgent({
  name: 'demo',
  domain: DOMAIN,
  open: () => {
    let fetches = 0
    const bins = new Map([
      [1, 10],
      [2, 20],
    ])
    const binIndom: IndomSpec = {
      serial: 1,
      instances: () => ({ ids: [2, 1], names: ['second bin', 'first'] }),
      help: 'Two bins',
      text: 'Their names show blanks.',
      labels: { kind: 'bin' },
      instanceLabels: (inst) => ({ bin: inst }),
    }
    const plain = { type: '32', sem: 'instant', units: 'none', help: 'A metric' } as const
    const param = (item: number, type: MetricSpec['type']): MetricSpec => ({
      ...plain,
      item,
      type,
      value: () => undefined,
    })
    return {
      labels: { role: 'demo' },
      beforeFetch: () => {
        fetches++
      },
      metrics: {
        'demo.one': { ...plain, item: 0, help: 'Always one', text: 'It never changes.', value: () => 1 },
        'demo.big': { ...plain, item: 1, type: 'u64', units: 'byte', value: () => 2n ** 64n - 1n },
        'demo.real': { ...plain, item: 2, type: 'double', value: () => 0.1 },
        'demo.text': { ...plain, item: 3, type: 'string', value: () => 'hello' },
        'demo.none': { ...plain, item: 4, value: () => undefined },
        'demo.broken': { ...plain, item: 5, value: () => new PcpError('PM_ERR_AGAIN') },
        'demo.count': {
          ...plain,
          item: 6,
          type: 'u64',
          sem: 'counter',
          units: 'count',
          value: () => 90 + 10 * fetches,
        },
        'demo.busy': {
          ...plain,
          item: 7,
          type: 'u32',
          sem: 'counter',
          units: 'millisec',
          value: () => fetches * 1000,
        },
        'demo.bin': {
          ...plain,
          item: 8,
          indom: binIndom,
          value: (inst) => bins.get(inst),
          store: (value, inst) => {
            bins.set(inst, Number(value))
          },
        },
        'demo.events': { ...plain, item: 9, type: 'event', value: () => RECORDS },
        'demo.param.text': param(10, 'string'),
        'demo.param.number': param(11, '64'),
        'demo.param.bytes': param(12, 'aggregate'),
      },
    }
  },
})
