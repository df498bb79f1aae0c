/** hinv.cpu, hinv.map.cpu_num, hinv.map.cpu_node and hinv.node: what processors there are. /proc/cpuinfo, /sys/devices/system */
import type { MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { parseCpuList } from '../../sys/cpu-list.ts'
import { ParsedFile } from '../../sys/proc.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** The lines of one processor in /proc/cpuinfo, names in small letters. */
export type CpuFacts = ReadonlyMap<string, string>

/** Paragraphs of `name : value`, each beginning with the processor's number; what stands before the first is left out. */
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

/** How fast a CPU may run, in MHz, and how it did so far. */
export interface Scaling {
  /** Sum over all speeds of MHz times the ticks spent at it; without statistics the speed now. */
  readonly count: number | undefined
  /** Ticks for which there are statistics. */
  readonly time: number | undefined
  readonly max: number | undefined
  readonly min: number | undefined
}

/** stats/time_in_state: a speed in kHz and the ticks spent at it, one a line. undefined when it has none. */
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
  own?: Partial<PlacedRow>,
]

const FACT_ROWS: readonly FactRow[] = [
  [
    'vendor',
    1,
    'string',
    'none',
    ['vendor_id'],
    'Who made each processor, as the processor itself says',
    'GenuineIntel, AuthenticAMD... Architectures without such a line have no value.',
  ],
  [
    'model',
    2,
    'string',
    'none',
    ['model'],
    'Model number of each processor within its family',
    'A number, but given as text. hinv.cpu.model_name is what people call it.',
  ],
  [
    'stepping',
    3,
    'string',
    'none',
    ['stepping'],
    'Revision of the silicon of each processor',
    'Errata are listed by it.',
  ],
  [
    'cache',
    4,
    'u32',
    'Kbyte',
    ['cache size'],
    'Size of the largest cache of each processor',
    'Often shared by several processors, each of which shows it in full.',
  ],
  [
    'bogomips',
    5,
    'float',
    'none',
    ['bogomips'],
    'How many million empty loops a second the kernel reckoned for each processor at boot',
    'Used for short delays; useless to compare processors.',
  ],
  [
    'model_name',
    9,
    'string',
    'none',
    ['model name'],
    'Trade name of each processor',
    'As the processor itself gives it.',
  ],
  [
    'flags',
    10,
    'string',
    'none',
    ['flags', 'features'],
    'Abilities of each processor that the kernel knows, with blanks between them',
    'Such as sse4_2 or avx512f; documented in the kernel sources.',
  ],
  [
    'cache_alignment',
    11,
    'u32',
    'none',
    ['cache_alignment'],
    'Bytes to which data should be aligned so that it does not share a cache line',
    'As a rule the length of a cache line.',
  ],
]

/** The metrics of /proc/cpuinfo (cluster 18, hinv.machine apart) and of CPUs and nodes in sysfs (cluster 55). */
export function cpuInfoMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const facts = new ParsedFile(ctx.file('/proc/cpuinfo'), parseCpuinfo)
  const cpuinfo = new Reading(() => facts.read())
  const perCpu = { sem: 'discrete', indom: ctx.cpus } as const
  const metrics: { [name: string]: PlacedRow } = {}

  metrics['hinv.cpu.clock'] = {
    ...perCpu,
    cluster: 18,
    item: 0,
    type: 'float',
    units: '/ microsec',
    help: 'Clock rate of each processor at this moment, in MHz',
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
    help: 'The number by which the kernel, taskset(1) and the like know each processor',
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

/** The number a text begins with: `512 KB` is 512. */
function leadingNumber(text: string): number | undefined {
  const number = Number.parseFloat(text)
  return Number.isNaN(number) ? undefined : number
}

/** A frequency of cpufreq, kHz in the file, in MHz. */
function frequency(ctx: LinuxContext, cpu: number, file: string): number | undefined {
  const khz = ctx.number(`${CPU_DIR}/cpu${cpu}/cpufreq/${file}`)
  return khz === undefined ? undefined : Math.floor(khz / 1000)
}

function onlineMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const state = { cluster: 55, type: 'u32', sem: 'instant', units: 'none' } as const
  return {
    'hinv.cpu.online': {
      ...state,
      item: 0,
      indom: ctx.cpus,
      help: 'Whether each processor takes part in scheduling: 1 yes, 0 no',
      text: `The number in ${CPU_DIR}/cpuN/online. A processor without that file cannot be switched off: 1.`,
      value: (inst) => {
        const path = `${CPU_DIR}/cpu${inst}/online`
        return ctx.attribute(path) === undefined ? 1 : ctx.number(path)
      },
    },
    'hinv.node.online': {
      ...state,
      item: 1,
      indom: ctx.nodes,
      help: 'Whether each NUMA node is in use: 1 yes, 0 no',
      text: 'From the list in /sys/devices/system/node/online. A kernel without it has all its nodes in use: 1.',
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
    'How often a core was slowed down because it got too hot',
  ],
  [
    'core.time',
    3,
    'millisec',
    'core_throttle_total_time_ms',
    'How long a core was slowed down because it got too hot',
  ],
  [
    'package.count',
    4,
    'count',
    'package_throttle_count',
    'How often a whole processor package was slowed down because it got too hot',
  ],
  [
    'package.time',
    5,
    'count',
    'package_throttle_total_time_ms',
    'Milliseconds for which a whole processor package was slowed down because it got too hot',
  ],
]

function throttleMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const metrics: { [name: string]: PlacedRow } = {}
  for (const [name, item, units, file, help] of THROTTLE_ROWS) {
    metrics[`hinv.cpu.thermal_throttle.${name}`] = {
      cluster: 55,
      item,
      type: 'u64',
      sem: 'counter',
      units,
      indom: ctx.cpus,
      help,
      text: `The number in ${CPU_DIR}/cpuN/thermal_throttle/${file}, only on Intel processors; every thread of the core or package shows the same.`,
      value: (inst) => ctx.number(`${CPU_DIR}/cpu${inst}/thermal_throttle/${file}`),
    }
  }
  return metrics
}

function scalingMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  /** Four metrics rest on the same files of a processor. */
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
      help: 'Speeds of each processor in MHz, multiplied with the ticks spent at each and added up',
      text: `From ${stats}: divided by the time counter it gives the mean MHz. Without such statistics it is the speed at the moment, from scaling_cur_freq.`,
      value: (inst) => scaling(inst).count,
    },
    'hinv.cpu.frequency_scaling.time': {
      ...from,
      item: 7,
      type: 'u64',
      sem: 'counter',
      units: 'microsec',
      help: 'Ticks for which each processor has statistics of its speeds',
      text: `The second column of ${stats} added up: ticks of 10 milliseconds, whatever the units say.`,
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
