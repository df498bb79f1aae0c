/** Data: the metrics of control groups that are one field of a file each. */
import type { SemName, TypeName } from '../../pmda/define.ts'

/** Last parts of the name, item, file, field in it ('' for a file that is one value), kind, and what it tells. */
export type CgroupRow = readonly [
  name: string,
  item: number,
  file: string,
  field: string,
  kind: string,
  help: string,
]

/** What kinds of rows there are: type, semantics and units. */
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
  ['rss', 1, 'Memory of its processes that belongs to no file'],
  ['rss_huge', 2, 'Memory of no file in transparent huge pages'],
  ['mapped_file', 3, 'Files that are mapped, shared memory included'],
  ['writeback', 4, 'Pages on their way to a disk'],
  ['swap', 5, 'Memory that is in swap'],
  ['pgpgin', 6, 'How often a page was charged to the group', 'count'],
  ['pgpgout', 7, 'How often a page was no longer charged to the group', 'count'],
  ['pgfault', 8, 'Page faults of its processes', 'count'],
  ['pgmajfault', 9, 'Page faults for which something had to be read', 'count'],
  ['inactive_anon', 10, 'Memory of no file that was not used lately'],
  ['active_anon', 11, 'Memory of no file that was used lately'],
  ['inactive_file', 12, 'Cached files that were not used lately'],
  ['active_file', 13, 'Cached files that were used lately'],
  ['unevictable', 14, 'Memory that cannot be reclaimed, because it is locked'],
  ['anon', 17, 'Memory of no file: heaps, stacks and the like'],
  ['anon_thp', 18, 'Memory of no file in transparent huge pages, in version 2'],
  ['file', 19, 'Cached contents of files, tmpfs and shared memory included'],
  ['file_dirty', 20, 'Cached files that were changed and not written yet'],
  ['file_mapped', 21, 'Cached files that processes have mapped'],
  ['file_writeback', 22, 'Cached files on their way to a disk'],
  ['kernel_stack', 25, 'Stacks the kernel has for threads of the group'],
  ['pgactivate', 26, 'Pages that were moved to the list of active ones'],
  ['pgdeactivate', 27, 'Pages that were moved to the list of inactive ones'],
  ['pglazyfree', 28, 'Pages that were given up until memory is short (MADV_FREE)'],
  ['pglazyfreed', 50, 'Pages given up before that were then taken'],
  ['pgrefill', 51, 'Pages of the active list that were looked at'],
  ['pgscan', 52, 'Pages of the inactive list that were looked at'],
  ['pgsteal', 53, 'Pages that were reclaimed'],
  ['recent.rotated_anon', 60, 'Pages of no file that were kept when memory was reclaimed', 'bytecount'],
  ['recent.rotated_file', 61, 'Pages of files that were kept when memory was reclaimed', 'bytecount'],
  ['recent.scanned_anon', 62, 'Pages of no file that were looked at when memory was reclaimed', 'bytecount'],
  ['recent.scanned_file', 63, 'Pages of files that were looked at when memory was reclaimed', 'bytecount'],
  ['shmem', 64, 'Cached contents of tmpfs and shared memory'],
  ['slab', 65, 'Data structures of the kernel that serve the group'],
  ['slab_reclaimable', 66, 'Such structures that could be dropped, like cached directory entries'],
  ['slab_unreclaimable', 67, 'Such structures that are needed'],
  ['sock', 68, 'Buffers of network connections'],
  ['thp_collapse_alloc', 70, 'Huge pages made of small ones that were there'],
  ['thp_fault_alloc', 71, 'Huge pages given at a page fault'],
  ['workingset.activate', 72, 'Pages that came back so soon that they count as active'],
  ['workingset.nodereclaim', 73, 'How often nodes that remember dropped pages were reclaimed'],
  ['workingset.refault', 74, 'Pages that were dropped and needed again'],
]

/** Fields that are there for the group with all groups below it, in version 1. */
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
        `${help}, the groups below included`,
      ])
  }
  return rows
}

/** Cluster 45. */
export const MEMORY_ROWS: readonly CgroupRow[] = [
  ...memoryStatRows(),
  ['usage', 80, 'memory.usage_in_bytes', '', 'bytes', 'Memory the group has now, in version 1'],
  ['limit', 81, 'memory.limit_in_bytes', '', 'bytes', 'Most memory it may have, in version 1'],
  ['failcnt', 82, 'memory.failcnt', '', 'count', 'How often it wanted more than it may have'],
  [
    'current',
    90,
    'memory.current',
    '',
    'bytes',
    'Memory the group and those below it have now, in version 2',
  ],
]

