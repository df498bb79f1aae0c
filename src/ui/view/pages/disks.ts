/** The page about disks and file systems. Wait times and queues are computed as by pcp-iostat. */
import { chart, derived, optional, plot, pressurePlots } from '../plots.ts'
import type { Chart, Plot, View } from '../view.ts'

const DEV = 'disk.dev'

/** Returns the plots of reads and writes; `rest` is the end of the metric name. */
const readsAndWrites = (rest = '', group = DEV): Plot[] => [
  plot(`${group}.read${rest}`, { legend: '%i read' }),
  plot(`${group}.write${rest}`, { legend: '%i written' }),
]

export const DISK_THROUGHPUT: Chart = chart('disk', 'Disk throughput', readsAndWrites('_bytes'))

export const DISK_OPERATIONS: Chart = chart('operations', 'Disk operations', [
  plot(`${DEV}.read`, { legend: '%i reads' }),
  plot(`${DEV}.write`, { legend: '%i writes' }),
])

/** The newest share of each file system in use. */
export const FILE_SYSTEMS: Chart = chart(
  'filesystems',
  'File system usage',
  [plot('filesys.full', { legend: '%I' })],
  { style: 'grid', unit: 'percent', legend: false, scale: [0, 100], every: 10 },
)

/** Amount per operation: of time, r_await and w_await of pcp-iostat. */
const each = (amount: string, operations: string): string =>
  `delta(${DEV}.${amount}) / delta(${DEV}.${operations})`

/** Latency, utilisation, queue and throughput of each disk, and the space of file systems. */
export const DISKS_PAGE: View = {
  name: 'Disks',
  charts: [
    chart('await', 'Latency (await)', [
      derived(each('read_rawactive', 'read'), { legend: '%i read' }),
      derived(each('write_rawactive', 'write'), { legend: '%i write' }),
    ]),
    chart('disk-util', 'Utilisation', [derived(`rate(${DEV}.avactive)`, { legend: '%i' })], {
      unit: 'share',
      scale: [0, 1],
    }),
    chart('queue', 'Queue length', [
      derived(`rate(${DEV}.read_rawactive) + rate(${DEV}.write_rawactive)`, { legend: '%i' }),
    ]),
    { ...DISK_OPERATIONS, title: 'Operations (IOPS)' },
    { ...DISK_THROUGHPUT, title: 'Throughput' },
    chart('request-size', 'Request size', [
      derived(each('read_bytes', 'read'), { legend: '%i read' }),
      derived(each('write_bytes', 'write'), { legend: '%i write' }),
    ]),
    chart(
      'io-pressure',
      'I/O pressure (PSI)',
      pressurePlots([
        ['io.some', 'some tasks waited'],
        ['io.full', 'all tasks waited'],
      ]),
      { unit: 'percent' },
    ),
    FILE_SYSTEMS,
    chart('inodes', 'Inode usage', [derived('filesys.usedfiles / filesys.maxfiles', { legend: '%I' })], {
      ...{ style: 'grid', unit: 'share', legend: false, scale: [0, 1], every: 10 },
    }),
    chart('dm', 'Logical volumes (dm)', readsAndWrites('_bytes', 'disk.dm').map(optional)),
    chart('md', 'Arrays (md)', readsAndWrites('_bytes', 'disk.md').map(optional)),
  ],
}
