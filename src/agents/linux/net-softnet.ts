/** network.softnet: processing of received frames before the protocols. /proc/net/softnet_stat */
import type { Scanner } from '../../base/scan.ts'
import type { Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** Columns of counters, in the order of the metrics' items. */
const COLUMNS = [0, 1, 2, 8, 9, 10] as const
/** Column with the number of the CPU; without it rows are for the online CPUs in order. */
const CPU_COLUMN = 12
const MAX_COLUMNS = 16

type CounterRow = readonly [name: string, help: string, text?: string]

const COUNTERS: readonly CounterRow[] = [
  ['processed', "Frames taken from devices' queues for the protocols"],
  ['dropped', 'Frames dropped because the input queue was full (net.core.netdev_max_backlog)'],
  ['time_squeeze', 'Times work was put off because the time or the number of frames allowed was used up'],
  [
    'cpu_collision',
    'Times sending waited because another CPU had locked the device',
    'Newer kernels leave it at 0.',
  ],
  ['received_rps', 'Wake-ups by another processor that spreads received frames (receive packet steering)'],
  ['flow_limit_count', 'Frames dropped because one flow took too large a part of the input queue'],
]

/** Rows of the file: an array of counters for each CPU, in `COUNTERS` order; undefined for missing columns. */
export type SoftNet = ReadonlyMap<number, readonly (number | undefined)[]>

/** Parses the file. `online` lists the CPUs, for kernels whose rows have no CPU number. */
export function parseSoftNet(scan: Scanner, online: () => readonly number[]): SoftNet {
  const rows = new Map<number, readonly (number | undefined)[]>()
  for (let place = 0; !scan.atEnd; place++) {
    const columns: number[] = []
    while (!scan.atLineEnd && columns.length < MAX_COLUMNS) {
      const value = scan.hex()
      if (Number.isNaN(value)) break
      columns.push(value)
    }
    const cpu = columns[CPU_COLUMN] ?? online()[place]
    if (cpu !== undefined && columns.length > 0)
      rows.set(
        cpu,
        COLUMNS.map((column) => columns[column]),
      )
    scan.nextLine()
  }
  return rows
}

/** The metrics of /proc/net/softnet_stat (cluster 57). */
export function softNetMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const online = (): readonly number[] => {
    ctx.stat.refresh(undefined)
    return ctx.stat.value.ids
  }
  const reading = new Reading(() => parseSoftNet(ctx.file('/proc/net/softnet_stat').scan(), online))
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [i, [name, help, text]] of COUNTERS.entries()) {
    const column = `Column ${COLUMNS[i]} of /proc/net/softnet_stat, counted from 0. The kernel keeps 32 bits of it for each processor.`
    const source = text === undefined ? column : `${column} ${text}`
    const common = { cluster: 57, type: 'u64', sem: 'counter', units: 'count', reading } as const
    metrics[`network.softnet.${name}`] = {
      ...common,
      item: i,
      help: `${help}, all processors together`,
      text: `${source} The sum over the rows.`,
      value: () => total(reading.value, i),
    }
    metrics[`network.softnet.percpu.${name}`] = {
      ...common,
      item: i + COUNTERS.length,
      indom: ctx.cpus,
      help: `${help}, on each processor`,
      text: source,
      value: (cpu) => reading.value.get(cpu)?.[i],
    }
  }
  return metrics
}

function total(rows: SoftNet, i: number): Sample {
  let sum: number | undefined
  for (const row of rows.values()) {
    const value = row[i]
    if (value !== undefined) sum = (sum ?? 0) + value
  }
  return sum
}
