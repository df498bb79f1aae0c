/** The default view: the state of one host. */
import { GRIDS, NFS_GRIDS } from './grids.ts'
import { type Chart, derivedName, type Plot, type View } from './view.ts'

const plot = (metric: string, rest: Omit<Plot, 'metric'> = {}): Plot => ({ metric, ...rest })
const derived = (expr: string, rest: Omit<Plot, 'metric' | 'expr'> = {}): Plot => ({
  metric: derivedName(expr),
  expr,
  ...rest,
})

const CPU = 'kernel.all.cpu'

const CHARTS: readonly Chart[] = [
  {
    id: 'cpu',
    title: 'CPU',
    style: 'utilization',
    legend: true,
    plots: [
      plot(`${CPU}.user`, { legend: 'user', color: 'var(--c1)' }),
      plot(`${CPU}.nice`, { legend: 'nice', color: 'var(--c5)' }),
      plot(`${CPU}.sys`, { legend: 'system', color: 'var(--c2)' }),
      plot(`${CPU}.intr`, { legend: 'interrupts', color: 'var(--c4)' }),
      plot(`${CPU}.steal`, { legend: 'steal', color: 'var(--c6)', optional: true }),
      plot(`${CPU}.wait.total`, { legend: 'I/O wait', color: 'var(--c3)' }),
      plot(`${CPU}.idle`, { legend: 'idle', color: 'transparent' }),
    ],
  },
  {
    id: 'load',
    title: 'Load average',
    style: 'plot',
    legend: true,
    plots: [
      plot('kernel.all.load', {
        instances: { mode: 'instance', text: '1 minute' },
        legend: '1 minute',
        color: 'var(--c1)',
      }),
      plot('kernel.all.load', {
        instances: { mode: 'instance', text: '5 minute' },
        legend: '5 minutes',
        color: 'var(--c2)',
      }),
      plot('kernel.all.load', {
        instances: { mode: 'instance', text: '15 minute' },
        legend: '15 minutes',
        color: 'var(--c3)',
      }),
      plot('hinv.ncpu', { legend: 'CPUs', color: 'var(--faint)' }),
    ],
  },
  {
    id: 'memory',
    title: 'Memory',
    style: 'stacking',
    legend: true,
    plots: [
      derived('mem.util.used - mem.util.bufmem - mem.util.cached', {
        legend: 'programs',
        color: 'var(--c1)',
      }),
      plot('mem.util.bufmem', { legend: 'buffers', color: 'var(--c4)' }),
      plot('mem.util.cached', { legend: 'cache', color: 'var(--c2)' }),
      plot('mem.util.free', { legend: 'free', color: 'transparent' }),
    ],
  },
  {
    id: 'pressure',
    title: 'Pressure stall (PSI): share of time tasks waited',
    style: 'plot',
    unit: 'percent',
    legend: true,
    plots: (['cpu', 'memory', 'io'] as const).map((what, i) =>
      plot(`kernel.all.pressure.${what}.some.avg`, {
        instances: { mode: 'instance', text: '10 second' },
        legend: ['CPU', 'memory', 'I/O'][i]!,
        color: `var(--c${i + 1})`,
        optional: true,
      }),
    ),
  },
  {
    id: 'disk',
    title: 'Disk throughput',
    style: 'plot',
    legend: true,
    plots: [
      plot('disk.dev.read_bytes', { legend: '%i read' }),
      plot('disk.dev.write_bytes', { legend: '%i written' }),
    ],
  },
  {
    id: 'operations',
    title: 'Disk operations',
    style: 'plot',
    legend: true,
    plots: [plot('disk.dev.read', { legend: '%i reads' }), plot('disk.dev.write', { legend: '%i writes' })],
  },
  {
    id: 'network',
    title: 'Network',
    style: 'plot',
    legend: true,
    plots: [
      plot('network.interface.in.bytes', {
        instances: { mode: 'not-matching', text: '^(lo|bond\\d+|face)$' },
        legend: '%i in',
      }),
      plot('network.interface.out.bytes', {
        instances: { mode: 'not-matching', text: '^(lo|bond\\d+|face)$' },
        legend: '%i out',
      }),
    ],
  },
  {
    id: 'percpu',
    title: 'Busy time per CPU',
    style: 'heat',
    unit: 'share',
    legend: false,
    scale: [0, 1],
    plots: [derived('1 - rate(kernel.percpu.cpu.idle)', { legend: '%i' })],
  },
  {
    id: 'filesystems',
    title: 'File system usage',
    style: 'grid',
    unit: 'percent',
    legend: false,
    scale: [0, 100],
    every: 10,
    plots: [plot('filesys.full', { legend: '%I' })],
  },
  {
    id: 'processes',
    title: 'Processes',
    style: 'processes',
    legend: false,
    every: 5,
    wide: true,
    plots: [],
  },
]

/** The overview of a host. */
export const OVERVIEW: View = { name: 'Overview', charts: CHARTS }

/** The built-in views. The page opens with the first one, unless the user has set another start view. */
export const BUILT_IN_VIEWS: readonly View[] = [OVERVIEW, GRIDS, NFS_GRIDS]
