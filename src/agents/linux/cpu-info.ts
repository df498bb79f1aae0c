/** hinv.cpu, hinv.map.cpu_num, hinv.map.cpu_node and hinv.node: the processors. /proc/cpuinfo, /sys/devices/system */
import type { MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { parseCpuList } from '../../sys/cpu-list.ts'
import { ParsedFile } from '../../sys/proc.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** The lines of one processor in /proc/cpuinfo, with names in lower case. */
export type CpuFacts = ReadonlyMap<string, string>

/** Parses paragraphs of `name : value`, each starting with the processor's number; text before the first is ignored. */
export function parseCpuinfo(text: string): ReadonlyMap<number, CpuFacts> {
  const cpus = new Map<number, CpuFacts>()
  let facts: Map<string, string> | undefined
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (name === 'processor' && /^\d+$/.test(value)) {
      facts = new Map()
      cpus.set(Number(value), facts)
    }
    facts?.set(name, value)
  }
  return cpus
}

/** Speeds of a CPU in MHz. */
export interface Scaling {
  /** Sum over all speeds of MHz times the ticks spent at it; without statistics the current speed. */
  readonly count: number | undefined
  /** Ticks covered by statistics. */
  readonly time: number | undefined
  readonly max: number | undefined
  readonly min: number | undefined
}

/** Parses stats/time_in_state, lines of a speed in kHz and the ticks spent at it. Undefined if it has none. */
export function parseTimeInState(text: string): Scaling | undefined {
  let count = 0
  let time = 0
  let max = 0
  let min = Number.POSITIVE_INFINITY
  for (const match of text.matchAll(/^(\d+)\s+(\d+)$/gm)) {
    const mhz = Math.floor(Number(match[1]) / 1000)
    const ticks = Number(match[2])
    count += mhz * ticks
    time += ticks
    max = Math.max(max, mhz)
    min = Math.min(min, mhz)
  }
  return max === 0 ? undefined : { count, time, max, min }
}

const CPU_DIR = '/sys/devices/system/cpu'

type FactRow = readonly [
  name: string,
  item: number,
  type: MetricSpec['type'],
  units: string,
  fact: readonly string[],
  help: string,
  text: string,
  own?: Partial<OrderedRow>,
]

const FACT_ROWS: readonly FactRow[] = [
  [
    'vendor',
    1,
    'string',
    'none',
    ['vendor_id'],
    'Manufacturer of each processor, as reported by the processor',
    'GenuineIntel, AuthenticAMD... Architectures without such a line have no value.',
  ],
  [
    'model',
    2,
    'string',
    'none',
    ['model'],
    'Model number of each processor within its family',
    'A number in text form. The trade name is hinv.cpu.model_name.',
  ],
  [
    'stepping',
    3,
    'string',
    'none',
    ['stepping'],
    'Revision of the silicon of each processor',
    'Errata lists refer to it.',
  ],
  [
    'cache',
    4,
    'u32',
    'Kbyte',
    ['cache size'],
    'Size of the largest cache of each processor',
    'Often shared by several processors, each of which reports the full size.',
  ],
  [
    'bogomips',
    5,
    'float',
    'none',
    ['bogomips'],
    'BogoMIPS: million empty loops per second, calculated for each processor at boot',
    'Used for short delays; useless to compare processors.',
  ],
  [
    'model_name',
    9,
    'string',
    'none',
    ['model name'],
    'Trade name of each processor',
    'As reported by the processor.',
  ],
  [
    'flags',
    10,
    'string',
    'none',
    ['flags', 'features'],
    'Features of each processor known to the kernel, separated by spaces',
    'Such as sse4_2 or avx512f; documented in the kernel sources.',
  ],
  [
    'cache_alignment',
    11,
    'u32',
    'none',
    ['cache_alignment'],
    'Bytes to which data should be aligned so that it does not share a cache line',
    'Usually the length of a cache line.',
  ],
]

