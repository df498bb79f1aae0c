/** mem.numa: memory of each NUMA node. /sys/devices/system/node/nodeN/{meminfo,numastat} */
import { existsSync } from 'node:fs'
import type { Scanner } from '../../base/scan.ts'
import { Reading } from '../../pmda/reading.ts'
import { readAttribute, rooted } from '../../sys/proc.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { type FieldRow, type FieldValue, fieldMetrics, numberOrNone } from './fields.ts'
import { newMeminfo, parseMeminfo } from './meminfo.ts'
import { orUndefined } from './sample.ts'

/** Fields of meminfo in kB. */
const UTIL: readonly FieldRow[] = [
  ['total', 0, 'MemTotal', 'Memory that belongs to the node'],
  ['free', 1, 'MemFree', 'Free memory of the node'],
  ['used', 2, 'MemUsed', 'Used memory of the node, including caches'],
  ['active', 3, 'Active', 'Memory of the node that was used recently'],
  ['inactive', 4, 'Inactive', 'Memory of the node not used recently: first to be reclaimed'],
  ['active_anon', 5, 'Active(anon)', 'Anonymous memory of the node that was used recently'],
  [
    'inactive_anon',
    6,
    'Inactive(anon)',
    'Anonymous memory of the node not used recently: first to be swapped out',
  ],
  ['active_file', 7, 'Active(file)', 'Page cache on the node that was used recently'],
  ['inactive_file', 8, 'Inactive(file)', 'Page cache on the node not used recently: first to be dropped'],
  [
    'highTotal',
    9,
    'HighTotal',
    'Memory of the node the kernel has no permanent mapping for',
    '32-bit kernels only.',
  ],
  ['highFree', 10, 'HighFree', 'Free memory of the node without a permanent mapping', '32-bit kernels only.'],
  ['lowTotal', 11, 'LowTotal', 'Memory of the node the kernel can reach directly', '32-bit kernels only.'],
  ['lowFree', 12, 'LowFree', 'Free memory of the node the kernel can reach directly', '32-bit kernels only.'],
  [
    'unevictable',
    13,
    'Unevictable',
    'Memory of the node that reclaim must leave alone, such as locked pages',
  ],
  ['mlocked', 14, 'Mlocked', 'Memory of the node locked by mlock(2) and its relatives'],
  ['dirty', 15, 'Dirty', 'Page cache on the node changed and not yet written back'],
  ['writeback', 16, 'Writeback', 'Page cache on the node being written back'],
  ['filePages', 17, 'FilePages', 'Page cache on the node, including shared memory and swap cache'],
  ['mapped', 18, 'Mapped', 'Page cache on the node that is mapped into some process'],
  ['anonpages', 19, 'AnonPages', 'Anonymous memory of the node mapped into processes'],
  ['shmem', 20, 'Shmem', 'Shared memory and tmpfs file systems on the node'],
  ['kernelStack', 21, 'KernelStack', 'Stacks on the node that threads use while in the kernel'],
  ['pageTables', 22, 'PageTables', 'Tables on the node that map the memory of processes'],
  [
    'NFS_Unstable',
    23,
    'NFS_Unstable',
    'Data on the node sent to an NFS server that has not yet put it on stable storage',
  ],
  ['bounce', 24, 'Bounce', 'Copies in low memory of the node for devices that cannot reach the original'],
  [
    'writebackTmp',
    25,
    'WritebackTmp',
    'Buffers on the node in which FUSE file systems keep data to be written',
  ],
  ['slab', 26, 'Slab', 'Kernel object caches on the node, reclaimable or not'],
  [
    'slabReclaimable',
    27,
    'SReclaimable',
    'Kernel object caches on the node that can be freed when memory is needed',
  ],
  ['slabUnreclaimable', 28, 'SUnreclaim', 'Kernel object caches on the node that cannot be freed'],
]

const HUGE = 'The pool of huge pages is allocated with vm.nr_hugepages or a similar setting for one node.'

/** Fields of meminfo in pages. */
const HUGEPAGES: readonly FieldRow[] = [
  ['hugepagesTotal', 29, 'HugePages_Total', 'Huge pages in the pool of the node', HUGE],
  ['hugepagesFree', 30, 'HugePages_Free', 'Free huge pages in the pool of the node', HUGE],
  ['hugepagesSurp', 31, 'HugePages_Surp', 'Huge pages of the node beyond those of its pool', HUGE],
]

const HUGEPAGE_BYTES: readonly FieldRow[] = [
  ['hugepagesTotalBytes', 39, 'HugePages_Total', 'Memory in huge pages in the pool of the node', HUGE],
  ['hugepagesFreeBytes', 40, 'HugePages_Free', 'Memory in free huge pages in the pool of the node', HUGE],
  [
    'hugepagesSurpBytes',
    41,
    'HugePages_Surp',
    'Memory in huge pages of the node beyond those of its pool',
    HUGE,
  ],
]

/** Fields of numastat. */
const ALLOC: readonly FieldRow[] = [
  ['hit', 32, 'numa_hit', 'Pages allocated on this node as was wanted'],
  ['miss', 33, 'numa_miss', 'Pages allocated on this node although another was preferred'],
  ['foreign', 34, 'numa_foreign', 'Pages wanted on this node that had to come from another'],
  [
    'interleave_hit',
    35,
    'interleave_hit',
    'Pages placed round robin over the nodes that came here as wanted',
  ],
  ['local_node', 36, 'local_node', 'Pages allocated here for processes that ran on a CPU of this node'],
  ['other_node', 37, 'other_node', 'Pages allocated here for processes that ran on a CPU of another node'],
]

