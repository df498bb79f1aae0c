/** CPU times of the machine, of each CPU and of each NUMA node. /proc/stat */
import type { MetricSpec } from '../../pmda/define.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import {
  CPU_COLUMNS,
  GUEST,
  GUEST_NICE,
  IDLE,
  IRQ,
  NICE,
  SOFTIRQ,
  STEAL,
  SYS,
  USER,
  WAIT,
} from './proc-stat.ts'
import { orUnsupported } from './sample.ts'

/** Name below `cpu`; items of kernel.all, kernel.percpu and kernel.pernode; ticks from columns at `o`; help texts. */
type Row = readonly [
  name: string,
  all: number,
  perCpu: number,
  perNode: number,
  ticks: (t: Float64Array, o: number) => number,
  what: string,
  column: string,
]

const ROWS: readonly Row[] = [
  [
    'user',
    20,
    0,
    62,
    (t, o) => t[o + USER]!,
    'ordinary user code ran, guests of virtual machines included',
    'user',
  ],
  [
    'nice',
    21,
    1,
    63,
    (t, o) => t[o + NICE]!,
    'user code with a lowered priority ran, guests included',
    'nice',
  ],
  ['sys', 22, 2, 64, (t, o) => t[o + SYS]!, 'the kernel worked for processes', 'system'],
  ['idle', 23, 3, 65, (t, o) => t[o + IDLE]!, 'nothing was runnable and no disk request was awaited', 'idle'],
  [
    'intr',
    34,
    31,
    66,
    (t, o) => t[o + IRQ]! + t[o + SOFTIRQ]!,
    'interrupts were served, in hardware handlers and deferred work together',
    'irq plus softirq',
  ],
  ['steal', 55, 58, 67, (t, o) => t[o + STEAL]!, 'the hypervisor ran another guest (steal)', 'steal'],
  ['guest', 60, 61, 68, (t, o) => t[o + GUEST]!, 'virtual CPUs of guests ran at normal priority', 'guest'],
  [
    'vuser',
    78,
    76,
    77,
    (t, o) => t[o + USER]! - t[o + GUEST]!,
    'ordinary user code of this host ran, guests of virtual machines left out',
    'user minus guest',
  ],
  [
    'guest_nice',
    81,
    83,
    85,
    (t, o) => t[o + GUEST_NICE]!,
    'virtual CPUs of guests ran at a lowered priority',
    'guest_nice',
  ],
  [
    'vnice',
    82,
    84,
    86,
    (t, o) => t[o + NICE]! - t[o + GUEST_NICE]!,
    'user code of this host with a lowered priority ran, guests left out',
    'nice minus guest_nice',
  ],
  [
    'wait.total',
    35,
    30,
    69,
    (t, o) => t[o + WAIT]!,
    'the CPU was idle while a disk request was outstanding',
    'iowait',
  ],
  ['irq.soft', 53, 56, 70, (t, o) => t[o + SOFTIRQ]!, 'deferred interrupt work (softirqs) ran', 'softirq'],
  ['irq.hard', 54, 57, 71, (t, o) => t[o + IRQ]!, 'hardware interrupt handlers ran', 'irq'],
]

/** kernel.all.cpu, kernel.percpu.cpu and kernel.pernode.cpu. */
export function cpuMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const { stat, topology, cpus, hertz } = ctx
  const metrics: { [name: string]: OrderedRow } = {}
  const millis = (ticks: number): number => Math.floor((ticks * 1000) / hertz)

  for (const [name, all, perCpu, perNode, ticks, what, column] of ROWS) {
    const metric = (item: number, where: string, lines: string): Omit<MetricSpec, 'value'> => ({
      item,
      type: 'u64',
      sem: 'counter',
      units: 'millisec',
      help: `Time in which ${what}, ${where}`,
      text: explain(column, lines, name),
      reading: stat,
    })
    metrics[`kernel.all.cpu.${name}`] = {
      labels: { device_type: 'cpu' },
      value: () => orUnsupported(millis(ticks(stat.value.all, 0))),
      ...metric(all, 'summed over all CPUs', 'the line cpu'),
    }
    metrics[`kernel.percpu.cpu.${name}`] = {
      indom: cpus,
      value: (inst) => orUnsupported(millis(ticks(stat.value.perCpu, inst * CPU_COLUMNS))),
      ...metric(perCpu, 'for each CPU', "the CPU's own line"),
    }
    metrics[`kernel.pernode.cpu.${name}`] = {
      indom: ctx.nodes,
      labels: { device_type: ['numa_node', 'cpu'] },
      value: (inst) => {
        const { ids, perCpu: table } = stat.value
        let sum = ids.length === 0 ? Number.NaN : 0
        const { nodeOf } = topology.value
        for (const id of ids) if (nodeOf(id) === inst) sum += ticks(table, id * CPU_COLUMNS)
        return orUnsupported(millis(sum))
      },
      ...metric(perNode, 'for each NUMA node', "the lines of the node's CPUs that are online, added up"),
    }
  }
  metrics['hinv.ncpu'] = {
    after: 'pagesize',
    item: 32,
    type: 'u32',
    sem: 'discrete',
    units: 'none',
    help: 'Number of online processors, counting hardware threads',
    text: 'The number of cpuN lines in /proc/stat. Offline processors are not counted.',
    reading: stat,
    value: () => stat.value.ids.length || undefined,
  }
  metrics['hinv.nnode'] = {
    after: 'ninterface',
    item: 19,
    type: 'u32',
    sem: 'discrete',
    units: 'none',
    help: 'Number of NUMA nodes; 1 on a machine without NUMA',
    text: 'The number of nodeN directories in /sys/devices/system/node, at least 1.',
    reading: topology,
    value: () => topology.value.nodes.length,
  }
  return metrics
}

function explain(column: string, lines: string, name: string): string {
  const wait =
    name === 'wait.total'
      ? ' The kernel only estimates this time, which may decrease slightly; decreases of less than 100 ticks are hidden.'
      : ''
  return (
    `Column ${column} of /proc/stat, ${lines}, converted from clock ticks to milliseconds. ` +
    `As a rate it is the share of one CPU: 1000 milliseconds per second is one CPU fully busy.${wait}`
  )
}
