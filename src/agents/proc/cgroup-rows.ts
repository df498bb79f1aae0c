/** Data: control group metrics that are one field of a file. */
import type { SemName, TypeName } from '../../pmda/define.ts'

/** Last parts of the name, item, file, field ('' for a file with one value), kind, and help text. */
export type CgroupRow = readonly [
  name: string,
  item: number,
  file: string,
  field: string,
  kind: string,
  help: string,
]

/** Type, semantics and units by kind. */
export const CGROUP_KINDS: { readonly [kind: string]: readonly [TypeName, SemName, string] } = {
  text: ['string', 'instant', 'none'],
  bytes: ['u64', 'instant', 'byte'],
  bytecount: ['u64', 'counter', 'byte'],
  count: ['u64', 'counter', 'count'],
  us: ['u64', 'counter', 'microsec'],
  ustotal: ['u64', 'instant', 'microsec'],
  ns: ['u64', 'counter', 'nanosec'],
  ticks: ['u64', 'counter', 'millisec'],
  usnow: ['u64', 'instant', 'microsec'],
  signedus: ['64', 'instant', 'microsec'],
  number: ['u64', 'instant', 'none'],
  share: ['float', 'instant', 'none'],
}

const MEMORY_STAT: readonly (readonly [name: string, item: number, help: string, kind?: string])[] = [
  ['cache', 0, 'Page cache, of files and of shared memory'],
  ['rss', 1, 'Anonymous memory of its processes'],
  ['rss_huge', 2, 'Anonymous memory in transparent huge pages'],
  ['mapped_file', 3, 'Mapped files, including shared memory'],
  ['writeback', 4, 'Pages being written to disk'],
  ['swap', 5, 'Memory of the group that is swapped out'],
  ['pgpgin', 6, 'Number of charges of pages to the group', 'count'],
  ['pgpgout', 7, 'Number of releases of pages charged to the group', 'count'],
  ['pgfault', 8, 'Page faults of its processes', 'count'],
  ['pgmajfault', 9, 'Page faults with I/O', 'count'],
  ['inactive_anon', 10, 'Anonymous memory that was not used recently'],
  ['active_anon', 11, 'Anonymous memory that was used recently'],
  ['inactive_file', 12, 'Page cache that was not used recently'],
  ['active_file', 13, 'Page cache that was used recently'],
  ['unevictable', 14, 'Memory that cannot be reclaimed because it is locked'],
  ['anon', 17, 'Anonymous memory, such as heaps and stacks'],
  ['anon_thp', 18, 'Anonymous memory in transparent huge pages, in version 2'],
  ['file', 19, 'Page cache, including tmpfs and shared memory'],
  ['file_dirty', 20, 'Page cache that is modified and not yet written'],
  ['file_mapped', 21, 'Page cache mapped by processes'],
  ['file_writeback', 22, 'Page cache being written to disk'],
  ['kernel_stack', 25, 'Kernel stacks of threads of the group'],
  ['pgactivate', 26, 'Pages moved to the active list'],
  ['pgdeactivate', 27, 'Pages moved to the inactive list'],
  ['pglazyfree', 28, 'Pages marked as free to reclaim (MADV_FREE)'],
  ['pglazyfreed', 50, 'Pages marked with MADV_FREE that were reclaimed'],
  ['pgrefill', 51, 'Pages of the active list scanned'],
  ['pgscan', 52, 'Pages of the inactive list scanned'],
  ['pgsteal', 53, 'Pages that were reclaimed'],
  ['recent.rotated_anon', 60, 'Anonymous pages kept during reclaim', 'bytecount'],
  ['recent.rotated_file', 61, 'File pages kept during reclaim', 'bytecount'],
  ['recent.scanned_anon', 62, 'Anonymous pages scanned during reclaim', 'bytecount'],
  ['recent.scanned_file', 63, 'File pages scanned during reclaim', 'bytecount'],
  ['shmem', 64, 'Cached contents of tmpfs and shared memory'],
  ['slab', 65, 'Kernel data structures of the group'],
  ['slab_reclaimable', 66, 'Reclaimable kernel data structures, such as cached directory entries'],
  ['slab_unreclaimable', 67, 'Kernel data structures that cannot be reclaimed'],
  ['sock', 68, 'Buffers of network connections'],
  ['thp_collapse_alloc', 70, 'Huge pages collapsed from small ones'],
  ['thp_fault_alloc', 71, 'Huge pages allocated at a page fault'],
  ['workingset.activate', 72, 'Refaulted pages activated immediately'],
  ['workingset.nodereclaim', 73, 'Reclaims of shadow nodes, which remember evicted pages'],
  ['workingset.refault', 74, 'Evicted pages that were needed again'],
]

/** Fields that also exist as totals including child groups, in version 1. */
const TOTALS = new Set(
  'cache rss rss_huge mapped_file writeback swap pgpgin pgpgout pgfault pgmajfault inactive_anon active_anon inactive_file active_file unevictable'.split(
    ' ',
  ),
)
const FIRST_TOTAL = 30

function memoryStatRows(): readonly CgroupRow[] {
  const rows: CgroupRow[] = []
  for (const [name, item, help, kind = 'bytes'] of MEMORY_STAT) {
    rows.push([`stat.${name}`, item, 'memory.stat', name.replace('.', '_'), kind, help])
    if (TOTALS.has(name))
      rows.push([
        `stat.total.${name}`,
        FIRST_TOTAL + item,
        'memory.stat',
        `total_${name}`,
        kind,
        `${help}, including child groups`,
      ])
  }
  return rows
}

