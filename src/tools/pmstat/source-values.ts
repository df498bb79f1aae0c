/** The metrics of a line of pmstat, and their values in the last sample. */
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

/** Indices of columns among the numbers of a line. A missing value is NaN. */
export const LOAD = 0
/** Kilobytes: swapped, free, buffers, cached. */
export const MEMORY = 1
/** Rates: swap in and out, disk in and out, interrupts, context switches. */
export const RATES = 5
/** Rates of processor times in a common unit, in this order. */
export const TIMES = 11
export const NICE = 11
export const USER = 12
export const INTR = 13
export const SYS = 14
export const IDLE = 15
export const WAIT = 16
export const STEAL = 17
/** Number of values; the last two are guest and niced guest times. */
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

/** A metric of the source. */
interface SourceMetric extends ReadMetric {
  /** Index of its number in the line. */
  readonly place: number
  readonly inst: number | undefined
}

/** Reads the numbers of one source. */
export class SourceValues {
  /** Numbers of the last sample. */
  readonly numbers: Float64Array = new Float64Array(PLACES).fill(Number.NaN)
  /** Is swapping counted in pages, not operations? */
  readonly countsPages: boolean
  readonly #context: Context
  readonly #found: readonly SourceMetric[]
  readonly #wraps: boolean
  readonly #rows: ReturnType<typeof valueRows>
  #readers: readonly MetricReader[] = []
  /** Connection and time of the previous sample, from which rates are computed. */
  #opening: number | undefined
  #before: Timestamp | undefined

  private constructor(
    context: Context,
    found: readonly SourceMetric[],
    countsPages: boolean,
    wraps: boolean,
  ) {
    this.#context = context
    this.#found = found
    this.countsPages = countsPages
    this.#wraps = wraps
    this.#rows = valueRows(
      context,
      found.map(({ desc }) => desc),
    )
  }

  /** Looks metrics up; undefined if the source has none of them. `wraps`: treat a decreased counter as having wrapped once. */
  static async open(context: Context, wraps: boolean): Promise<SourceValues | undefined> {
    const found: SourceMetric[] = []
    const open = async (
      place: number,
      names: readonly string[],
      how: LookupOptions = {},
    ): Promise<boolean> => {
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
    return new SourceValues(context, found, countsPages, wraps)
  }

  /** Fetches a sample and returns its time, synchronously if possible. */
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

/** The instance and units of a metric. */
interface LookupOptions {
  readonly instance?: string
  readonly scale?: string
}

async function lookup(
  context: Context,
  name: string,
  how: LookupOptions,
): Promise<Omit<SourceMetric, 'place'>> {
  const desc: MetricDesc = await context.desc(await context.lookupName(name))
  const inst = await findInstance(context, desc, how.instance)
  return { desc, inst, units: { conversion: planConversion(desc, how) } }
}

/** Returns a profile with only the instances shown. */
function profileOf(found: readonly SourceMetric[]): Context['profile'] {
  let profile = exclude(ALL_INSTANCES, PM_INDOM_NULL)
  for (const { desc, inst } of found) if (inst !== undefined) profile = include(profile, desc.indom, [inst])
  return profile
}

/** Converts a value as PCP does: all but the load are integers, and all but load and times have 32 bits. */
function numberIn(place: number, value: number): number {
  const whole = place === LOAD ? value : Math.trunc(value)
  const fits = place === LOAD || place >= TIMES || (whole >= 0 && whole <= MAX_U32)
  return fits ? whole : Number.NaN
}
