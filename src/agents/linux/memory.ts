/** mem.util, mem.physmem, mem.freemem, swap and the hinv metrics of memory. /proc/meminfo, /proc/vmstat, proc(5) */
import type { Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { type Meminfo, memField, newMeminfo, parseMeminfo } from './meminfo.ts'
import { HUGE_ROWS, MEMORY_ROWS } from './memory-rows.ts'
import { orUndefined, unsupported } from './sample.ts'

const FIELDS: readonly string[] = [
  ...new Set([...MEMORY_ROWS, ...HUGE_ROWS].map((row) => row[2])),
  'MemTotal',
  'Hugepagesize',
  'MemAvailable',
]

/** Metrics computed from several fields: name, item, function, help texts. */
type Formula = readonly [
  name: string,
  item: number,
  compute: (field: (name: string) => number) => number,
  help: string,
  text: string,
  own?: Partial<OrderedRow>,
]

const FORMULAS: readonly Formula[] = [
  [
    'mem.util.used',
    1,
    (f) => f('MemTotal') - f('MemFree'),
    'Memory in use, including page cache and buffers',
    'MemTotal minus MemFree of /proc/meminfo. Much of it can be reclaimed: mem.util.available is the memory left for programs.',
  ],
  [
    'mem.util.other',
    12,
    (f) => Math.max(0, f('MemTotal') - f('MemFree') - f('Cached') - f('Buffers')),
    'Memory in use other than page cache and buffers: programs and the kernel',
    'MemTotal minus MemFree, Cached and Buffers of /proc/meminfo, at least 0.',
    { after: 'cached' },
  ],
  [
    'mem.util.cache_clean',
    29,
    (f) => Math.max(0, f('Cached') - f('Dirty') - f('Writeback')),
    'Page cache that is unmodified and can be dropped at no cost',
    'Cached minus Dirty and Writeback of /proc/meminfo, at least 0.',
    { after: 'reverseMaps' },
  ],
]

/** The metrics of /proc/meminfo (cluster 1), and swap.pagesin, pagesout, in and out. */
export function memoryMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const table = newMeminfo(FIELDS)
  const meminfo = new Reading(() => parseMeminfo(ctx.file('/proc/meminfo').scan(), table))
  const field = (name: string): number => memField(meminfo.value, name)
  const metrics: { [name: string]: OrderedRow } = {}
  const level = { cluster: 1, type: 'u64', sem: 'instant', units: 'Kbyte', reading: meminfo } as const

  for (const [name, item, compute, help, text, own] of FORMULAS) {
    metrics[name] = { item, help, text, value: () => orUndefined(compute(field)), ...level, ...own }
  }
  for (const [name, item, source, help, text, own] of MEMORY_ROWS) {
    const slot = FIELDS.indexOf(source)
    metrics[name] = {
      item,
      help,
      text: explain(source, text),
      value: () => orUndefined(meminfo.value.values[slot]!),
      ...level,
      ...own,
    }
  }
  for (const [name, item, source, help, bytesItem] of HUGE_ROWS) {
    metrics[`mem.util.${name}`] = {
      ...level,
      after: 'kernelStack',
      item,
      units: 'count',
      help: `${help}, as a number of pages`,
      text: explain(source, 'Only pages of the default size, hinv.hugepagesize.'),
      value: () => orUndefined(field(source)),
    }
    metrics[`mem.util.${name}Bytes`] = {
      ...level,
      item: bytesItem,
      units: 'byte',
      help: `${help}, as memory`,
      text: explain(source, 'Multiplied by Hugepagesize.'),
      value: () => orUndefined(field(source) * field('Hugepagesize') * 1024),
    }
  }
  return {
    ...hinvMetrics(ctx, meminfo),
    ...metrics,
    ...availableMetric(ctx, meminfo),
    ...swapMetrics(ctx, meminfo),
  }
}

function explain(field: string, text: string): string {
  return `Field ${field} of /proc/meminfo. ${text}`
}

function availableMetric(ctx: LinuxContext, meminfo: Reading<Meminfo>): { [name: string]: OrderedRow } {
  return {
    'mem.util.available': {
      after: 'directMap1G',
      cluster: 1,
      item: 58,
      type: 'u64',
      sem: 'instant',
      units: 'Kbyte',
      help: 'Memory available to programs without swapping',
      text: 'Field MemAvailable of /proc/meminfo. For kernels before 3.14 it is estimated in the same way: free memory plus the page cache and reclaimable slabs that can be dropped, minus the low watermarks of /proc/zoneinfo.',
      reading: meminfo,
      value: () => {
        const field = (name: string): number => memField(meminfo.value, name)
        const given = field('MemAvailable')
        if (!Number.isNaN(given)) return given
        const low = (lowWatermark(ctx.text('/proc/zoneinfo')) * ctx.pagesize) / 1024
        return orUndefined(estimateAvailable(field, low))
      },
    },
  }
}

