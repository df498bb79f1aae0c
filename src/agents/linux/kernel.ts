/** Counters of the whole kernel: interrupts, switches, processes, load, uptime, limits. /proc/stat, /proc/loadavg, /proc/uptime, /proc/sys/kernel */
import type { Scanner } from '../../base/scan.ts'
import type { IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import type { ProcStat } from './proc-stat.ts'
import { orNothing, orUnsupported } from './sample.ts'

/** /proc/loadavg as numbers; NaN for what is missing. Filled anew by each reading. */
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

/** `0.20 0.18 0.12 1/80 11206`: three averages, runnable/all, the newest process. Fills `load` and returns it. */
export function parseLoadavg(scan: Scanner, load: LoadAverage): LoadAverage {
  for (let i = 0; i < 3; i++) load.averages[i] = scan.decimal()
  load.runnable = scan.uint()
  load.processes = scan.accept('/') ? scan.uint() : Number.NaN
  load.lastPid = scan.uint()
  return load
}

/** kernel.all.load and the other numbers of /proc/loadavg. */
export function loadMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const table = newLoadAverage()
  const load = new Reading(() => parseLoadavg(ctx.file('/proc/loadavg').scan(), table))
  const indom: IndomSpec = {
    serial: 2,
    instances: { '1 minute': 1, '5 minute': 5, '15 minute': 15 },
    help: 'The spans of time that load averages cover',
    text: 'The instance number is the span in minutes: 1, 5 and 15.',
  }
  const from = { cluster: 2, sem: 'instant', units: 'none', reading: load } as const
  return {
    'kernel.all.load': {
      ...from,
      item: 0,
      type: 'float',
      indom,
      help: 'Run queue length averaged over 1, 5 and 15 minutes',
      text: 'The first three numbers of /proc/loadavg: processes that run, wait for a CPU or sleep uninterruptibly (mostly for disks), as exponentially damped averages.',
      value: (inst) => orNothing(load.value.averages[inst === 1 ? 0 : inst === 5 ? 1 : 2]!),
    },
    'kernel.all.lastpid': {
      ...from,
      after: 'nsessions',
      item: 1,
      type: 'u32',
      help: 'Process id that was given out last',
      text: 'The last number of /proc/loadavg. Threads take ids too, so it moves faster than processes are started.',
      value: () => orNothing(load.value.lastPid),
    },
    'kernel.all.runnable': {
      ...from,
      after: 'nsessions',
      item: 2,
      type: 'u32',
      help: 'Threads that run or wait for a CPU at this moment',
      text: 'The number before the slash in /proc/loadavg. The thread that reads the file counts itself.',
      value: () => orNothing(load.value.runnable),
    },
    'kernel.all.nprocs': {
      ...from,
      after: 'nsessions',
      item: 3,
      type: 'u32',
      help: 'Processes and threads that exist at this moment',
      text: 'The number after the slash in /proc/loadavg: scheduling entities, each thread counted by itself.',
      value: () => orNothing(load.value.processes),
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
  own?: Partial<PlacedRow>,
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
    'Threads that occupy a CPU or wait in a run queue now',
    'The procs_running line of /proc/stat; the reader of the file is one of them.',
  ],
  [
    'blocked',
    16,
    'instant',
    'none',
    (s) => s.blocked,
    'Threads that wait for a disk or another uninterruptible event now',
    'The procs_blocked line of /proc/stat.',
  ],
]

/** kernel.all.intr, pswitch, sysfork, running, blocked, boottime and hz. */
export function kernelMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const { stat } = ctx
  const metrics: { [name: string]: PlacedRow } = {}
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
    text: 'The btime line of /proc/stat. It moves when the clock is set.',
    reading: stat,
    value: () => orUnsupported(stat.value.btime),
  }
  metrics['kernel.all.hz'] = {
    item: 48,
    type: 'u32',
    sem: 'discrete',
    units: 'count / sec',
    help: 'Clock ticks a second in which the kernel reports CPU times',
    text: 'The same number as getconf CLK_TCK prints, 100 on nearly every machine. It is not the rate of the timer interrupt.',
    value: () => ctx.hertz,
  }
  return metrics
}

/** kernel.all.uptime and idletime. */
export function uptimeMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const uptime = new Reading(() => {
    const scan = ctx.file('/proc/uptime').scan()
    return { up: scan.decimal(), idle: scan.decimal() }
  })
  const from = { cluster: 26, type: 'double', sem: 'instant', units: 'sec', reading: uptime } as const
  return {
    'kernel.all.uptime': {
      ...from,
      item: 0,
      help: 'Time since the system was started, suspended time included',
      text: 'First number of /proc/uptime, to a hundredth of a second.',
      value: () => orNothing(uptime.value.up),
    },
    'kernel.all.idletime': {
      ...from,
      item: 1,
      help: 'Idle time of all CPUs added up since the system was started',
      text: 'Second number of /proc/uptime: with several CPUs it grows faster than the clock.',
      value: () => orNothing(uptime.value.idle),
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
  own?: Partial<PlacedRow>,
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
    'Number at which process ids start again from the beginning',
    'It bounds how many processes and threads can exist at a time.',
  ],
  [
    'nptys',
    3,
    'instant',
    '/proc/sys/kernel/pty/nr',
    'Pseudo terminals in use: remote logins, terminal windows and the like',
    'The limit is /proc/sys/kernel/pty/max.',
  ],
]

/** kernel.all.pid_max, nptys and entropy. */
export function limitMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const metrics: { [name: string]: PlacedRow } = {}
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
      value: () => orNothing(reading.value),
      ...own,
    }
  }
  return metrics
}
