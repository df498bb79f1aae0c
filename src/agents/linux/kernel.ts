/** Counters of the whole kernel: interrupts, switches, processes, load, uptime, limits. /proc/stat, /proc/loadavg, /proc/uptime, /proc/sys/kernel */
import type { Scanner } from '../../base/scan.ts'
import type { IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import type { ProcStat } from './proc-stat.ts'
import { orUndefined, orUnsupported } from './sample.ts'

/** /proc/loadavg as numbers; NaN for missing ones. Overwritten by each reading. */
export interface LoadAverage {
  /** Averages over 1, 5 and 15 minutes. */
  readonly averages: Float64Array
  runnable: number
  processes: number
  lastPid: number
}

/** An empty table for `parseLoadavg` to fill. */
export function newLoadAverage(): LoadAverage {
  return { averages: new Float64Array(3), runnable: Number.NaN, processes: Number.NaN, lastPid: Number.NaN }
}

/** Parses `0.20 0.18 0.12 1/80 11206`: three averages, runnable/all, last PID. Fills `load` and returns it. */
export function parseLoadavg(scan: Scanner, load: LoadAverage): LoadAverage {
  for (let i = 0; i < 3; i++) load.averages[i] = scan.decimal()
  load.runnable = scan.uint()
  load.processes = scan.accept('/') ? scan.uint() : Number.NaN
  load.lastPid = scan.uint()
  return load
}

/** kernel.all.load and the other numbers of /proc/loadavg. */
export function loadMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const table = newLoadAverage()
  const load = new Reading(() => parseLoadavg(ctx.file('/proc/loadavg').scan(), table))
  const indom: IndomSpec = {
    serial: 2,
    instances: { '1 minute': 1, '5 minute': 5, '15 minute': 15 },
    help: 'Time spans of load averages',
    text: 'The instance identifier is the span in minutes: 1, 5 and 15.',
  }
  const from = { cluster: 2, sem: 'instant', units: 'none', reading: load } as const
  return {
    'kernel.all.load': {
      ...from,
      item: 0,
      type: 'float',
      indom,
      help: 'Run queue length averaged over 1, 5 and 15 minutes',
      text: 'The first three numbers of /proc/loadavg: exponentially damped averages of processes that run, wait for a CPU or sleep uninterruptibly (mostly for disks).',
      value: (inst) => orUndefined(load.value.averages[inst === 1 ? 0 : inst === 5 ? 1 : 2]!),
    },
    'kernel.all.lastpid': {
      ...from,
      after: 'nsessions',
      item: 1,
      type: 'u32',
      help: 'Last process id assigned',
      text: 'The last number of /proc/loadavg. Threads have ids too, so it increases faster than processes are started.',
      value: () => orUndefined(load.value.lastPid),
    },
    'kernel.all.runnable': {
      ...from,
      after: 'nsessions',
      item: 2,
      type: 'u32',
      help: 'Threads running or waiting for a CPU',
      text: 'The number before the slash in /proc/loadavg. Includes the thread that reads the file.',
      value: () => orUndefined(load.value.runnable),
    },
    'kernel.all.nprocs': {
      ...from,
      after: 'nsessions',
      item: 3,
      type: 'u32',
      help: 'Existing processes and threads',
      text: 'The number after the slash in /proc/loadavg: scheduling entities, each thread counted by itself.',
      value: () => orUndefined(load.value.processes),
    },
  }
}

type StatRow = readonly [
  name: string,
  item: number,
  sem: MetricSpec['sem'],
  units: string,
  pick: (stat: ProcStat) => number,
  help: string,
  text: string,
  own?: Partial<OrderedRow>,
]

const STAT_ROWS: readonly StatRow[] = [
  [
    'intr',
    12,
    'counter',
    'count',
    (s) => s.intr,
    'Hardware interrupts served since boot',
    'First number of the intr line of /proc/stat: all interrupt lines of all CPUs.',
  ],
  [
    'pswitch',
    13,
    'counter',
    'count',
    (s) => s.ctxt,
    'Context switches between threads since boot',
    'The ctxt line of /proc/stat: all CPUs, voluntary and forced switches.',
  ],
  [
    'sysfork',
    14,
    'counter',
    'count',
    (s) => s.processes,
    'Processes and threads created since boot',
    'The processes line of /proc/stat: every fork, vfork and clone.',
  ],
  [
    'running',
    15,
    'instant',
    'none',
    (s) => s.running,
    'Threads on a CPU or in a run queue',
    'The procs_running line of /proc/stat; includes the reader of the file.',
  ],
  [
    'blocked',
    16,
    'instant',
    'none',
    (s) => s.blocked,
    'Threads waiting for a disk or another uninterruptible event',
    'The procs_blocked line of /proc/stat.',
  ],
]

