/** Sampling: the values of metrics, named and converted, once or at an interval. docs/pmapi.md */
import { secondsBetween } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, PcpError } from '../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { counterGrowth, rateUnits } from '../model/rate.ts'
import { PM_SEM_COUNTER } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import { extract } from '../model/value-set.ts'
import type { FetchResult, Value, ValueSet } from '../model/values.ts'
import type { Clock } from './clock.ts'
import type { CallOptions, Context } from './context.ts'
import { InstanceNames, isWanted } from './instance-names.ts'
import { type ReadingsOptions, readings } from './readings.ts'
import { type MetricValues, Row } from './row.ts'

/** How `Context.values` reads. */
export interface ValuesOptions extends CallOptions {
  /** Keep only these instances, by full name or by the name up to its first blank. */
  readonly instances?: readonly string[]
}

/** How `Context.sample` reads. */
export interface SampleOptions extends ValuesOptions, ReadingsOptions {
  /** Give counters as change a second. The first row then comes one interval late, as it needs two readings. */
  readonly rates?: boolean
  /** Stop after this many rows. */
  readonly count?: number
  /** A counter that decreased has gone round once, rather than restarted. */
  readonly counterWrap?: boolean
}

/** A metric being sampled. */
interface Sampled {
  readonly name: string
  readonly desc: MetricDesc
  readonly units: string
  /** Factor of the rate; undefined: values as they are. */
  readonly rateFactor: number | undefined
}

/** Reads the values once. */
export async function valuesOnce(
  context: Context,
  names: readonly string[],
  options: ValuesOptions,
): Promise<Row> {
  const sampler = new Sampler(context, options)
  const ids = await sampler.open(names)
  return sampler.row(await context.fetch(ids, options), undefined)
}

/** Reads the values at an interval that does not drift, or through an archive. */
export async function* sampleRows(
  context: Context,
  names: readonly string[],
  options: SampleOptions,
  clock: Clock,
): AsyncGenerator<Row> {
  const { count = Number.POSITIVE_INFINITY } = options
  const sampler = new Sampler(context, options)
  const ids = await sampler.open(names)
  let before: FetchResult | undefined
  let rows = 0
  for await (const result of readings(context, ids, options, clock)) {
    if (before !== undefined || !sampler.needsTwo) {
      yield await sampler.row(result, before)
      if (++rows >= count) return
    }
    before = result
  }
}

/** What stays the same from one reading to the next: metrics, and the names of instances as they become known. */
class Sampler {
  readonly #context: Context
  readonly #options: SampleOptions
  #metrics: readonly Sampled[] = []
  readonly #names: InstanceNames

  constructor(context: Context, options: SampleOptions) {
    this.#context = context
    this.#names = new InstanceNames(context)
    this.#options = options
  }

  /** Do rates need a reading before the first row? */
  get needsTwo(): boolean {
    return this.#metrics.some(({ rateFactor }) => rateFactor !== undefined)
  }

  async open(names: readonly string[]): Promise<readonly Pmid[]> {
    const leaves = await this.#leaves(names)
    const descs = await this.#context.descs([...leaves.values()], this.#options)
    this.#metrics = [...leaves.keys()].map((name, i) => {
      const desc = descs[i]!
      if (isError(desc))
        throw new PcpError(desc.code, `No descriptor of "${name}": ${desc.text}`, { cause: desc })
      return this.#sampled(name, desc)
    })
    return [...leaves.values()]
  }

  #sampled(name: string, desc: MetricDesc): Sampled {
    if (this.#options.rates !== true || desc.sem !== PM_SEM_COUNTER)
      return { name, desc, units: unitsStr(desc.units), rateFactor: undefined }
    const { units, factor } = rateUnits(desc.units)
    return { name, desc, units: unitsStr(units), rateFactor: factor }
  }

  /** PMIDs by name; a name with others below it stands for all of those. */
  async #leaves(names: readonly string[]): Promise<Map<string, Pmid>> {
    const found = await this.#context.lookupNames(names, this.#options)
    const leaves = new Map<string, Pmid>()
    for (const [i, outcome] of found.entries()) {
      const name = names[i]!
      if (!isError(outcome)) leaves.set(name, outcome)
      else if (outcome.code === 'PM_ERR_NONLEAF') {
        const below = await this.#context.traverse(name, this.#options)
        const ids = await this.#context.lookupNames(below, this.#options)
        for (const [k, id] of ids.entries()) if (!isError(id)) leaves.set(below[k]!, id)
      } else throw new PcpError(outcome.code, `${outcome.text}: "${name}"`, { cause: outcome })
    }
    return leaves
  }

  async row(result: FetchResult, before: FetchResult | undefined): Promise<Row> {
    const elapsed = before === undefined ? 0 : secondsBetween(before.timestamp, result.timestamp)
    const metrics = new Map<string, MetricValues>()
    for (const [i, metric] of this.#metrics.entries()) {
      const set = result.sets[i]!
      const { indom } = metric.desc
      const names = indom === PM_INDOM_NULL ? undefined : await this.#names.of(indom, set, this.#options)
      metrics.set(metric.name, this.#values(metric, set, before?.sets[i], elapsed, names))
    }
    return new Row(result.timestamp, metrics)
  }

  #values(
    metric: Sampled,
    set: ValueSet,
    before: ValueSet | undefined,
    elapsed: number,
    names: ReadonlyMap<number, string> | undefined,
  ): MetricValues {
    const { name, desc, units } = metric
    const error = set.status < 0 ? PcpError.fromStatus(set.status, name) : undefined
    const { instances: wanted } = this.#options
    const instances = new Map<string, Value>()
    let value: Value | undefined
    for (let i = 0; i < set.status; i++) {
      const read = this.#read(metric, set, i, before, elapsed)
      if (read === undefined) continue
      if (names === undefined) value = read
      else {
        const instance = names.get(set.inst[i]!)
        if (instance !== undefined && (wanted === undefined || isWanted(wanted, instance)))
          instances.set(instance, read)
      }
    }
    return { name, desc, units, error, value, instances }
  }

  /** The value at `i`, or its rate since the reading before. */
  #read(
    { desc, rateFactor }: Sampled,
    set: ValueSet,
    i: number,
    before: ValueSet | undefined,
    elapsed: number,
  ): Value | undefined {
    const value = extract(set, i, desc.type)
    if (rateFactor === undefined) return value
    if (before === undefined || elapsed === 0) return undefined
    // Instances mostly keep their places.
    const k = before.inst[i] === set.inst[i] ? i : before.inst.indexOf(set.inst[i]!)
    if (k < 0) return undefined
    const earlier = extract(before, k, desc.type)
    if (!isNumeric(value) || !isNumeric(earlier)) return undefined
    const [first, last] = elapsed > 0 ? [earlier, value] : [value, earlier]
    const growth = counterGrowth(first, last, desc.type, this.#options.counterWrap)
    return growth === undefined ? undefined : (growth / Math.abs(elapsed)) * rateFactor
  }
}

function isNumeric(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
