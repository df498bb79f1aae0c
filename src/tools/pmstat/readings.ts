/** What a line of pmstat is made of: the metrics, and the number of each at the last sample. */
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { ALL_INSTANCES, exclude, include } from '../../model/profile.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'
import { planConversion } from '../../pmapi/conversion.ts'
import { findInstance } from '../../pmapi/instances.ts'
import { valueRows } from '../../pmapi/value-rows.ts'
import { MetricReader, type ReadMetric } from '../lib/report/values.ts'

/** Positions of the columns among the numbers of a line. A missing value is NaN. */
export const LOAD = 0
/** Kilobytes: swapped out, free, buffers, cached. */
export const MEMORY = 1
/** A second: in and out of swap, in and out of disks, interrupts, context switches. */
export const RATES = 5
/** Times of processors, as rates in any one unit, in this order. */
export const TIMES = 11
export const NICE = 11
export const USER = 12
export const INTR = 13
export const SYS = 14
export const IDLE = 15
export const WAIT = 16
export const STEAL = 17
/** Behind these: guests, and niced guests. */
const PLACES = 20

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

const MAX_U32 = 0xffffffff

/** A metric that the source has. */
interface Found extends ReadMetric {
  /** Of its number in the line. */
  readonly place: number
  readonly inst: number | undefined
}

/** The numbers of one source, sample after sample. */
export class Readings {
  /** Of the last sample. */
  readonly numbers: Float64Array = new Float64Array(PLACES).fill(Number.NaN)
  /** Whether swapping is counted in pages; otherwise in operations. */
  readonly countsPages: boolean
  readonly #context: Context
  readonly #found: readonly Found[]
  readonly #wraps: boolean
  readonly #rows: ReturnType<typeof valueRows>
  #readers: readonly MetricReader[] = []
  /** The opening of the source that rates begin from, and when. */
  #opening: number | undefined
  #before: Timestamp | undefined

  private constructor(context: Context, found: readonly Found[], countsPages: boolean, wraps: boolean) {
    this.#context = context
    this.#found = found
    this.countsPages = countsPages
    this.#wraps = wraps
    this.#rows = valueRows(
      context,
      found.map(({ desc }) => desc),
    )
  }

  /** Looks the metrics up; undefined when the source has none of them. `wraps`: a counter that decreased has gone round once. */
  static async open(context: Context, wraps: boolean): Promise<Readings | undefined> {
    const found: Found[] = []
    const open = async (place: number, names: readonly string[], how: Wanted = {}): Promise<boolean> => {
      for (const name of names) {
        try {
          found.push({ place, ...(await lookup(context, name, how)) })
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
    context.profile = profileOf(found)
    return new Readings(context, found, countsPages, wraps)
  }

  /** Takes a sample, and returns when it is from; without a promise where there is nothing to wait for. */
  next(options: CallOptions): Timestamp | Promise<Timestamp> {
    const time = this.#rows.next(options)
    return time instanceof Promise ? time.then((at) => this.#read(at)) : this.#read(time)
  }

  #read(time: Timestamp): Timestamp {
    // Rates are not computed across a reconnect: counters may have restarted.
    const { openings } = this.#context
    if (openings !== this.#opening) {
      this.#opening = openings
      this.#before = undefined
      this.#readers = this.#found.map((metric) => new MetricReader(metric, this.#wraps))
    }
    const elapsed = this.#before === undefined ? 0 : secondsBetween(this.#before, time)
    for (let m = 0; m < this.#found.length; m++) {
      const { place, inst } = this.#found[m]!
      const shown = this.#readers[m]!.read(this.#rows.columns[m]!, elapsed)
      const value = shown.at(inst === undefined ? 0 : shown.find(inst))
      this.numbers[place] = numberIn(place, Number(value ?? Number.NaN))
    }
    this.#before = time
    return time
  }
}

/** The one instance wanted, and the units. */
interface Wanted {
  readonly instance?: string
  readonly scale?: string
}

async function lookup(context: Context, name: string, how: Wanted): Promise<Omit<Found, 'place'>> {
  const desc: MetricDesc = await context.desc(await context.lookupName(name))
  const inst = await findInstance(context, desc, how.instance)
  return { desc, inst, units: { conversion: planConversion(desc, how) } }
}

/** Only the instances of the line. */
function profileOf(found: readonly Found[]): Context['profile'] {
  let profile = exclude(ALL_INSTANCES, PM_INDOM_NULL)
  for (const { desc, inst } of found) if (inst !== undefined) profile = include(profile, desc.indom, [inst])
  return profile
}

/** The number for a place: what is no load is whole in PCP's, and what is neither that nor a time has 32 bits. */
function numberIn(place: number, value: number): number {
  const whole = place === LOAD ? value : Math.trunc(value)
  const fits = place === LOAD || place >= TIMES || (whole >= 0 && whole <= MAX_U32)
  return fits ? whole : Number.NaN
}