type Fields = ReadonlyMap<string, FieldValue>
type Nodes = ReadonlyMap<number, Fields>

/** Nodes, and the default size of huge pages; NaN if the kernel has none. */
interface HugePages {
  readonly nodes: Nodes
  readonly bytes: number
}

/**
 * Parses lines `Node 0 MemTotal: 8009216 kB` or `numa_hit 4419227` by field. `words` are the words of each line in the last
 * reading, with their fields.
 */
export function parseNode(scan: Scanner, words: { word: string; field: string }[] = []): Fields {
  const fields = new Map<string, FieldValue>()
  for (let line = 0; !scan.atEnd; line++) {
    if (scan.accept('Node ')) scan.skipWords(1)
    let known = words[line]
    const word = scan.word(known?.word)
    if (known === undefined || word !== known.word) {
      known = { word, field: word.replace(/:$/, '') }
      words[line] = known
    }
    fields.set(known.field, numberOrNone(scan.uintExact()))
    scan.nextLine()
  }
  return fields
}

/**
 * Parses bandwidth.conf, megabytes per second by node: a line `Version:1.0`, lines `node0:12800.5` and # comments. Empty for
 * another version.
 */
export function parseBandwidth(text: string): ReadonlyMap<number, number> {
  const bandwidth = new Map<number, number>()
  let isKnown = false
  for (const line of text.split('\n')) {
    const [key, value] = line.replace(/#.*/, '').replace(/\s+/g, '').split(':')
    if (key === 'Version') isKnown = value === '1.0'
    const node = /^node(\d+)$/.exec(key!)
    if (isKnown && node !== null && value !== '' && Number(value) >= 0)
      bandwidth.set(Number(node[1]), Number(value))
  }
  return bandwidth
}

/** The metrics of NUMA nodes (cluster 36). */
export function numaMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const nodeFile = (file: string): Reading<Nodes> => {
    const words: { word: string; field: string }[] = []
    return new Reading(() => {
      const nodes = new Map<number, Fields>()
      for (const name of ctx.list('/sys/devices/system/node')) {
        const number = /^node(\d+)$/.exec(name)?.[1]
        if (number === undefined) continue
        try {
          const scan = ctx.file(`/sys/devices/system/node/${name}/${file}`).scan()
          nodes.set(Number(number), parseNode(scan, words))
        } catch {
          // the node and its files were removed: no values
        }
      }
      return nodes
    })
  }
  const meminfo = nodeFile('meminfo')
  const numastat = nodeFile('numastat')
  const pageSize = newMeminfo(['Hugepagesize'])
  const huge = new Reading((batch): HugePages => {
    meminfo.refresh(batch)
    const [kilobytes] = parseMeminfo(ctx.file('/proc/meminfo').scan(), pageSize).values
    return { nodes: meminfo.value, bytes: kilobytes! * 1024 }
  })
  const folder = ctx.env.env['PCP_PMDAS_DIR'] ?? '/var/lib/pcp/pmdas'
  const configuration = rooted(ctx.env.root, `${folder}/linux/bandwidth.conf`)
  const bandwidth = new Reading(() =>
    parseBandwidth(existsSync(configuration) ? (readAttribute('/', configuration) ?? '') : ''),
  )
  const family = {
    prefix: 'mem.numa.util',
    cluster: 36,
    reading: meminfo,
    source: (field: string) => `Field ${field} of /sys/devices/system/node/nodeN/meminfo.`,
    pick: (nodes: Nodes, field: string, node: number) => nodes.get(node)?.get(field),
    sem: 'instant',
    units: 'Kbyte',
    indom: ctx.nodes,
  } as const
  return {
    ...fieldMetrics(family, UTIL),
    ...fieldMetrics({ ...family, units: 'count' }, HUGEPAGES),
    ...fieldMetrics(
      {
        ...family,
        reading: huge,
        units: 'byte',
        source: (field) =>
          `Field ${field} of /sys/devices/system/node/nodeN/meminfo times Hugepagesize of /proc/meminfo.`,
        pick: ({ nodes, bytes }: HugePages, field, node) => {
          const pages = nodes.get(node)?.get(field)
          return pages === undefined ? undefined : orUndefined(Number(pages) * bytes)
        },
      },
      HUGEPAGE_BYTES,
    ),
    ...fieldMetrics(
      {
        ...family,
        prefix: 'mem.numa.alloc',
        reading: numastat,
        source: (field) => `Field ${field} of /sys/devices/system/node/nodeN/numastat, in pages since boot.`,
        sem: 'counter',
        units: 'count',
      },
      ALLOC,
    ),
    'mem.numa.max_bandwidth': {
      cluster: 36,
      item: 38,
      type: 'double',
      sem: 'discrete',
      units: 'Mbyte / sec',
      indom: ctx.nodes,
      help: 'Memory bandwidth of the node, as configured by the administrator',
      text:
        'From $PCP_PMDAS_DIR/linux/bandwidth.conf, which has a line Version:1.0 and a line ' +
        'such as node0:12800 for each node. No value without that file.',
      reading: bandwidth,
      value: (node) => bandwidth.value.get(node),
    },
  }
}
