/** The xfs agent (domain 11): statistics of XFS file systems, and their project quotas. */
import { writeFileSync } from 'node:fs'
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv, AgentTables, IndomSpec, MetricSpec, Sample } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent, Reading } from '../../pmda/index.ts'
import { rooted } from '../../sys/proc.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import { quotaMetrics } from './quota.ts'
import { XFS_ROWS, type XfsRow } from './rows.ts'
import { readDevices, readSum, type XfsStatistics } from './statistics.ts'

/** The agent for the collector's registry. Environment: XFS_STATSPATH, a further root. */
export const agent: AgentDefinition = defineAgent({ name: 'xfs', domain: 11, open })

const CLUSTER_DEVICES = 18
const RESET_ITEM = 79
const RATIO_ITEM = 78

/** Not counted by the kernel's version of XFS. */
const NOT_COUNTED = new PcpError('PM_ERR_APPVERSION')

function open(env: AgentEnv): AgentTables {
  const root = rooted(env.root, env.env['XFS_STATSPATH'] || '/')
  const sum = new Reading(() => readSum(root))
  const numbers = new InstanceIds()
  const devices = new Reading(
    () => new Map(readDevices(root).map((device) => [numbers.idOf(device.name), device])),
  )
  const indom: IndomSpec = {
    serial: 6,
    reading: devices,
    instances: () => ({
      ids: [...devices.value.keys()],
      names: [...devices.value.values()].map(({ name }) => name),
    }),
    help: 'Devices with a mounted XFS file system',
    text: 'Named as in /dev, or in /dev/mapper for mapped devices. From the directories of /sys/fs/xfs, available since Linux 4.4.',
  }
  const families: readonly Family[] = [
    {
      root: 'xfs',
      whose: 'all XFS file systems together',
      place: (row) => ({ cluster: row.cluster, item: row.item, sem: row.sem ?? 'counter' }),
      from: (statistic) => ({
        reading: sum,
        value: () => (sum.value === undefined ? undefined : statistic(sum.value)),
      }),
    },
    {
      root: 'xfs.perdev',
      whose: 'one XFS file system',
      place: (row) => ({
        cluster: CLUSTER_DEVICES,
        item: row.deviceItem,
        sem: row.deviceSem ?? 'counter',
      }),
      from: (statistic) => ({
        indom,
        reading: devices,
        value: (inst) => {
          const device = devices.value.get(inst)
          return device === undefined ? undefined : statistic(device.statistics)
        },
      }),
    },
  ]
  const metrics: { [name: string]: OrderedRow } = Object.create(null)
  for (const family of families)
    for (const row of XFS_ROWS) {
      metrics[`${family.root}.${row.name}`] = statisticMetric(family, row)
      if (row.name === 'log.blocks') metrics[`${family.root}.log.write_ratio`] = ratioMetric(family)
      if (row.name === 'vnodes.free' && family.root === 'xfs')
        metrics['xfs.control.reset'] = resetMetric(root)
    }
  return { metrics: Object.assign(metrics, quotaMetrics({ root, clock: env.clock, log: env.log })) }
}

/** Scope of the statistics: all file systems, or one. */
interface Family {
  readonly root: 'xfs' | 'xfs.perdev'
  /** 'of ...' */
  readonly whose: string
  readonly place: (row: XfsRow) => Pick<MetricSpec, 'cluster' | 'item' | 'sem'>
  readonly from: (
    statistic: (statistics: XfsStatistics) => Sample,
  ) => Pick<MetricSpec, 'indom' | 'reading' | 'value'>
}

function statisticMetric(family: Family, row: XfsRow): MetricSpec {
  const { row: word, column, type = 'u32', units = 'count', help, text = '' } = row
  return {
    ...family.place(row),
    type,
    units,
    help,
    text: `${text} Of ${family.whose}: number ${column + 1} of the row "${word}" of the kernel's statistics.`.trim(),
    ...family.from((statistics) => {
      const number = statistics.get(word)?.[column]
      if (number === undefined) return NOT_COUNTED
      return units === 'Kbyte' ? Math.floor(Number(number) / 2) : number
    }),
  }
}

/** Average size of log writes. */
function ratioMetric(family: Family): MetricSpec {
  return {
    cluster: family.root === 'xfs' ? 16 : CLUSTER_DEVICES,
    item: RATIO_ITEM,
    type: 'float',
    sem: 'instant',
    units: 'none',
    help: 'Average size of a log write in blocks of 512 bytes, since the module was loaded',
    text: `The quotient of log.blocks and log.writes of ${family.whose}; 0 when nothing was written.`,
    ...family.from((statistics) => {
      const [writes, blocks] = statistics.get('log') ?? []
      if (writes === undefined || blocks === undefined) return NOT_COUNTED
      return Number(writes) === 0 ? 0 : Number(blocks) / Number(writes)
    }),
  }
}

/** Storing here resets the counters. */
function resetMetric(root: string): MetricSpec {
  return {
    cluster: 16,
    item: RESET_ITEM,
    type: 'u32',
    sem: 'discrete',
    units: 'none',
    help: 'Store any value to reset all XFS statistics to 0',
    text: 'Writes 1 into /proc/sys/fs/xfs/stats_clear, which only root may. The value is always 0.',
    value: () => 0,
    isControl: true,
    store: () => writeFileSync(rooted(root, '/proc/sys/fs/xfs/stats_clear'), '1\n'),
  }
}
