/** Resources of a host and the questions of the USE method about each: utilisation, saturation, errors. docs/how-to/charts.md */
import { FIGURES, type HealthFigure, type NeededMetric } from '../../archive/fleet/figures.ts'
import { COUNTED_TWICE, cpuShare } from '../view/plots.ts'
import { derivedName, type InstanceChoice } from '../view/view.ts'

/** A value that a figure is computed from; `name` is made up for an expression. */
export interface NeededPlot extends NeededMetric {
  readonly expr?: string
  readonly instances?: InstanceChoice
}

/** A figure with its thresholds, as on the fleet page; infinite ones never apply. */
export interface UseFigure extends Omit<HealthFigure, 'unit' | 'needs'> {
  readonly unit: 'share' | 'number' | 'seconds' | 'bytes/s' | '/s'
  readonly needs: readonly NeededPlot[]
  /** Title on a card that has the rest of it. */
  readonly brief?: string
  /** Which of the three questions it answers. */
  readonly question: 'utilisation' | 'saturation' | 'errors'
  /** The problem when a threshold is reached, as part of a sentence. */
  readonly problem: string
  /** Page and chart that show more. */
  readonly page: string
  readonly chart: string
}

/** A card of the strip; the first figure is its large value, unless `isHighest`. */
export interface Resource {
  readonly id: string
  readonly title: string
  /** Figures of the same kind, the highest of which is the large value. */
  readonly isHighest?: boolean
  readonly figures: readonly UseFigure[]
}

type Rest = Pick<UseFigure, 'question' | 'problem' | 'page' | 'chart'> & {
  readonly title?: string
  readonly brief?: string
}

/** Returns a figure of the fleet page. */
function ofFleet(id: string, rest: Rest): UseFigure {
  return { ...FIGURES.find((figure) => figure.id === id)!, ...rest }
}

const derived = (expr: string): NeededPlot => ({ name: derivedName(expr), expr, aggregate: 'max' })

const interfaces = (item: string): NeededPlot[] =>
  ['in', 'out'].map((way) => ({
    name: `network.interface.${way}.${item}`,
    instances: { mode: 'not-matching', text: COUNTED_TWICE },
  }))

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const only = ([value]: readonly number[]): number => value!
/** Kernels update these times in steps, so that a second may seem to have more than a second of them. */
const share = ([value]: readonly number[]): number => Math.min(1, value!)

/** The kernel's means of ten seconds, which the charts show too. */
const pressureOf = (parts: readonly string[], rule: string): Pick<UseFigure, 'rule' | 'needs' | 'of'> => ({
  rule: `share of time in which ${rule} (${parts.map((part) => `kernel.all.pressure.${part}.some.avg`).join(', ')})`,
  needs: parts.map((part) => ({ name: `kernel.all.pressure.${part}.some.avg`, instance: '10 second' })),
  of: (values) => Math.max(...values) / 100,
})

/** From the first event on. */
const ANY = Number.MIN_VALUE
const NEVER = Number.POSITIVE_INFINITY