/** Cluster 41. */
export const CPUACCT_ROWS: readonly CgroupRow[] = [
  ['stat.user', 0, 'cpuacct.stat', 'user', 'ticks', 'Time its processes ran their own code'],
  ['stat.system', 1, 'cpuacct.stat', 'system', 'ticks', 'Time the kernel worked for its processes'],
  ['usage', 2, 'cpuacct.usage', '', 'ns', 'Time its processes had on all CPUs together'],
]

/** Cluster 43. */
export const CPUSCHED_ROWS: readonly CgroupRow[] = [
  ['shares', 0, 'cpu.shares', '', 'number', 'Weight of the group when CPUs are short; 1024 is usual'],
  ['periods', 1, 'cpu.stat', 'nr_periods', 'number', 'Periods over which its processor time was limited'],
  [
    'throttled',
    2,
    'cpu.stat',
    'nr_throttled',
    'number',
    'Periods in which it used up its time and had to wait',
  ],
  ['throttled_time', 3, 'cpu.stat', 'throttled_time', 'ns', 'Time it had to wait for that'],
  ['cfs_period', 4, 'cpu.cfs_period_us', '', 'usnow', 'Length of the periods over which its time is limited'],
  [
    'cfs_quota',
    5,
    'cpu.cfs_quota_us',
    '',
    'signedus',
    'Time it may run in each period; no value without limit',
  ],
]

/** Cluster 39. */
export const CPUSET_ROWS: readonly CgroupRow[] = [
  ['cpus', 0, 'cpuset.cpus', '', 'text', 'CPUs its processes may run on, as a list like 0-3,8'],
  ['mems', 1, 'cpuset.mems', '', 'text', 'NUMA nodes its processes may have memory of, as a list'],
]

/** Cluster 47. */
export const NETCLASS_ROWS: readonly CgroupRow[] = [
  ['classid', 0, 'net_cls.classid', '', 'number', 'Class that traffic control sees on its packets'],
]

/** Cluster 67. */
export const CPU_STAT_ROWS: readonly CgroupRow[] = [
  ['user', 0, 'cpu.stat', 'user_usec', 'us', 'Time its processes ran their own code, in version 2'],
  ['system', 1, 'cpu.stat', 'system_usec', 'us', 'Time the kernel worked for its processes, in version 2'],
  ['usage', 2, 'cpu.stat', 'usage_usec', 'us', 'Time its processes had on all CPUs together, in version 2'],
]

/** Cluster 68: fields of a device in io.stat, items in this order. */
export const IO_STAT_FIELDS: readonly (readonly [field: string, kind: string, help: string])[] = [
  ['rbytes', 'bytecount', 'What it read from the disk'],
  ['wbytes', 'bytecount', 'What it wrote to the disk'],
  ['rios', 'count', 'Its reads from the disk'],
  ['wios', 'count', 'Its writes to the disk'],
  ['dbytes', 'bytecount', 'What it told the disk to forget'],
  ['dios', 'count', 'How often it told the disk to forget something'],
]

/** A resource that can be short: its cluster, whether all of the group may have had to wait, and what it is. */
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

/** Files of blkio, in the order of their items, five for each: one operation each and their total. */
export const BLKIO_FILES: readonly (readonly [name: string, kind: string, what: string])[] = [
  ['io_merged', 'count', 'Requests that were joined with others'],
  ['io_queued', 'count', 'Requests that were put in the queue'],
  ['io_service_bytes', 'bytecount', 'Bytes that were transferred'],
  ['io_serviced', 'count', 'Requests that were done'],
  ['io_service_time', 'ns', 'Time from dispatch to completion of requests'],
  ['io_wait_time', 'ns', 'Time requests waited in the queue'],
]

/** Of the throttling policy, which counts before the scheduler does. */
export const BLKIO_THROTTLE_FILES: readonly (readonly [name: string, kind: string, what: string])[] = [
  ['throttle.io_service_bytes', 'bytecount', 'Bytes that were let through by throttling'],
  ['throttle.io_serviced', 'count', 'Requests that were let through by throttling'],
]

/** Words of a blkio file's rows: what the metric's name ends with, what the row has, and what it is. */
export const BLKIO_OPERATIONS: readonly (readonly [name: string, row: string, what: string])[] = [
  ['read', 'Read', 'reads'],
  ['write', 'Write', 'writes'],
  ['sync', 'Sync', 'what somebody waits for'],
  ['async', 'Async', 'what nobody waits for'],
  ['total', 'Total', 'all of them'],
]