/** Cluster 45. */
export const MEMORY_ROWS: readonly CgroupRow[] = [
  ...memoryStatRows(),
  ['usage', 80, 'memory.usage_in_bytes', '', 'bytes', 'Current memory use of the group, in version 1'],
  ['limit', 81, 'memory.limit_in_bytes', '', 'bytes', 'Memory limit of the group, in version 1'],
  ['failcnt', 82, 'memory.failcnt', '', 'count', 'Number of times the memory limit was hit'],
  [
    'current',
    90,
    'memory.current',
    '',
    'bytes',
    'Current memory use of the group and its child groups, in version 2',
  ],
]

/** Cluster 41. */
export const CPUACCT_ROWS: readonly CgroupRow[] = [
  ['stat.user', 0, 'cpuacct.stat', 'user', 'ticks', 'User CPU time of its processes'],
  ['stat.system', 1, 'cpuacct.stat', 'system', 'ticks', 'System CPU time of its processes'],
  ['usage', 2, 'cpuacct.usage', '', 'ns', 'CPU time of its processes on all CPUs'],
]

/** Cluster 43. */
export const CPUSCHED_ROWS: readonly CgroupRow[] = [
  ['shares', 0, 'cpu.shares', '', 'number', 'Relative CPU weight of the group; default 1024'],
  ['periods', 1, 'cpu.stat', 'nr_periods', 'number', 'Enforcement periods of the CPU limit'],
  ['throttled', 2, 'cpu.stat', 'nr_throttled', 'number', 'Periods in which the group was throttled'],
  ['throttled_time', 3, 'cpu.stat', 'throttled_time', 'ns', 'Time the group was throttled'],
  ['cfs_period', 4, 'cpu.cfs_period_us', '', 'usnow', 'Length of the enforcement periods of the CPU limit'],
  [
    'cfs_quota',
    5,
    'cpu.cfs_quota_us',
    '',
    'signedus',
    'CPU time allowed in each period; no value without a limit',
  ],
]

/** Cluster 39. */
export const CPUSET_ROWS: readonly CgroupRow[] = [
  ['cpus', 0, 'cpuset.cpus', '', 'text', 'CPUs its processes may run on, as a list like 0-3,8'],
  ['mems', 1, 'cpuset.mems', '', 'text', 'NUMA nodes its processes may allocate memory on, as a list'],
]

/** Cluster 47. */
export const NETCLASS_ROWS: readonly CgroupRow[] = [
  ['classid', 0, 'net_cls.classid', '', 'number', 'Traffic control class of its packets'],
]

/** Cluster 67. */
export const CPU_STAT_ROWS: readonly CgroupRow[] = [
  ['user', 0, 'cpu.stat', 'user_usec', 'us', 'User CPU time of its processes, in version 2'],
  ['system', 1, 'cpu.stat', 'system_usec', 'us', 'System CPU time of its processes, in version 2'],
  ['usage', 2, 'cpu.stat', 'usage_usec', 'us', 'CPU time of its processes on all CPUs, in version 2'],
]

/** Cluster 68: fields of a device in io.stat, with items in this order. */
export const IO_STAT_FIELDS: readonly (readonly [field: string, kind: string, help: string])[] = [
  ['rbytes', 'bytecount', 'Bytes read from the disk'],
  ['wbytes', 'bytecount', 'Bytes written to the disk'],
  ['rios', 'count', 'Reads from the disk'],
  ['wios', 'count', 'Writes to the disk'],
  ['dbytes', 'bytecount', 'Bytes discarded on the disk'],
  ['dios', 'count', 'Discards on the disk'],
]

/** Pressure stall information (PSI) of a resource: cluster, kinds, and description. */
export const PRESSURES: readonly (readonly [
  resource: string,
  cluster: number,
  kinds: readonly ('some' | 'full')[],
  what: string,
])[] = [
  ['cpu', 64, ['some'], 'a CPU'],
  ['memory', 66, ['some', 'full'], 'memory'],
  ['io', 65, ['some', 'full'], 'a block device'],
  ['irq', 76, ['full'], 'interrupts'],
]

/** Files of blkio in the order of their items: five items each, four operations and their total. */
export const BLKIO_FILES: readonly (readonly [name: string, kind: string, what: string])[] = [
  ['io_merged', 'count', 'Requests merged with others'],
  ['io_queued', 'count', 'Requests queued'],
  ['io_service_bytes', 'bytecount', 'Bytes transferred'],
  ['io_serviced', 'count', 'Requests completed'],
  ['io_service_time', 'ns', 'Time from dispatch to completion of requests'],
  ['io_wait_time', 'ns', 'Time requests waited in the queue'],
]

/** Files of the throttling policy, which counts before the scheduler does. */
export const BLKIO_THROTTLE_FILES: readonly (readonly [name: string, kind: string, what: string])[] = [
  ['throttle.io_service_bytes', 'bytecount', 'Bytes passed by throttling'],
  ['throttle.io_serviced', 'count', 'Requests passed by throttling'],
]

/** Rows of a blkio file: last part of the metric's name, first word of the row, and description. */
export const BLKIO_OPERATIONS: readonly (readonly [name: string, row: string, what: string])[] = [
  ['read', 'Read', 'reads'],
  ['write', 'Write', 'writes'],
  ['sync', 'Sync', 'synchronous'],
  ['async', 'Async', 'asynchronous'],
  ['total', 'Total', 'all'],
]