/** The resources, in the order of the strip. */
export const RESOURCES: readonly Resource[] = [
  {
    id: 'cpu',
    title: 'CPU',
    figures: [
      ofFleet('cpu', { question: 'utilisation', problem: 'CPUs are busy', page: 'cpu', chart: 'cpu' }),
      ofFleet('load', {
        question: 'saturation',
        problem: 'load per CPU is high',
        page: 'cpu',
        chart: 'load',
      }),
      {
        ...{ id: 'steal', title: 'Steal', unit: 'share', warn: 0.05, bad: 0.2 },
        rule: 'share of CPU time that the hypervisor gave to others (kernel.all.cpu.steal of all modes)',
        needs: [derived(cpuShare('steal'))],
        of: only,
        ...{
          question: 'errors',
          problem: 'the hypervisor withholds CPU time',
          page: 'cpu',
          chart: 'cpu-lost',
        },
      },
    ],
  },
  {
    id: 'memory',
    title: 'Memory',
    figures: [
      ofFleet('memory', {
        ...{
          question: 'utilisation',
          problem: 'memory is nearly used up',
          page: 'memory',
          chart: 'available',
        },
      }),
      {
        ...{ id: 'swapping', title: 'Swapped', unit: '/s', warn: 100, bad: 2000 },
        rule: 'pages written to swap space and read from it in a second (swap.pagesin, swap.pagesout)',
        needs: [{ name: 'swap.pagesin' }, { name: 'swap.pagesout' }],
        of: sum,
        ...{ question: 'saturation', problem: 'memory is swapped', page: 'memory', chart: 'swapping' },
      },
      {
        ...{ id: 'oom', title: 'OOM kills', unit: '/s', warn: ANY, bad: ANY },
        rule: 'processes that the kernel killed for lack of memory (mem.vmstat.oom_kill)',
        needs: [{ name: 'mem.vmstat.oom_kill' }],
        of: only,
        ...{ question: 'errors', problem: 'processes are killed for lack of memory' },
        ...{ page: 'memory', chart: 'oom' },
      },
    ],
  },
  {
    id: 'disk',
    title: 'Disk',
    figures: [
      {
        ...{ id: 'disk-util', title: 'Busiest disk', unit: 'share', warn: 0.8, bad: 0.95 },
        rule: 'share of time in which the busiest disk had an operation to do (disk.dev.avactive)',
        needs: [{ name: 'disk.dev.avactive', aggregate: 'max' }],
        of: share,
        ...{ question: 'utilisation', problem: 'a disk is busy', page: 'disks', chart: 'disk-util' },
      },
      {
        ...{ id: 'await', title: 'Await', unit: 'seconds', warn: 0.05, bad: 0.25 },
        rule: 'mean time of an operation on the slowest disk (await of pcp-iostat)',
        needs: [
          derived(
            'delta(disk.dev.read_rawactive + disk.dev.write_rawactive) / delta(disk.dev.read + disk.dev.write)',
          ),
        ],
        of: only,
        ...{ question: 'saturation', problem: 'a disk answers slowly', page: 'disks', chart: 'await' },
      },
      ofFleet('disk', {
        ...{
          question: 'errors',
          problem: 'a file system is nearly full',
          page: 'disks',
          chart: 'filesystems',
        },
      }),
    ],
  },
  {
    id: 'network',
    title: 'Network',
    figures: [
      {
        ...{ id: 'throughput', title: 'Throughput', unit: 'bytes/s', warn: NEVER, bad: NEVER },
        rule: 'bytes received and sent by all interfaces but the loopback one (network.interface)',
        needs: interfaces('bytes'),
        of: sum,
        ...{ question: 'utilisation', problem: '', page: 'network', chart: 'network' },
      },
      {
        ...{ id: 'drops', title: 'Drops', unit: '/s', warn: 1, bad: 100 },
        rule: 'packets dropped by all interfaces (network.interface.in.drops, network.interface.out.drops)',
        needs: interfaces('drops'),
        of: sum,
        ...{ question: 'saturation', problem: 'packets are dropped', page: 'network', chart: 'net-drops' },
      },
      {
        ...{ id: 'net-errors', title: 'Errors', unit: '/s', warn: 0.1, bad: 10 },
        rule: 'errors of all interfaces (network.interface.in.errors, network.interface.out.errors)',
        needs: interfaces('errors'),
        of: sum,
        ...{ question: 'errors', problem: 'interfaces report errors', page: 'network', chart: 'net-errors' },
      },
      {
        ...{ id: 'retransmits', title: 'Retransmits', unit: 'share', warn: 0.02, bad: 0.1 },
        rule: 'share of the TCP segments sent that were sent again, with at least ten a second (network.tcp.retranssegs, network.tcp.outsegs)',
        needs: [{ name: 'network.tcp.retranssegs' }, { name: 'network.tcp.outsegs' }],
        // Of a few segments, one sent again is a large share.
        of: ([again, sent]) => (sent! >= 10 ? again! / sent! : 0 * sent!),
        ...{ question: 'errors', problem: 'TCP segments are lost', page: 'network', chart: 'retransmits' },
      },
    ],
  },
  {
    id: 'pressure',
    title: 'Pressure',
    isHighest: true,
    figures: [
      ofFleet('pressure', {
        ...pressureOf(['memory', 'io'], 'tasks waited for memory or I/O, the larger one'),
        ...{
          title: 'Memory or I/O pressure',
          brief: 'memory or I/O',
          question: 'saturation',
          problem: 'tasks wait for memory or I/O',
          page: 'overview',
          chart: 'pressure',
        },
      }),
      {
        ...{ id: 'cpu-pressure', title: 'CPU pressure', brief: 'CPU', unit: 'share', warn: 0.5, bad: 0.85 },
        ...pressureOf(['cpu'], 'some task waited for a CPU'),
        ...{ question: 'saturation', problem: 'tasks wait for CPUs', page: 'cpu', chart: 'cpu-pressure' },
      },
    ],
  },
]
