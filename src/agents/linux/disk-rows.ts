/** Data: statistics of every block device, in all its instance domains. /proc/diskstats */
import type { MetricSpec } from '../../pmda/define.ts'
import {
  DISCARD,
  DISCARD_MERGE,
  DISCARD_MS,
  DISCARD_SECTORS,
  FLUSH,
  FLUSH_MS,
  INFLIGHT,
  IO_MS,
  READ,
  READ_MERGE,
  READ_MS,
  READ_SECTORS,
  WEIGHTED_MS,
  WRITE,
  WRITE_MERGE,
  WRITE_MS,
  WRITE_SECTORS,
} from './disk-table.ts'

/** One statistic. */
export interface DiskRow {
  readonly name: string
  /** Preceding name for partitions and devices made of disks. Default: the row before it. */
  readonly partAfter?: string
  /** Items in disk.dev and disk.wwid, in disk.all (-1: absent) and in disk.partitions. */
  readonly dev: number
  readonly all: number
  readonly partition: number
  /** Item in disk.dm and disk.md; zram uses the items of the partitions. */
  readonly mapped: number
  /** 'count': a 64-bit counter; 'bytes': Kbyte, 32 bits in dm and md; 'time': milliseconds in 32 bits; 'level': current. */
  readonly kind: 'count' | 'bytes' | 'time' | 'level'
  /** Computes the value of a device whose columns start at `o`. */
  readonly value: (c: Float64Array, o: number) => number
  /** Start of the help line, followed by the devices. */
  readonly help: string
  /** Source and interpretation. */
  readonly text: string
}

const SECTORS = 'Sectors are 512 bytes regardless of the device.'
const RAW =
  'Concurrent requests count separately, so this may grow faster than the clock; divided by the rate of requests it is their mean response time.'