/** Kbyte available without swapping, from fields of /proc/meminfo and the sum of low watermarks in Kbyte. */
export function estimateAvailable(field: (name: string) => number, low: number): number {
  const cache = field('Active(file)') + field('Inactive(file)')
  const slab = field('SReclaimable')
  const estimate = field('MemFree') - low + cache - Math.min(cache / 2, low) + slab - Math.min(slab / 2, low)
  return Math.max(0, Math.floor(estimate))
}

/** Sum over the zones in /proc/zoneinfo of the pages below which the kernel starts to reclaim. */
export function lowWatermark(zoneinfo: string): number {
  let pages = 0
  for (const match of zoneinfo.matchAll(/^\s+low\s+(\d+)$/gm)) pages += Number(match[1])
  return pages
}

function hinvMetrics(ctx: LinuxContext, meminfo: Reading<Meminfo>): { [name: string]: OrderedRow } {
  const fact = { cluster: 1, type: 'u32', sem: 'discrete' } as const
  return {
    'mem.physmem': {
      ...fact,
      type: 'u64',
      item: 0,
      units: 'Kbyte',
      help: 'Main memory managed by the kernel, in kilobytes',
      text: 'Field MemTotal of /proc/meminfo. Excludes memory reserved by firmware and the kernel image.',
      reading: meminfo,
      value: () => orUndefined(memField(meminfo.value, 'MemTotal')),
    },
    'hinv.physmem': {
      ...fact,
      item: 9,
      units: 'Mbyte',
      help: 'Main memory managed by the kernel, in whole megabytes',
      text: 'MemTotal of /proc/meminfo: a little less than installed, because firmware and kernel reserve some.',
      reading: meminfo,
      value: () => orUndefined(Math.floor(memField(meminfo.value, 'MemTotal') / 1024)),
    },
    'hinv.pagesize': {
      ...fact,
      item: 11,
      units: 'byte',
      help: 'Size of an ordinary page of memory',
      text: 'From the auxiliary vector of the process. Counters of pages, in mem.vmstat and elsewhere, are in this unit.',
      value: () => ctx.pagesize,
    },
    'hinv.hugepagesize': {
      ...fact,
      after: 'machine',
      item: 59,
      units: 'byte',
      help: 'Default size of huge pages',
      text: 'Hugepagesize of /proc/meminfo. The mem.util.hugepages metrics count pages of this size.',
      reading: meminfo,
      value: () => orUndefined(memField(meminfo.value, 'Hugepagesize') * 1024),
    },
  }
}

function swapMetrics(ctx: LinuxContext, meminfo: Reading<Meminfo>): { [name: string]: OrderedRow } {
  const level = { cluster: 1, type: 'u64', sem: 'instant', units: 'byte', reading: meminfo } as const
  const field = (name: string): number => memField(meminfo.value, name)
  const swapped = new Reading(() => {
    const scan = ctx.file('/proc/vmstat').scan()
    let pagesIn = Number.NaN
    let pagesOut = Number.NaN
    do {
      if (scan.accept('pswpin ')) pagesIn = scan.uint()
      else if (scan.accept('pswpout ')) pagesOut = scan.uint()
    } while (scan.nextLine())
    return { pagesIn, pagesOut }
  })
  const pages = { type: 'u32', sem: 'counter', units: 'count' } as const
  const none = (): Sample => unsupported()
  return {
    'swap.pagesin': {
      ...pages,
      item: 8,
      help: 'Pages read back from swap space since boot',
      text: 'The pswpin line of /proc/vmstat. A sustained rate means that programs do not fit into memory.',
      reading: swapped,
      value: () => orUndefined(swapped.value.pagesIn),
    },
    'swap.pagesout': {
      ...pages,
      item: 9,
      help: 'Pages written to swap space since boot',
      text: 'The pswpout line of /proc/vmstat.',
      reading: swapped,
      value: () => orUndefined(swapped.value.pagesOut),
    },
    'swap.in': {
      ...pages,
      item: 10,
      help: 'Swap-in operations, counted only up to Linux 2.4',
      text: 'Always an error: use swap.pagesin.',
      value: none,
    },
    'swap.out': {
      ...pages,
      item: 11,
      help: 'Swap-out operations, counted only up to Linux 2.4',
      text: 'Always an error: use swap.pagesout.',
      value: none,
    },
    'swap.free': {
      ...level,
      item: 8,
      help: 'Free swap space',
      text: 'SwapFree of /proc/meminfo, in bytes.',
      value: () => orUndefined(field('SwapFree') * 1024),
    },
    'swap.length': {
      ...level,
      item: 6,
      help: 'Total swap space of all devices and files',
      text: 'SwapTotal of /proc/meminfo, in bytes.',
      value: () => orUndefined(field('SwapTotal') * 1024),
    },
    'swap.used': {
      ...level,
      item: 7,
      help: 'Used swap space',
      text: 'SwapTotal minus SwapFree of /proc/meminfo, in bytes. Pages read back may stay in swap (mem.util.swapCached).',
      value: () => orUndefined((field('SwapTotal') - field('SwapFree')) * 1024),
    },
  }
}