/** The metrics of /proc/cpuinfo (cluster 18, hinv.machine apart) and of CPUs and nodes in sysfs (cluster 55). */
export function cpuInfoMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const facts = new ParsedFile(ctx.file('/proc/cpuinfo'), parseCpuinfo)
  const cpuinfo = new Reading(() => facts.read())
  const perCpu = { sem: 'discrete', indom: ctx.cpus } as const
  const metrics: { [name: string]: OrderedRow } = {}

  metrics['hinv.cpu.clock'] = {
    ...perCpu,
    cluster: 18,
    item: 0,
    type: 'float',
    units: '/ microsec',
    help: 'Current clock rate of each processor, in MHz',
    text: `Line cpu MHz of /proc/cpuinfo, else ${CPU_DIR}/cpuN/cpufreq/scaling_cur_freq. It changes with load and temperature.`,
    reading: cpuinfo,
    value: (inst) => {
      const mhz = cpuinfo.value.get(inst)?.get('cpu mhz')
      return mhz === undefined ? frequency(ctx, inst, 'scaling_cur_freq') : leadingNumber(mhz)
    },
  }
  for (const [name, item, type, units, words, help, text, own] of FACT_ROWS) {
    metrics[`hinv.cpu.${name}`] = {
      ...perCpu,
      cluster: 18,
      item,
      type,
      units,
      help,
      text: `Line ${words.join(' or ')} of /proc/cpuinfo. ${text}`,
      reading: cpuinfo,
      value: (inst) => {
        const cpu = cpuinfo.value.get(inst)
        for (const fact of words) {
          const value = cpu?.get(fact)
          if (value !== undefined) return type === 'string' ? value : leadingNumber(value)
        }
        return undefined
      },
      ...own,
    }
  }
  metrics['hinv.map.cpu_num'] = {
    ...perCpu,
    cluster: 18,
    item: 6,
    type: 'u32',
    units: 'none',
    help: 'Number of each processor in the kernel and in tools such as taskset(1)',
    text: 'The number in the name of the instance.',
    value: (inst) => inst,
  }
  metrics['hinv.map.cpu_node'] = {
    ...perCpu,
    cluster: 18,
    item: 8,
    type: 'u32',
    units: 'none',
    help: 'The NUMA node whose memory is nearest to each processor',
    text: 'From cpulist in /sys/devices/system/node/nodeN; 0 where there is only one node.',
    reading: ctx.topology,
    value: (inst) => ctx.topology.value.nodeOf(inst),
  }
  return { ...metrics, ...onlineMetrics(ctx), ...throttleMetrics(ctx), ...scalingMetrics(ctx) }
}

/** Parses the number at the start of a text: 512 of `512 KB`. */
function leadingNumber(text: string): number | undefined {
  const number = Number.parseFloat(text)
  return Number.isNaN(number) ? undefined : number
}

/** A frequency of cpufreq, in MHz (kHz in the file). */
function frequency(ctx: LinuxContext, cpu: number, file: string): number | undefined {
  const khz = ctx.number(`${CPU_DIR}/cpu${cpu}/cpufreq/${file}`)
  return khz === undefined ? undefined : Math.floor(khz / 1000)
}

function onlineMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const state = { cluster: 55, type: 'u32', sem: 'instant', units: 'none' } as const
  return {
    'hinv.cpu.online': {
      ...state,
      item: 0,
      indom: ctx.cpus,
      help: 'Is each processor online? 1 yes, 0 no',
      text: `The number in ${CPU_DIR}/cpuN/online. A processor without that file cannot be taken offline: 1.`,
      value: (inst) => {
        const path = `${CPU_DIR}/cpu${inst}/online`
        return ctx.attribute(path) === undefined ? 1 : ctx.number(path)
      },
    },
    'hinv.node.online': {
      ...state,
      item: 1,
      indom: ctx.nodes,
      help: 'Is each NUMA node online? 1 yes, 0 no',
      text: 'From the list in /sys/devices/system/node/online. Without that list all nodes are online: 1.',
      value: (inst) => {
        const online = ctx.attribute('/sys/devices/system/node/online')
        return online === undefined || parseCpuList(online).includes(inst) ? 1 : 0
      },
    },
  }
}

