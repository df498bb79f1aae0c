/** The views that users of pmchart know by name, made of charts of the pages and a few more. Part of the lazily loaded part. */
import { type Page, viewOfPage } from './built-in.ts'
import { chart, optional, plot } from './plots.ts'
import type { Chart, Plot } from './view.ts'

const STACKED = { style: 'stacking' }

/** Returns a chart of a page. */
const of = (page: string, id: string): Chart => viewOfPage(page)!.charts.find((each) => each.id === id)!

const CPU = of('cpu', 'cpu')
const LOAD = of('cpu', 'load')

/** Returns a line each for reads and writes of all disks; `rest` is the end of the metric name. */
const allDisks = (rest = ''): Plot[] => [
  plot(`disk.all.read${rest}`, { legend: 'read', color: 'var(--c1)' }),
  plot(`disk.all.write${rest}`, { legend: 'written', color: 'var(--c2)' }),
]

const DISK = chart('all-operations', 'Operations of all disks (IOPS)', allDisks(), STACKED)

const NETBYTES: Chart = { ...of('network', 'network'), ...STACKED, title: 'Network throughput' }

/** Virtual machines on this host are part of user time, so user time without them is drawn. */
const GUESTS: Chart = {
  ...CPU,
  title: 'CPU, with guests',
  plots: [
    plot('kernel.all.cpu.vuser', { legend: 'user', color: 'var(--c1)' }),
    optional(plot('kernel.all.cpu.guest', { legend: 'guests', color: 'var(--c3)' })),
    ...CPU.plots.filter(({ metric }) => metric !== 'kernel.all.cpu.user'),
  ],
}

const FULL = chart('full', 'File system usage', [plot('filesys.full', { legend: '%I' })], {
  ...{ unit: 'percent', scale: [0, 100], every: 10 },
})

const SWAP = chart(
  'swap-parts',
  'Swap space',
  [
    plot('swap.used', { legend: 'used', color: 'var(--c6)' }),
    plot('swap.free', { legend: 'free', color: 'transparent' }),
  ],
  STACKED,
)

/** Returns the calls of a version of NFS, whose metrics begin with `prefix`. */
const nfs = (version: number, prefix: string): Chart =>
  chart(`${prefix}-calls`, `NFS calls, version ${version}`, [
    plot(`${prefix}.client.calls`, { legend: 'as client', color: 'var(--c1)' }),
    plot(`${prefix}.server.calls`, { legend: 'as server', color: 'var(--c2)' }),
  ])

const VIEWS: readonly (readonly [name: string, charts: readonly Chart[]])[] = [
  ['Overview', [CPU, LOAD, DISK, NETBYTES]],
  ['CPU', [CPU]],
  ['vCPU', [GUESTS]],
  ['Loadavg', [LOAD]],
  ['Syscalls', [{ ...of('cpu', 'forks'), title: 'System calls (Linux counts only forks)' }]],
  ['Memory', [of('memory', 'memory')]],
  ['MemAvailable', [of('memory', 'available')]],
  ['Paging', [of('memory', 'swapping')]],
  ['Swap', [SWAP]],
  ['Disk', [DISK]],
  ['Diskbytes', [chart('all-bytes', 'Throughput of all disks', allDisks('_bytes'), STACKED)]],
  ['Filesystem', [FULL]],
  ['Netbytes', [NETBYTES]],
  ['Netpackets', [{ ...of('network', 'packets'), ...STACKED, title: 'Network packets' }]],
  ['Sockets', [of('network', 'sockets')]],
  ['NFS2', [nfs(2, 'nfs')]],
  ['NFS3', [nfs(3, 'nfs3')]],
  [
    'PMCD',
    [
      { ...of('collector', 'pmcd-pdus'), ...STACKED },
      of('collector', 'pmcd-cpu'),
      of('collector', 'pmcd-clients'),
    ],
  ],
]

/** The views, with keys for addresses. Names of pages, as CPU, are those of other views. */
export const PMCHART_VIEWS: readonly Page[] = VIEWS.map(([name, charts]) => ({
  view: { name: `${name} (pmchart)`, charts },
  page: `pmchart-${name.toLowerCase()}`,
}))
