/** What a line of pmstat is made of: the metrics, and what each fetch brings. */
import { PcpError } from '../../model/errors.ts'
import type { ConversionOptions } from '../../pmapi/conversion.ts'
import type { FetchGroup } from '../../pmapi/fetch-group.ts'
import type { FetchItem } from '../../pmapi/fetch-item.ts'

/** Times of processors, as rates in any one unit. */
export interface ProcessorTimes {
  readonly nice: number | undefined
  readonly user: number | undefined
  readonly intr: number | undefined
  readonly sys: number | undefined
  readonly idle: number | undefined
  readonly wait: number | undefined
  readonly steal: number | undefined
  readonly guest: number | undefined
  readonly guestNice: number | undefined
}

/** One line; undefined where there is no value. */
export interface Reading {
  readonly load: number | undefined
  /** Kilobytes: swapped out, free, buffers, cached. */
  readonly memory: readonly (number | undefined)[]
  /** A second: in and out of swap, in and out of disks, interrupts, context switches. */
  readonly rates: readonly (number | undefined)[]
  readonly cpu: ProcessorTimes
}

/** The metrics of one source, to be fetched together again and again. */
export interface Readings {
  /** Swapping is counted in pages; otherwise in operations. */
  readonly countsPages: boolean
  readonly read: () => Reading
}

const MEMORY: readonly (readonly string[])[] = [
  ['swap.used'],
  ['mem.util.free'],
  ['mem.util.bufmem', 'mem.bufmem'],
  ['mem.util.cached'],
]
const PAGES: readonly string[] = ['swap.pagesin', 'swap.pagesout']
const SWAPS: readonly string[] = ['swap.in', 'swap.out']
const OTHERS: readonly (readonly string[])[] = [
  ['disk.all.blkread', 'disk.all.read'],
  ['disk.all.blkwrite', 'disk.all.write'],
  ['kernel.all.intr'],
  ['kernel.all.pswitch'],
]
const CPU: Readonly<Record<keyof ProcessorTimes, string>> = {
  nice: 'kernel.all.cpu.nice',
  user: 'kernel.all.cpu.user',
  intr: 'kernel.all.cpu.intr',
  sys: 'kernel.all.cpu.sys',
  idle: 'kernel.all.cpu.idle',
  wait: 'kernel.all.cpu.wait.total',
  steal: 'kernel.all.cpu.steal',
  guest: 'kernel.all.cpu.guest',
  guestNice: 'kernel.all.cpu.guest_nice',
}
/** Numbers are whole, of 32 bits, in PCP's: what is larger has no value. */
const MAX_U32 = 0xffffffff

/** Looks the metrics up; undefined when the source has none of them. */
export async function openReadings(group: FetchGroup): Promise<Readings | undefined> {
  let found = 0
  const open = async (names: readonly string[], how: ConversionOptions & { instance?: string } = {}) => {
    for (const name of names) {
      try {
        const item = await group.item(name, how)
        found++
        return item
      } catch (error) {
        if (!(error instanceof PcpError) || error.code === 'ECANCELED') throw error
      }
    }
    return undefined
  }
  const load = await open(['kernel.all.load'], { instance: '1 minute' })
  const memory: (FetchItem | undefined)[] = []
  for (const names of MEMORY) memory.push(await open(names, { scale: 'Kbyte' }))
  const pages = [await open([PAGES[0]!]), await open([PAGES[1]!])]
  const countsPages = pages.every((item) => item !== undefined)
  const swaps = countsPages ? pages : [await open([SWAPS[0]!]), await open([SWAPS[1]!])]
  const rates: (FetchItem | undefined)[] = [...swaps]
  for (const names of OTHERS) rates.push(await open(names))
  const cpu: Partial<Record<keyof ProcessorTimes, FetchItem | undefined>> = {}
  for (const [key, name] of Object.entries(CPU)) cpu[key as keyof ProcessorTimes] = await open([name])
  if (found === 0) return undefined
  const read = (): Reading => ({
    load: numberOf(load),
    memory: memory.map(wholeOf),
    rates: rates.map(wholeOf),
    cpu: cpuOf(cpu),
  })
  return { countsPages, read }
}

function cpuOf(items: Partial<Record<keyof ProcessorTimes, FetchItem | undefined>>): ProcessorTimes {
  const time = (key: keyof ProcessorTimes): number | undefined => {
    const value = numberOf(items[key])
    return value === undefined ? undefined : Math.trunc(value)
  }
  return {
    nice: time('nice'),
    user: time('user'),
    intr: time('intr'),
    sys: time('sys'),
    idle: time('idle'),
    wait: time('wait'),
    steal: time('steal'),
    guest: time('guest'),
    guestNice: time('guestNice'),
  }
}

function numberOf(item: FetchItem | undefined): number | undefined {
  return item?.value === undefined ? undefined : Number(item.value)
}

function wholeOf(item: FetchItem | undefined): number | undefined {
  const value = numberOf(item)
  if (value === undefined) return undefined
  const whole = Math.trunc(value)
  return whole >= 0 && whole <= MAX_U32 ? whole : undefined
}