/** The statistics, in the order of disk.partitions' items. */
export const DISK_ROWS: readonly DiskRow[] = [
  {
    name: 'read',
    dev: 4,
    all: 24,
    partition: 0,
    mapped: 0,
    kind: 'count',
    value: (c, o) => c[o + READ]!,
    help: 'Read requests completed',
    text: 'Column 1 of /proc/diskstats. Merged requests are not counted.',
  },
  {
    name: 'write',
    dev: 5,
    all: 25,
    partition: 1,
    mapped: 1,
    kind: 'count',
    value: (c, o) => c[o + WRITE]!,
    help: 'Write requests completed',
    text: 'Column 5 of /proc/diskstats. Merged requests are not counted.',
  },
  {
    name: 'total',
    dev: 28,
    all: 29,
    partition: 2,
    mapped: 2,
    kind: 'count',
    value: (c, o) => c[o + READ]! + c[o + WRITE]!,
    help: 'Read and write requests completed',
    text: 'Sum of columns 1 and 5 of /proc/diskstats, without discards and flushes.',
  },
  {
    name: 'blkread',
    dev: 6,
    all: 26,
    partition: 3,
    mapped: 3,
    kind: 'count',
    value: (c, o) => c[o + READ_SECTORS]!,
    help: 'Sectors of 512 bytes read',
    text: `Column 3 of /proc/diskstats. ${SECTORS}`,
  },
  {
    name: 'blkwrite',
    dev: 7,
    all: 27,
    partition: 4,
    mapped: 4,
    kind: 'count',
    value: (c, o) => c[o + WRITE_SECTORS]!,
    help: 'Sectors of 512 bytes written',
    text: `Column 7 of /proc/diskstats. ${SECTORS}`,
  },
  {
    name: 'blktotal',
    dev: 36,
    all: 37,
    partition: 5,
    mapped: 5,
    kind: 'count',
    value: (c, o) => c[o + READ_SECTORS]! + c[o + WRITE_SECTORS]!,
    help: 'Sectors of 512 bytes read and written',
    text: `Columns 3 and 7 of /proc/diskstats added up. ${SECTORS}`,
  },
  {
    name: 'read_bytes',
    dev: 38,
    all: 41,
    partition: 6,
    mapped: 6,
    kind: 'bytes',
    value: (c, o) => Math.floor(c[o + READ_SECTORS]! / 2),
    help: 'Data read, in Kbyte',
    text: 'Half the sectors of column 3 of /proc/diskstats.',
  },
  {
    name: 'write_bytes',
    dev: 39,
    all: 42,
    partition: 7,
    mapped: 7,
    kind: 'bytes',
    value: (c, o) => Math.floor(c[o + WRITE_SECTORS]! / 2),
    help: 'Data written, in Kbyte',
    text: 'Half the sectors of column 7 of /proc/diskstats.',
  },
  {
    name: 'total_bytes',
    dev: 40,
    all: 43,
    partition: 8,
    mapped: 8,
    kind: 'bytes',
    value: (c, o) => Math.floor((c[o + READ_SECTORS]! + c[o + WRITE_SECTORS]!) / 2),
    help: 'Data read and written, in Kbyte',
    text: 'Half the sectors of columns 3 and 7 of /proc/diskstats.',
  },
  {
    name: 'read_merge',
    dev: 49,
    all: 51,
    partition: 9,
    mapped: 9,
    kind: 'count',
    value: (c, o) => c[o + READ_MERGE]!,
    help: 'Read requests merged with an adjacent queued request',
    text: 'Column 2 of /proc/diskstats. Many merges mean sequential access in small pieces.',
  },
  {
    name: 'write_merge',
    dev: 50,
    all: 52,
    partition: 10,
    mapped: 10,
    kind: 'count',
    value: (c, o) => c[o + WRITE_MERGE]!,
    help: 'Write requests merged with an adjacent queued request',
    text: 'Column 6 of /proc/diskstats. Many merges mean sequential access in small pieces.',
  },
  {
    name: 'avactive',
    dev: 46,
    all: 44,
    partition: 11,
    mapped: 11,
    kind: 'time',
    value: (c, o) => c[o + IO_MS]!,
    help: 'Time with at least one request in progress',
    text: 'Column 10 of /proc/diskstats. As a rate, 1000 milliseconds per second means always busy: full load for a device that serves one request at a time, but not for a device that serves many.',
  },
  {
    name: 'read_rawactive',
    dev: 72,
    all: 74,
    partition: 13,
    mapped: 14,
    kind: 'time',
    value: (c, o) => c[o + READ_MS]!,
    help: 'Time from queueing to completion, summed over read requests',
    text: `Column 4 of /proc/diskstats. ${RAW}`,
  },
  {
    name: 'write_rawactive',
    dev: 73,
    all: 75,
    partition: 14,
    mapped: 15,
    kind: 'time',
    value: (c, o) => c[o + WRITE_MS]!,
    help: 'Time from queueing to completion, summed over write requests',
    text: `Column 8 of /proc/diskstats. ${RAW}`,
  },
  {
    name: 'total_rawactive',
    dev: 79,
    all: 80,
    partition: 15,
    mapped: 16,
    kind: 'time',
    value: (c, o) => c[o + READ_MS]! + c[o + WRITE_MS]!,
    help: 'Time from queueing to completion, summed over read and write requests',
    text: `Columns 4 and 8 of /proc/diskstats added up. ${RAW}`,
  },
  {
    name: 'aveq',
    partAfter: 'avactive',
    dev: 47,
    all: 45,
    partition: 12,
    mapped: 12,
    kind: 'time',
    value: (c, o) => c[o + WEIGHTED_MS]!,
    help: 'Time weighted with the number of requests in progress',
    text: 'Column 11 of /proc/diskstats. Its rate divided by 1000 is the mean number of requests queued or being served.',
  },
  {
    name: 'discard',
    dev: 88,
    all: 96,
    partition: 17,
    mapped: 18,
    kind: 'count',
    value: (c, o) => c[o + DISCARD]!,
    help: 'Discard requests completed',
    text: 'Column 12 of /proc/diskstats, 0 before Linux 4.18. File systems send them after deleting files, to declare blocks unused (TRIM, UNMAP).',
  },
  {
    name: 'blkdiscard',
    dev: 89,
    all: 97,
    partition: 18,
    mapped: 19,
    kind: 'count',
    value: (c, o) => c[o + DISCARD_SECTORS]!,
    help: 'Sectors of 512 bytes discarded',
    text: `Column 14 of /proc/diskstats, 0 before Linux 4.18. ${SECTORS}`,
  },
  {
    name: 'discard_bytes',
    dev: 90,
    all: 98,
    partition: 19,
    mapped: 20,
    kind: 'count',
    value: (c, o) => Math.floor(c[o + DISCARD_SECTORS]! / 2),
    help: 'Data discarded, in Kbyte',
    text: 'Half the sectors of column 14 of /proc/diskstats, 0 before Linux 4.18.',
  },
  {
    name: 'discard_merge',
    dev: 91,
    all: 99,
    partition: 20,
    mapped: 21,
    kind: 'count',
    value: (c, o) => c[o + DISCARD_MERGE]!,
    help: 'Discard requests merged with an adjacent queued request',
    text: 'Column 13 of /proc/diskstats, 0 before Linux 4.18.',
  },
  {
    name: 'discard_rawactive',
    dev: 92,
    all: 100,
    partition: 21,
    mapped: 22,
    kind: 'time',
    value: (c, o) => c[o + DISCARD_MS]!,
    help: 'Time from queueing to completion, summed over discard requests',
    text: `Column 15 of /proc/diskstats, 0 before Linux 4.18. ${RAW}`,
  },
  {
    name: 'flush',
    dev: 93,
    all: 101,
    partition: 22,
    mapped: 23,
    kind: 'count',
    value: (c, o) => c[o + FLUSH]!,
    help: 'Flush requests completed, which empty the write cache of the device',
    text: 'Column 16 of /proc/diskstats, 0 before Linux 5.5. Only whole disks count them.',
  },
  {
    name: 'flush_rawactive',
    dev: 94,
    all: 102,
    partition: 23,
    mapped: 24,
    kind: 'time',
    value: (c, o) => c[o + FLUSH_MS]!,
    help: 'Time from queueing to completion, summed over flush requests',
    text: `Column 17 of /proc/diskstats, 0 before Linux 5.5. ${RAW}`,
  },
  {
    name: 'inflight',
    dev: 95,
    all: 104,
    partition: 24,
    mapped: 25,
    kind: 'level',
    value: (c, o) => c[o + INFLIGHT]!,
    help: 'Requests in progress',
    text: 'Column 9 of /proc/diskstats: issued to the driver and not yet completed.',
  },
]

/** Semantics and units of a statistic. */
export function diskMeaning(row: DiskRow): Pick<MetricSpec, 'sem' | 'units'> {
  if (row.kind === 'level') return { sem: 'instant', units: 'none' }
  if (row.kind === 'time') return { sem: 'counter', units: 'millisec' }
  return { sem: 'counter', units: row.name.endsWith('_bytes') ? 'Kbyte' : 'count' }
}
