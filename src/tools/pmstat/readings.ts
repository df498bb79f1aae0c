/** What a line of pmstat is made of: the metrics, and what each fetch brings. */
import { PcpError } from '../../model/errors.ts'
import type { FetchGroup, ItemOptions } from '../../pmapi/fetch-group.ts'
import { openNumbers } from './number-readings.ts'
import {
  type FoundMetric,
  LOAD,
  MEMORY,
  type NumberReader,
  PLACES,
  putNumber,
  RATES,
  TIMES,
} from './numbers.ts'

/** The readings of one source. */
export interface Readings extends NumberReader {
  /** Swapping is counted in pages; otherwise in operations. */
  readonly countsPages: boolean
}

const MEMORY_NAMES: readonly (readonly string[])[] = [
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
const CPU = [
  'kernel.all.cpu.nice',
  'kernel.all.cpu.user',
  'kernel.all.cpu.intr',
  'kernel.all.cpu.sys',
  'kernel.all.cpu.idle',
  'kernel.all.cpu.wait.total',
  'kernel.all.cpu.steal',
  'kernel.all.cpu.guest',
  'kernel.all.cpu.guest_nice',
]

/** Looks the metrics up; undefined when the source has none of them. `wraps`: a counter that decreased has gone round once. */
export async function openReadings(group: FetchGroup, wraps: boolean): Promise<Readings | undefined> {
  const found: FoundMetric[] = []
  const open = async (place: number, names: readonly string[], how: ItemOptions = {}): Promise<boolean> => {
    for (const name of names) {
      try {
        found.push({ place, name, how, item: await group.item(name, how) })
        return true
      } catch (error) {
        if (!(error instanceof PcpError) || error.code === 'ECANCELED') throw error
      }
    }
    return false
  }
  await open(LOAD, ['kernel.all.load'], { instance: '1 minute' })
  for (const [i, names] of MEMORY_NAMES.entries()) await open(MEMORY + i, names, { scale: 'Kbyte' })
  let countsPages = true
  for (const [i, pages] of PAGES.entries())
    if (!(await open(RATES + i, [pages]))) {
      countsPages = false
      await open(RATES + i, [SWAPS[i]!])
    }
  for (const [i, names] of OTHERS.entries()) await open(RATES + 2 + i, names)
  for (const [i, name] of CPU.entries()) await open(TIMES + i, [name])
  if (found.length === 0) return undefined
  const numbers = new Float64Array(PLACES).fill(Number.NaN)
  const reader = (await openNumbers(group.context, found, numbers, wraps)) ?? ofItems(group, found, numbers)
  return { countsPages, ...reader }
}

/** Reads the items of the group. */
function ofItems(group: FetchGroup, found: readonly FoundMetric[], numbers: Float64Array): NumberReader {
  return {
    fetch: (options) => {
      const fetched = group.fetchNow(options)
      return fetched instanceof Promise ? fetched.then(() => group.timestamp) : group.timestamp
    },
    read: () => {
      for (const { place, item } of found) putNumber(numbers, place, Number(item.value ?? Number.NaN))
      return numbers
    },
  }
}
