/** Lines about memory: MEM, SWP, NUM, NUC, PAG, PSI. pcp-atop(1) */
import { countCell, levelOf, nodeCpuLines, percentCell, textCell } from './cpu-cells.ts'
import { blank, type Cell, type Level, type LineSetup, type SystemLine } from './layout.ts'
import type { Step } from './step.ts'
import { sizeText } from './values.ts'

const size = (weight: number, name: string, bytes: number, level?: Level): Cell =>
  textCell(weight, name, sizeText(bytes, 'M'), level)

export function memoryLines(setup: LineSetup): readonly SystemLine[] {
  return [
    memoryLine(setup),
    sharedLine(setup.step),
    swapLine(setup),
    ...nodeLines(setup.step),
    ...nodeCpuLines(setup),
    ...pagingLine(setup),
    ...pressureLine(setup),
  ]
}

/** Returns bytes of a metric of mem.util. */
const util = (step: Step, item: string): number => step.value(`mem.util.${item}`)

function memoryLine({ step, settings: { limits } }: LineSetup): SystemLine {
  const total = step.value('mem.physmem')
  const free = step.value('mem.freemem')
  const reclaimable =
    util(step, 'cached') + util(step, 'bufmem') + util(step, 'slabReclaimable') - util(step, 'shmem')
  const used = total > 0 ? ((total - free - reclaimable) * 100) / total : 0
  const level = levelOf(used, limits.mem, limits.almost)
  const page = step.value('hinv.hugepagesize')
  const huge = util(step, 'hugepagesTotal')
  const cells = [
    size(13, 'tot', total),
    size(12, 'free', free, level),
    blank(),
    size(11, 'cache', util(step, 'cached'), level),
    size(7, 'dirty', util(step, 'dirty')),
    size(10, 'buff', util(step, 'bufmem'), level),
    blank(),
    size(9, 'slab', util(step, 'slab'), level),
    size(4, 'slrec', util(step, 'slabReclaimable')),
    blank(),
    size(5, 'pgtab', util(step, 'pageTables')),
    blank(),
  ]
  if (huge > 0)
    cells.push(size(6, 'hptot', huge * page), size(3, 'hpuse', (huge - util(step, 'hugepagesFree')) * page))
  return { label: 'MEM', cells }
}

function sharedLine(step: Step): SystemLine {
  const page = step.value('hinv.pagesize')
  return {
    label: 'MEM',
    cells: [
      countCell(10, 'numnode', step.value('hinv.nnode')),
      blank(1),
      size(7, 'shmem', util(step, 'shmem')),
      size(6, 'shrss', step.value('ipc.shm.rss')),
      size(4, 'shswp', step.value('ipc.shm.swp')),
      blank(),
      size(8, 'tcpsk', step.value('network.sockstat.tcp.mem') * page),
      size(5, 'udpsk', step.value('network.sockstat.udp.mem') * page),
      blank(),
      blank(),
      size(9, 'zfarc', step.value('zfs.arc.size')),
    ],
  }
}

function swapLine({ step, settings: { limits } }: LineSetup): SystemLine {
  const total = step.value('swap.length')
  const free = step.value('swap.free')
  const level = levelOf(total > 0 ? ((total - free) * 100) / total : 0, limits.swp, limits.almost)
  const page = step.value('hinv.pagesize')
  const committed = util(step, 'committed_AS')
  const limit = util(step, 'commitLimit')
  const over = limit > 0 && committed > limit ? 'almost' : undefined
  return {
    label: 'SWP',
    cells: [
      size(9, 'tot', total),
      size(10, 'free', free, level),
      size(8, 'swcac', util(step, 'swapCached')),
      blank(),
      size(6, 'zpool', step.value('mem.zswap.pool_total_size')),
      size(7, 'zstor', step.value('mem.zswap.stored_pages') * page),
      blank(),
      size(4, 'ksuse', step.value('mem.ksm.pages_shared') * page),
      size(5, 'kssav', step.value('mem.ksm.pages_sharing') * page),
      blank(),
      size(11, 'vmcom', committed, over),
      size(12, 'vmlim', limit, over),
    ],
  }
}

function nodeLines(step: Step): readonly SystemLine[] {
  if (step.value('hinv.nnode') <= 1) return []
  return [...step.instances('mem.numa.util.total')].map(([inst, name]) => {
    const of = (item: string): number => step.value(`mem.numa.util.${item}`, inst)
    return {
      label: 'NUM',
      cells: [
        countCell(12, 'numanode', Number(/\d+$/.exec(name)?.[0] ?? inst)),
        size(11, 'tot', of('total')),
        size(10, 'free', of('free')),
        size(9, 'file', of('filePages')),
        size(4, 'dirty', of('dirty')),
        size(8, 'activ', of('active')),
        size(7, 'inact', of('inactive')),
        size(6, 'slab', of('slab')),
        size(3, 'slrec', of('slabReclaimable')),
        size(5, 'shmem', of('shmem')),
        countCell(2, 'hptot', of('hugepagesTotal')),
      ],
    }
  })
}

