/** The metrics of pcp pidstat's reports. pcp-pidstat(1) */
import type { PidstatOptions } from './options.ts'

/** Required by every report, as in PCP. */
const ALWAYS: readonly string[] = [
  'hinv.ncpu',
  'kernel.all.cpu.guest',
  'kernel.all.cpu.idle',
  'kernel.all.cpu.nice',
  'kernel.all.cpu.sys',
  'kernel.all.cpu.user',
  'kernel.all.cpu.vuser',
  'kernel.uname.machine',
  'kernel.uname.nodename',
  'kernel.uname.release',
  'kernel.uname.sysname',
  'mem.physmem',
  'proc.id.uid',
  'proc.id.uid_nm',
  'proc.memory.vmstack',
  'proc.nprocs',
  'proc.psinfo.cmd',
  'proc.psinfo.guest_time',
  'proc.psinfo.maj_flt',
  'proc.psinfo.minflt',
  'proc.psinfo.pid',
  'proc.psinfo.policy',
  'proc.psinfo.processor',
  'proc.psinfo.rss',
  'proc.psinfo.rt_priority',
  'proc.psinfo.stime',
  'proc.psinfo.utime',
  'proc.psinfo.vsize',
]

/** Metrics of -B and -l. */
const OF_STATES: readonly string[] = ['proc.psinfo.sname', 'proc.psinfo.start_time', 'proc.psinfo.wchan_s']

/** Returns the metrics of a report. */
export function metricsOf({ report, showsArguments }: PidstatOptions): readonly string[] {
  const isOfStates = report === 'states' || report === 'detail'
  return [
    ...ALWAYS,
    ...(isOfStates || showsArguments ? OF_STATES : []),
    ...(showsArguments ? ['proc.psinfo.psargs'] : []),
  ]
}
