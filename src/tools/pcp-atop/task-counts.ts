/** Activity of a process between two samples. */
import { counterDelta } from '../../model/rate.ts'
import type { TaskCounts } from './task.ts'
import type { TaskReader } from './task-reader.ts'

const COUNTERS: readonly (readonly [keyof TaskCounts, string, number])[] = [
  ['userMs', 'psinfo.utime', 1],
  ['sysMs', 'psinfo.stime', 1],
  ['runDelayMs', 'schedstat.run_delay', 1e-6],
  ['blockDelayMs', 'psinfo.delayacct_blkio_time', 1],
  ['minorFaults', 'psinfo.minflt', 1],
  ['majorFaults', 'psinfo.maj_flt', 1],
  ['readBytes', 'io.read_bytes', 1],
  ['writtenBytes', 'io.write_bytes', 1],
  ['cancelledBytes', 'io.cancelled_write_bytes', 1],
]
const NET_COUNTERS: readonly (readonly [keyof TaskCounts, string])[] = [
  ['tcpSends', 'tcp.send.calls'],
  ['tcpSentBytes', 'tcp.send.bytes'],
  ['tcpReceives', 'tcp.recv.calls'],
  ['tcpReceivedBytes', 'tcp.recv.bytes'],
  ['udpSends', 'udp.send.calls'],
  ['udpSentBytes', 'udp.send.bytes'],
  ['udpReceives', 'udp.recv.calls'],
  ['udpReceivedBytes', 'udp.recv.bytes'],
]

/** Counts under construction. */
export type MutableCounts = { -readonly [K in keyof TaskCounts]: number }

/** Returns counts of zero. */
export function noCounts(): MutableCounts {
  const counts = {} as MutableCounts
  for (const [key] of [...COUNTERS, ...NET_COUNTERS]) counts[key] = 0
  return counts
}

/** Transfers are counted in whole sectors, as for disks, as interpolated values of archives can be fractions. */
const SECTOR = 512
const full = (value: number, unit: number): number => Math.floor(value / unit) * unit

/** Returns the growth since `before`; without it, totals since the process started. */
export function countsOf(pid: number, now: TaskReader, before: TaskReader | undefined): TaskCounts {
  const counts = noCounts()
  const grown = (end: number, begin: number): number => counterDelta(begin, end) ?? end
  for (const [key, item, factor] of COUNTERS) {
    const unit = item.startsWith('io.') ? SECTOR : 1
    counts[key] =
      grown(full(now.number(item, pid), unit), full(before?.number(item, pid) ?? 0, unit)) * factor
  }
  for (const [key, item] of NET_COUNTERS) {
    const name = `bcc.proc.net.${item}`
    counts[key] = grown(now.other(name, pid) ?? 0, before?.other(name, pid) ?? 0)
  }
  return counts
}
