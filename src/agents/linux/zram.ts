/** zram.io_stat, mm_stat, bd_stat and capacity: statistics of zram devices in sysfs. Documentation/admin-guide/blockdev/zram.rst of the kernel */
import type { MetricSpec } from '../../pmda/define.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { BlockDevices } from './block-devices.ts'
import type { LinuxContext } from './context.ts'
import { parseNumber } from './sample.ts'

/** Name, item, column, and help texts. */
type Row = readonly [
  name: string,
  item: number,
  column: number,
  help: string,
  text: string,
  own?: Partial<OrderedRow>,
]

/** A file of /sys/block/zramN: cluster, semantics, units, scale factor, and rows. */
interface StatFile {
  readonly file: string
  readonly cluster: number
  readonly rows: readonly Row[]
  readonly meaning: (name: string) => Pick<MetricSpec, 'sem' | 'units'>
  readonly scale: (name: string, number: number) => number
}

const isPages = (name: string): boolean => name.startsWith('pages.')
/** zram counts in pages of 4 Kbyte. */
const PAGE_KBYTE = 4

const FILES: readonly StatFile[] = [
  {
    file: 'io_stat',
    cluster: 87,
    meaning: () => ({ sem: 'counter', units: 'count' }),
    scale: (_name, number) => number,
    rows: [
      ['failed.reads', 0, 0, 'Reads from a compressed disk that failed', 'Normally 0.'],
      [
        'failed.writes',
        1,
        1,
        'Writes to a compressed disk that failed, mostly for lack of memory',
        'It grows when the limit (zram.mm_stat.mem.limit) is reached.',
      ],
      [
        'invalid',
        2,
        2,
        'Requests not aligned to pages',
        'Always 0 on kernels that split such requests themselves.',
      ],
      [
        'notify_free',
        3,
        3,
        'Pages freed because swap space was freed or blocks were discarded',
        'On a swap device it grows as processes end.',
      ],
    ],
  },
  {
    file: 'mm_stat',
    cluster: 88,
    meaning: (name) => ({ sem: isPages(name) ? 'counter' : 'instant', units: 'Kbyte' }),
    scale: (name, number) => (isPages(name) ? number * PAGE_KBYTE : Math.floor(number / 1024)),
    rows: [
      [
        'data_size.original',
        0,
        0,
        'Data on a compressed disk, by its size before compression',
        'Excludes pages of a single repeated value, which take no space.',
      ],
      [
        'data_size.compressed',
        1,
        1,
        'Data on a compressed disk, by its size after compression',
        'The quotient with data_size.original is the compression ratio.',
      ],
      [
        'mem.used_total',
        2,
        2,
        'Memory used by a compressed disk, including overhead and fragmentation',
        'Compare with zram.mm_stat.data_size.original.',
      ],
      [
        'mem.limit',
        3,
        3,
        'Memory limit of a compressed disk; 0 for no limit',
        'Set by writing to mem_limit.',
      ],
      ['mem.max_used', 4, 4, 'Peak memory used by a compressed disk', 'Writing 0 to mem_used_max resets it.'],
      [
        'pages.same',
        5,
        5,
        'Pages of a single repeated value, as the memory they would take',
        'They are only noted, not stored.',
      ],
      [
        'pages.compacted',
        6,
        6,
        'Memory freed by compacting compressed pages',
        'Started by writing to compact, or under memory pressure.',
      ],
      ['pages.huge', 7, 7, 'Incompressible pages, stored uncompressed', 'Missing on kernels before 4.19.'],
    ],
  },
  {
    file: 'bd_stat',
    cluster: 89,
    meaning: () => ({ sem: 'counter', units: 'Kbyte' }),
    scale: (_name, number) => number * PAGE_KBYTE,
    rows: [
      [
        'count',
        0,
        0,
        'Data of a compressed disk on its backing device',
        'Needs a kernel with zram writeback and a backing_dev.',
      ],
      [
        'reads',
        1,
        1,
        'Data read back from the backing device of a compressed disk',
        'Needs a kernel with zram writeback and a backing_dev.',
      ],
      [
        'writes',
        2,
        2,
        'Data written to the backing device of a compressed disk',
        'Needs a kernel with zram writeback and a backing_dev.',
      ],
    ],
  },
]

/** Parses numbers separated by spaces; undefined for invalid ones. */
function parseZramStat(text: string): readonly (number | undefined)[] {
  return text.trim().split(/\s+/).map(parseNumber)
}

/** Returns the metrics of zram devices in sysfs; missing files and columns have no value. */
export function zramMetrics(ctx: LinuxContext, zram: BlockDevices): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const { file, cluster, rows, meaning, scale } of FILES) {
    for (const [name, item, column, help, text, own] of rows) {
      metrics[`zram.${file}.${name}`] = {
        cluster,
        item,
        type: 'u64',
        ...meaning(name),
        indom: zram.indom,
        help,
        text: `Column ${column + 1} of /sys/block/zramN/${file}. ${text}`,
        reading: zram.reading,
        value: (inst) => {
          const content = ctx.attribute(`/sys/block/${zram.deviceOf(inst)}/${file}`)
          const number = content === undefined ? undefined : parseZramStat(content)[column]
          return number === undefined ? undefined : scale(name, number)
        },
        ...own,
      }
    }
  }
  metrics['zram.capacity'] = {
    after: 'total_rawactive',
    cluster: 86,
    item: 16,
    type: 'u64',
    sem: 'discrete',
    units: 'Kbyte',
    indom: zram.indom,
    help: 'Capacity of each compressed disk, before compression',
    text: 'The bytes in /sys/block/zramN/disksize. 0 for a disk that is not configured.',
    reading: zram.reading,
    value: (inst) => {
      const bytes = ctx.number(`/sys/block/${zram.deviceOf(inst)}/disksize`)
      return bytes === undefined ? undefined : Math.floor(bytes / 1024)
    },
  }
  return metrics
}
