/** kvm.trace: how often trace points of KVM are passed, on each processor. */
import type { IndomSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { parseCpuList } from '../../sys/cpu-list.ts'
import { type OpenPerfCounter, openPerfCounters, type PerfCounter } from '../../sys/native/perf-counters.ts'
import { readAttribute } from '../../sys/proc.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import type { KvmConfig } from './config.ts'

/** What the metrics need to be read. */
export interface TraceOptions {
  readonly root: string
  readonly config: KvmConfig
  /** How many processors there are, where it is not the machine's number. */
  readonly cpuCount: number | undefined
  readonly log: (level: 'warning', text: string) => void
  /** The kernel's counters unless a test says otherwise. */
  readonly openCounters?: () => OpenPerfCounter | string
}

/** Counters that are open, and what they count. */
export interface Traces {
  readonly metrics: { readonly [name: string]: PlacedRow }
  close(): void
}

const CLUSTER = 1

/** The metrics, last trace point first as in PCP. Counting begins when somebody first wants a value. */
export function traceMetrics(options: TraceOptions): Traces {
  const { traces } = options.config
  /** By trace point, then by processor; empty where nothing can be counted. */
  let counters: ReadonlyMap<string, ReadonlyMap<number, PerfCounter>> | undefined
  let cpus: readonly number[] = []
  const opened = new Reading(() => {
    if (counters !== undefined) return
    cpus = cpusOf(options)
    counters = openAll(options, cpus)
    if (counters.size === 0) cpus = []
  })
  const indom: IndomSpec = {
    serial: 0,
    reading: opened,
    instances: () => ({ ids: cpus, names: cpus.map((cpu) => `cpu${cpu}`) }),
    help: 'Processors on which trace points of KVM are counted',
    text: 'None where they cannot be counted: that takes the rights of root, the package koffi and a kernel with KVM.',
    labels: { device_type: 'cpu', indom_name: 'per cpu' },
    instanceLabels: (inst) => ({ cpu: inst }),
  }
  const metrics: { [name: string]: PlacedRow } = {}
  for (const [at, name] of [...traces.entries()].reverse())
    metrics[`kvm.trace.${name}`] = {
      cluster: CLUSTER,
      item: at + 1,
      type: '64',
      sem: 'instant',
      units: 'none',
      indom,
      help: `How often the kernel passed its trace point ${name}`,
      text: 'Since a value was first wanted: the kernel counts only then, because counting costs every passage a little. Which trace points are counted stands in kvm.conf.',
      reading: opened,
      value: (cpu) => counters?.get(name)?.get(cpu)?.read(),
    }
  metrics['kvm.trace.count'] = {
    cluster: CLUSTER,
    item: 0,
    type: 'u64',
    sem: 'discrete',
    units: 'count',
    help: 'How many trace points kvm.conf names',
    text: 'Each is a metric below kvm.trace, whether this kernel has it or not.',
    value: () => traces.length,
  }
  return {
    metrics,
    close: () => {
      for (const perCpu of counters?.values() ?? []) for (const counter of perCpu.values()) counter.close()
      counters = undefined
    },
  }
}

function cpusOf({ root, cpuCount }: TraceOptions): readonly number[] {
  if (cpuCount !== undefined) return Array.from({ length: cpuCount }, (_, cpu) => cpu)
  return parseCpuList(readAttribute(root, '/sys/devices/system/cpu/online') ?? '')
}

/** Trace points of this kernel with their counters. The log is told once why there are none. */
function openAll(
  { root, config, log, openCounters = openPerfCounters }: TraceOptions,
  cpus: readonly number[],
): ReadonlyMap<string, ReadonlyMap<number, PerfCounter>> {
  const found = new Map<string, ReadonlyMap<number, PerfCounter>>()
  const events = config.traces.flatMap((name) => {
    const id = readAttribute(root, `${config.tracefs}/events/kvm/${name}/id`)
    return id === undefined ? [] : [{ name, id: Number(id) }]
  })
  if (events.length === 0) return found // a kernel without KVM
  const open = openCounters()
  if (typeof open === 'string') {
    log('warning', `No trace points of KVM: ${open}`)
    return found
  }
  let problem: string | undefined
  for (const { name, id } of events) {
    const perCpu = new Map<number, PerfCounter>()
    for (const cpu of cpus)
      try {
        perCpu.set(cpu, open(id, cpu))
      } catch (error) {
        problem ??= (error as Error).message // that processor has no value
      }
    if (perCpu.size > 0) found.set(name, perCpu)
  }
  if (problem !== undefined) log('warning', problem)
  return found
}