/** kernel.all.intr, pswitch, sysfork, running, blocked, boottime and hz. */
export function kernelMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const { stat } = ctx
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, sem, units, pick, help, text, own] of STAT_ROWS) {
    metrics[`kernel.all.${name}`] = {
      item,
      type: 'u64',
      sem,
      units,
      help,
      text,
      reading: stat,
      value: () => orUnsupported(pick(stat.value)),
      ...own,
    }
  }
  metrics['kernel.all.boottime'] = {
    item: 17,
    type: '64',
    sem: 'discrete',
    units: 'sec',
    help: 'When the system was started, in seconds since 1970-01-01 UTC',
    text: 'The btime line of /proc/stat. It changes when the clock is set.',
    reading: stat,
    value: () => orUnsupported(stat.value.btime),
  }
  metrics['kernel.all.hz'] = {
    item: 48,
    type: 'u32',
    sem: 'discrete',
    units: 'count / sec',
    help: 'Clock ticks per second, the unit of CPU times in the kernel',
    text: 'As printed by getconf CLK_TCK, 100 on nearly every machine. It is not the rate of the timer interrupt.',
    value: () => ctx.hertz,
  }
  return metrics
}

/** kernel.all.uptime and idletime. */
export function uptimeMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const uptime = new Reading(() => {
    const scan = ctx.file('/proc/uptime').scan()
    return { up: scan.decimal(), idle: scan.decimal() }
  })
  const from = { cluster: 26, type: 'double', sem: 'instant', units: 'sec', reading: uptime } as const
  return {
    'kernel.all.uptime': {
      ...from,
      item: 0,
      help: 'Time since the system was started, including suspended time',
      text: 'First number of /proc/uptime, to a hundredth of a second.',
      value: () => orUndefined(uptime.value.up),
    },
    'kernel.all.idletime': {
      ...from,
      item: 1,
      help: 'Idle time of all CPUs since the system was started',
      text: 'Second number of /proc/uptime: with several CPUs it grows faster than the clock.',
      value: () => orUndefined(uptime.value.idle),
    },
  }
}

type LimitRow = readonly [
  name: string,
  item: number,
  sem: MetricSpec['sem'],
  path: string,
  help: string,
  text: string,
  own?: Partial<OrderedRow>,
]

const LIMIT_ROWS: readonly LimitRow[] = [
  [
    'entropy.avail',
    0,
    'instant',
    '/proc/sys/kernel/random/entropy_avail',
    'Bits of entropy the random number generator has gathered',
    'Since Linux 5.18 the number stays at 256 once the generator is seeded.',
  ],
  [
    'entropy.poolsize',
    1,
    'instant',
    '/proc/sys/kernel/random/poolsize',
    'Size of the entropy pool of the random number generator, in bits',
    'The size is fixed when the kernel is built: 256 since Linux 5.18, 4096 before.',
  ],
  [
    'pid_max',
    2,
    'discrete',
    '/proc/sys/kernel/pid_max',
    'Largest process id plus one, after which ids start again',
    'It limits the number of processes and threads.',
  ],
  [
    'nptys',
    3,
    'instant',
    '/proc/sys/kernel/pty/nr',
    'Pseudo terminals in use, by remote logins, terminal windows and so on',
    'The limit is /proc/sys/kernel/pty/max.',
  ],
]

/** kernel.all.pid_max, nptys and entropy. */
export function limitMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, sem, path, help, text, own] of LIMIT_ROWS) {
    const reading = new Reading(() => ctx.file(path).scan().uint())
    metrics[`kernel.all.${name}`] = {
      cluster: 72,
      item,
      type: 'u32',
      sem,
      units: 'none',
      help,
      text: `The number in ${path}. ${text}`,
      reading,
      value: () => orUndefined(reading.value),
      ...own,
    }
  }
  return metrics
}
