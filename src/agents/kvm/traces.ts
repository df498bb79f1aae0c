/** kvm.trace: hits of KVM trace points on each CPU. */
import type { IndomSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { parseCpuList } from '../../sys/cpu-list.ts'
import { type OpenPerfCounter, openPerfCounters, type PerfCounter } from '../../sys/native/perf-counters.ts'
import { readAttribute } from '../../sys/proc.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { KvmConfig } from './config.ts'

/** Options of `traceMetrics`. */
export interface TraceOptions {
  readonly root: string
  readonly config: KvmConfig
  /** Number of CPUs; default that of the machine. */
  readonly cpuCount: number | undefined
  readonly log: (level: 'warning', text: string) => void
  /** Opens counters; tests replace the kernel's. */
  readonly openCounters?: () => OpenPerfCounter | string
}

/** Open counters and their metrics. */
export interface Traces {
  readonly metrics: { readonly [name: string]: OrderedRow }
  close(): void
}

const CLUSTER = 1

/** Returns the metrics, last trace point first as in PCP. Counting starts with the first request for a value. */
export function traceMetrics(options: TraceOptions): Traces {
  const { traces } = options.config
  /** By trace point, then by CPU; empty if counting is impossible. */
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
    help: 'CPUs on which KVM trace points are counted',
    text: 'None if counting is impossible: it requires root rights, the package koffi and a kernel with KVM.',
    labels: { device_type: 'cpu', indom_name: 'per cpu' },
    instanceLabels: (inst) => ({ cpu: inst }),
  }
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [at, name] of [...traces.entries()].reverse())
    metrics[`kvm.trace.${name}`] = {
      cluster: CLUSTER,
      item: at + 1,
      type: '64',
      sem: 'instant',
      units: 'none',
      indom,
      help: `Hits of the kernel's trace point ${name}`,
      text: 'Counted since the first request for a value, because counting slows each hit a little. The trace points are listed in kvm.conf.',
      reading: opened,
      value: (cpu) => counters?.get(name)?.get(cpu)?.read(),
    }
  metrics['kvm.trace.count'] = {
    cluster: CLUSTER,
    item: 0,
    type: 'u64',
    sem: 'discrete',
    units: 'count',
    help: 'Number of trace points in kvm.conf',
    text: 'Each has a metric below kvm.trace, whether or not this kernel has it.',
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

/** Opens counters for the trace points of this kernel. Logs once why there are none. */
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
        problem ??= (error as Error).message // that CPU has no value
      }
    if (perCpu.size > 0) found.set(name, perCpu)
  }
  if (problem !== undefined) log('warning', problem)
  return found
}