type ThrottleRow = readonly [name: string, item: number, units: string, file: string, help: string]

const THROTTLE_ROWS: readonly ThrottleRow[] = [
  [
    'core.count',
    2,
    'count',
    'core_throttle_count',
    'Number of times a core was throttled because of its temperature',
  ],
  [
    'core.time',
    3,
    'millisec',
    'core_throttle_total_time_ms',
    'Time a core was throttled because of its temperature',
  ],
  [
    'package.count',
    4,
    'count',
    'package_throttle_count',
    'Number of times a processor package was throttled because of its temperature',
  ],
  [
    'package.time',
    5,
    'count',
    'package_throttle_total_time_ms',
    'Milliseconds a processor package was throttled because of its temperature',
  ],
]

function throttleMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, units, file, help] of THROTTLE_ROWS) {
    metrics[`hinv.cpu.thermal_throttle.${name}`] = {
      cluster: 55,
      item,
      type: 'u64',
      sem: 'counter',
      units,
      indom: ctx.cpus,
      help,
      text: `The number in ${CPU_DIR}/cpuN/thermal_throttle/${file}, only on Intel processors; all threads of a core or package report the same value.`,
      value: (inst) => ctx.number(`${CPU_DIR}/cpu${inst}/thermal_throttle/${file}`),
    }
  }
  return metrics
}

function scalingMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  /** Four metrics share the files of a processor. */
  const read = new Reading(() => new Map<number, Scaling>())
  const scaling = (cpu: number): Scaling => {
    let found = read.value.get(cpu)
    if (found === undefined) {
      const stats = ctx.attribute(`${CPU_DIR}/cpu${cpu}/cpufreq/stats/time_in_state`)
      found = parseTimeInState(stats ?? '') ?? {
        count: frequency(ctx, cpu, 'scaling_cur_freq'),
        time: undefined,
        max: frequency(ctx, cpu, 'cpuinfo_max_freq'),
        min: frequency(ctx, cpu, 'cpuinfo_min_freq'),
      }
      read.value.set(cpu, found)
    }
    return found
  }
  const from = { cluster: 55, indom: ctx.cpus, reading: read } as const
  const stats = `${CPU_DIR}/cpuN/cpufreq/stats/time_in_state`
  return {
    'hinv.cpu.frequency_scaling.count': {
      ...from,
      item: 6,
      type: 'u64',
      sem: 'counter',
      units: 'count',
      help: 'MHz times the ticks spent at that speed, summed over all speeds of each processor',
      text: `From ${stats}: divided by the time counter it gives the mean MHz. Without statistics it is the current speed, from scaling_cur_freq.`,
      value: (inst) => scaling(inst).count,
    },
    'hinv.cpu.frequency_scaling.time': {
      ...from,
      item: 7,
      type: 'u64',
      sem: 'counter',
      units: 'microsec',
      help: 'Ticks covered by the speed statistics of each processor',
      text: `Sum of the second column of ${stats}, in ticks of 10 milliseconds regardless of the units.`,
      value: (inst) => scaling(inst).time,
    },
    'hinv.cpu.frequency_scaling.max': {
      ...from,
      item: 8,
      type: 'u32',
      sem: 'instant',
      units: '/ microsec',
      help: 'Highest speed of each processor, in MHz',
      text: `The largest speed in ${stats}, else cpuinfo_max_freq.`,
      value: (inst) => scaling(inst).max,
    },
    'hinv.cpu.frequency_scaling.min': {
      ...from,
      item: 9,
      type: 'u32',
      sem: 'instant',
      units: '/ microsec',
      help: 'Lowest speed of each processor, in MHz',
      text: `The smallest speed in ${stats}, else cpuinfo_min_freq.`,
      value: (inst) => scaling(inst).min,
    },
  }
}
