/** An agent with features of the toolkit besides tables: test/interop/toolkit-agent.test.ts */
import {
  type AgentDefinition,
  type AgentTables,
  defineAgent,
  EventQueue,
  type IndomSpec,
  InstanceCache,
  type MetricSpec,
  PM_EVENT_FLAG_POINT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  pmid,
} from '../../../src/pmda/index.ts'

/** The agent, for runDaemon. `--instances a,b` sets its instances, `--cache DIR` the directory of their numbers. */
export const agent: AgentDefinition = defineAgent({
  name: 'toolkit',
  domain: 471,
  options: [
    { short: 'n', long: 'instances', arg: 'LIST', help: 'Instances there are, separated by commas' },
    { short: 'c', long: 'cache', arg: 'DIR', help: 'Directory of saved instances' },
  ],
  open: ({ domain, options, log, clock, replaceTables }) => {
    const cache = new InstanceCache<number>({ domain, serial: 3, dir: String(options['cache']), log, clock })
    cache.load()
    for (const name of String(options['instances']).split(',')) cache.add(name, name.length)
    cache.save()
    const members: IndomSpec = {
      serial: 3,
      instances: () => cache.list(),
      help: 'Members',
      labels: { kind: 'member' },
      instanceLabels: (inst) => ({ number: inst }),
    }
    const queueOf = (type: 'event' | 'highres-event'): EventQueue<number> =>
      new EventQueue<number>({
        name: type,
        type,
        maxBytes: 1000,
        sizeOf: () => 4,
        decode: (count, timestamp) => ({
          timestamp,
          flags: PM_EVENT_FLAG_POINT,
          params: [
            { pmid: pmid(domain, 1, 2), type: PM_TYPE_U32, value: count },
            { pmid: pmid(domain, 1, 3), type: PM_TYPE_STRING, value: `event ${count}` },
          ],
        }),
      })
    const queues = [queueOf('event'), queueOf('highres-event')] as const
    let fetches = 0
    let dynamic = 1
    const row = { sem: 'instant', units: 'none' } as const
    const tables = (): AgentTables => {
      const metrics: Record<string, MetricSpec> = {
        'toolkit.size': {
          ...row,
          item: 0,
          type: 'u32',
          indom: members,
          help: 'Length of a name',
          labels: { what: 'size' },
          optionalLabels: { note: true },
          value: (inst) => cache.get(inst)?.data,
        },
        'toolkit.count': {
          ...row,
          item: 1,
          type: 'u32',
          help: 'How many dynamic metrics there are; can be stored',
          value: () => dynamic,
          store: (value) => {
            dynamic = Number(value)
            replaceTables(tables())
          },
        },
        'toolkit.unsupported': {
          ...row,
          item: 2,
          type: 'nosupport',
          help: 'Not here',
          value: () => undefined,
        },
        'toolkit.events': {
          ...row,
          cluster: 1,
          item: 0,
          type: 'event',
          help: 'One event each fetch',
          value: (_, ask) => queues[0].records(ask),
        },
        'toolkit.highres': {
          ...row,
          cluster: 1,
          item: 1,
          type: 'highres-event',
          help: 'One event each fetch',
          value: (_, ask) => queues[1].records(ask),
        },
        'toolkit.number': {
          ...row,
          cluster: 1,
          item: 2,
          type: 'u32',
          help: 'Number',
          value: () => undefined,
        },
        'toolkit.text': { ...row, cluster: 1, item: 3, type: 'string', help: 'Text', value: () => undefined },
      }
      for (let i = 0; i < dynamic; i++)
        metrics[`toolkit.dyn.m${i}`] = {
          ...row,
          cluster: 2,
          item: i,
          type: 'u32',
          help: `Dynamic metric ${i}`,
          value: () => 100 + i,
        }
      return {
        metrics,
        dynamicRoots: ['toolkit.dyn'],
        labels: { role: 'testing' },
        clusterLabels: { 1: { what: 'events' } },
        beforeFetch: () => {
          fetches++
          for (const queue of queues) queue.append(fetches, { sec: 1_700_000_000, nsec: 123_456_000 })
        },
        endClient: (client) => {
          for (const queue of queues) queue.endClient(client)
        },
      }
    }
    return tables()
  },
})
