/** Samples of a live host, from which its figures are computed as from an archive. */
import { type Aggregate, bucketMeans, combineInstances } from '../../archive/fleet/bucket-means.ts'
import { type Health, healthOf, MEAN_SEC, NEEDS, type NeededMetric } from '../../archive/fleet/figures.ts'
import { toSeconds } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { isError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_32, PM_TYPE_DOUBLE } from '../../model/types.ts'
import { extract } from '../../model/value-set.ts'
import type { ValueSet } from '../../model/values.ts'
import type { Context } from '../../pmapi/context.ts'
import { aggregateOf } from './read-host.ts'

/** A metric with more instances is unknown: the memory of samples is bounded. */
const MOST_INSTANCES = 200
/** Samples of a host. */
const MOST_SAMPLES = 100

/** The values of a needed metric. */
export interface LiveValues {
  readonly isCounter: boolean
  readonly how: Aggregate
  readonly inst: Int32Array
  readonly values: Float64Array
}

/** Values at a time of the host's clock, in seconds since the epoch; undefined for a metric that the host does not have. */
export interface LiveSample {
  readonly time: number
  readonly values: readonly (LiveValues | undefined)[]
}

/** Fetches what figures need, and closes the context. Errors of `Context.fetch`. */
export async function readLive(context: Context, signal: AbortSignal): Promise<LiveSample> {
  const options = { signal }
  try {
    const found = await context.lookupNames(
      NEEDS.map(({ name }) => name),
      options,
    )
    const ids = [...new Set(found.filter((id): id is Pmid => !isError(id)))]
    const descs = new Map<Pmid, MetricDesc>()
    for (const desc of await context.descs(ids, options))
      if (!isError(desc) && desc.type >= PM_TYPE_32 && desc.type <= PM_TYPE_DOUBLE) descs.set(desc.pmid, desc)
    const selected = await Promise.all(
      NEEDS.map(({ instance }, n) => instanceOf(context, descs.get(found[n] as Pmid), instance, options)),
    )
    // Without any metric the host has still answered.
    if (descs.size === 0) return { time: Date.now() / 1000, values: [] }
    const { timestamp, sets } = await context.fetch([...descs.keys()], options)
    const byId = new Map(sets.map((set) => [set.pmid, set]))
    const values = NEEDS.map((need, n) => {
      const desc = descs.get(found[n] as Pmid)
      const set = desc === undefined ? undefined : byId.get(desc.pmid)
      return set === undefined ? undefined : valuesOf(need, desc!, set, selected[n])
    })
    return { time: toSeconds(timestamp), values }
  } finally {
    await context.close()
  }
}

/** Returns the number of a needed instance, NO_INSTANCE if it is missing; undefined if all are needed. */
async function instanceOf(
  context: Context,
  desc: MetricDesc | undefined,
  instance: string | undefined,
  options: { readonly signal: AbortSignal },
): Promise<number | undefined> {
  if (instance === undefined || desc === undefined) return undefined
  const { ids, names } = await context.instances(desc.indom, options)
  return ids[names.indexOf(instance)] ?? NO_INSTANCE
}

const NO_INSTANCE = -2

function valuesOf(
  need: NeededMetric,
  desc: MetricDesc,
  set: ValueSet,
  only: number | undefined,
): LiveValues | undefined {
  const wanted: number[] = []
  for (let i = 0; i < set.status; i++) if (only === undefined || set.inst[i] === only) wanted.push(i)
  if (wanted.length === 0 || wanted.length > MOST_INSTANCES) return undefined
  return {
    isCounter: desc.sem === PM_SEM_COUNTER,
    how: aggregateOf(need, desc),
    inst: Int32Array.from(wanted, (i) => set.inst[i]!),
    values: Float64Array.from(wanted, (i) => Number(extract(set, i, desc.type))),
  }
}

/** The samples of a host within the time over which figures are averaged. */
export class LiveSamples {
  #samples: LiveSample[] = []

  get count(): number {
    return this.#samples.length
  }

  /** Adds the newest sample. If the host's clock was set back, those before are forgotten. */
  add(sample: LiveSample): void {
    const { time } = sample
    const before = this.#samples.filter((each) => each.time < time && each.time >= time - MEAN_SEC)
    const isSetBack = this.#samples.some((each) => each.time > time)
    this.#samples = isSetBack ? [sample] : [...before.slice(1 - MOST_SAMPLES), sample]
  }

  /** Returns the figures: means over the samples, unknown without two. */
  health(): Health {
    return healthOf(NEEDS.map((need, n) => (need.isConstant === true ? this.#newest(n) : this.#mean(n))))
  }

  #newest(n: number): number {
    return this.#samples.at(-1)?.values[n]?.values[0] ?? Number.NaN
  }

  #mean(n: number): number {
    const newest = this.#samples.at(-1)
    const about = newest?.values[n]
    if (newest === undefined || about === undefined) return Number.NaN
    const columns = new Map<number, { times: number[]; values: number[] }>()
    for (const { time, values } of this.#samples) {
      const own = values[n]
      for (const [i, inst] of own?.inst.entries() ?? []) {
        const column = columns.get(inst) ?? { times: [], values: [] }
        columns.set(inst, column)
        column.times.push(time)
        column.values.push(own!.values[i]!)
      }
    }
    const grid = { start: newest.time - MEAN_SEC, step: MEAN_SEC, buckets: 1 }
    const rows = [...columns.values()].map(({ times, values }) => {
      const timed = { times: Float64Array.from(times), values: Float64Array.from(values) }
      return bucketMeans(timed, NO_MARKS, about.isCounter, grid)
    })
    return combineInstances(rows, about.how, 1).means[0]!
  }
}

const NO_MARKS = new Float64Array()