/** Page activity of the kernel. */
export interface Paging {
  readonly scans: number
  readonly steals: number
  readonly stalls: number
  readonly compactions: number
  readonly numaMigrations: number
  readonly migrations: number
  readonly pagesIn: number
  readonly pagesOut: number
  readonly swapIn: number
  readonly swapOut: number
  readonly oomKills: number
}

const ZONES = ['dma', 'dma32', 'high', 'movable', 'normal']
const ofZones = (item: string): string[] => ZONES.map((zone) => `mem.vmstat.${item}_${zone}`)
const SCAN_ZONES = [...ofZones('pgscan_direct'), ...ofZones('pgscan_kswapd')]
const SCANS = ['mem.vmstat.pgscan_direct', 'mem.vmstat.pgscan_kswapd']

/** Returns the growth of the kernel's page counters. Kernels count scans either by zone or in total. */
export function pagingOf(step: Step): Paging {
  const vmstat = (item: string): number => step.delta(`mem.vmstat.${item}`)
  const scansOfZones = step.sum(...SCAN_ZONES)
  return {
    scans: scansOfZones > 0 ? scansOfZones : step.sum(...SCANS),
    steals: step.sum(...ofZones('pgsteal')),
    stalls: vmstat('allocstall') + step.sum(...ofZones('allocstall')),
    compactions: vmstat('compact_stall'),
    numaMigrations: vmstat('numa_pages_migrated'),
    migrations: vmstat('pgmigrate_success'),
    pagesIn: vmstat('pgpgin'),
    pagesOut: vmstat('pgpgout'),
    swapIn: step.delta('swap.pagesin'),
    swapOut: step.delta('swap.pagesout'),
    oomKills: vmstat('oom_kill'),
  }
}

function pagingLine({ step, perSec, settings }: LineSetup): readonly SystemLine[] {
  const paging = pagingOf(step)
  if (!settings.fixed && Object.values(paging).every((count) => count === 0)) return []
  const { limits } = settings
  const out = paging.swapOut / step.elapsedSec
  const level: Level | undefined =
    limits.swout <= 0 ? undefined : out > limits.swout ? 'critical' : out >= 1 ? 'almost' : undefined
  const count = (weight: number, name: string, value: number): Cell => countCell(weight, name, value, perSec)
  return [
    {
      label: 'PAG',
      cells: [
        count(3, 'scan', paging.scans),
        count(2, 'steal', paging.steals),
        count(1, 'stall', paging.stalls),
        count(4, 'compact', paging.compactions),
        count(5, 'numamig', paging.numaMigrations),
        count(7, 'migrate', paging.migrations),
        count(8, 'pgin', paging.pagesIn),
        count(9, 'pgout', paging.pagesOut),
        count(6, 'swin', paging.swapIn),
        { ...count(10, 'swout', paging.swapOut), level },
        count(11, 'oomkill', paging.oomKills),
      ],
    },
  ]
}

/** Kinds of pressure: title of the percentage, title of the averages, metric. */
const PRESSURES: readonly (readonly [string, string, string])[] = [
  ['cpusome', 'cs', 'cpu.some'],
  ['memsome', 'ms', 'memory.some'],
  ['memfull', 'mf', 'memory.full'],
  ['iosome', 'is', 'io.some'],
  ['iofull', 'if', 'io.full'],
]
const PRESSURE_SPANS = [10, 60, 300]

/** Does the host measure pressure (PSI)? */
export function hasPressure(step: Step): boolean {
  return PRESSURES.some(([, , item]) => step.has(`kernel.all.pressure.${item}.total`))
}

/** Returns averages in percent over 10, 60 and 300 seconds, and microseconds of stall in the interval. */
export function pressureOf(
  step: Step,
  item: string,
): { readonly means: readonly number[]; readonly stalledUs: number } {
  const metric = `kernel.all.pressure.${item}`
  const names = [...step.instances(`${metric}.avg`)]
  const means = PRESSURE_SPANS.map((span) => {
    const inst = names.find(([id, name]) => id === span || Number.parseInt(name, 10) === span)?.[0]
    return inst === undefined ? 0 : step.value(`${metric}.avg`, inst)
  })
  // Without a previous value the counter has accumulated since boot and gives no percentage.
  const isKnown = step.isSinceBoot || step.before?.has(`${metric}.total`) === true
  return { means, stalledUs: isKnown ? step.delta(`${metric}.total`) : 0 }
}

function pressureLine({ step, settings }: LineSetup): readonly SystemLine[] {
  const all = PRESSURES.map(([, , item]) => pressureOf(step, item))
  const percents = all.map(({ stalledUs }) => Math.min(100, stalledUs / step.elapsedSec / 10_000))
  const isIdle = percents.every((percent) => Math.round(percent) === 0)
  if (!hasPressure(step) || (isIdle && !settings.fixed)) return []
  const shares = PRESSURES.map(([title], i) => percentCell(10 - i, title, percents[i]!))
  const means = PRESSURES.map(([, title], i) =>
    textCell(5 - i, title, all[i]!.means.map((mean) => Math.round(mean)).join('/')),
  )
  return [{ label: 'PSI', cells: [...shares, ...means] }]
}
