/** Sampling: the values of metrics, named and converted, once or at an interval. docs/pmapi.md */
import { secondsBetween, type Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { counterRate, rateUnits } from '../model/rate.ts'
import { PM_SEM_COUNTER } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import { extract } from '../model/value-set.ts'
import type { FetchResult, Value, ValueSet } from '../model/values.ts'
import type { Clock } from './clock.ts'
import type { CallOptions, ContextCalls } from './context-calls.ts'
import { InstanceNames, isWanted } from './instance-names.ts'
import { placeOf } from './instance-places.ts'
import { type MetricValues, Row } from './row.ts'
import { type ReadingsOptions, type RowShaper, setOf, shapedRows } from './shaped-rows.ts'

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
  /** Why it is missing since the source was away. */
  readonly error?: PcpError
}

/** Reads the values once. */
export async function valuesOnce(
  context: ContextCalls,
  names: readonly string[],
  options: ValuesOptions,
): Promise<Row> {
  const sampler = new Sampler(context, names, options)
  const { ids } = await sampler.lookup(false)
  return sampler.rowOf(await context.fetch(ids, options), undefined)
}

/** Reads the values at an interval that does not drift, or through an archive. */
export function sampleRows(
  context: ContextCalls,
  names: readonly string[],
  options: SampleOptions,
  clock: Clock,
): AsyncGenerator<Row> {
  return shapedRows(context, new Sampler(context, names, options), options, clock)
}

/** What stays the same from one reading to the next: metrics, and the names of instances as they become known. */
class Sampler implements RowShaper<Row> {
  readonly #context: ContextCalls
  readonly #asked: readonly string[]
  readonly #options: SampleOptions
  #metrics: readonly Sampled[] = []
  #names: InstanceNames

  constructor(context: ContextCalls, asked: readonly string[], options: SampleOptions) {
    this.#context = context
    this.#asked = asked
    this.#options = options
    this.#names = new InstanceNames(context)
  }

  /** The first time PM_ERR_NAME for an unknown name; later ones keep their place, with an error. */
  async lookup(isAgain: boolean): Promise<{ readonly ids: readonly Pmid[]; readonly isComplete: boolean }> {
    const found = await this.#leaves()
    const ids = [...found.values()].filter((outcome): outcome is Pmid => !isError(outcome))
    const descs = ids.length === 0 ? [] : await this.#context.descs(ids, this.#options)
    let next = 0
    const metrics = [...found].flatMap(([name, outcome]): Sampled[] => {
      const desc = isError(outcome) ? outcome : descs[next++]!
      if (!isError(desc)) return [this.#checked(name, desc)]
      const error = new PcpError(desc.code, `No descriptor of "${name}": ${desc.text}`, { cause: desc })
      if (!isAgain) throw isError(outcome) ? outcome : error
      const isBelow = (known: Sampled): boolean => known.name === name || known.name.startsWith(`${name}.`)
      return this.#metrics
        .filter(isBelow)
        .map((known) => ({ ...known, error: isError(outcome) ? outcome : error }))
    })
    this.#metrics = metrics
    this.#names = new InstanceNames(this.#context)
    const there = metrics.filter(({ error }) => error === undefined)
    return { ids: there.map(({ desc }) => desc.pmid), isComplete: there.length === metrics.length }
  }

  /** A metric that is another one since the source was away must not pass for what it was. */
  #checked(name: string, desc: MetricDesc): Sampled {
    const before = this.#metrics.find((known) => known.name === name)
    if (before === undefined || isAlike(before.desc, desc)) return this.#sampled(name, desc)
    const error = new PcpError(
      'PM_ERR_TYPE',
      `"${name}" is another metric since its source was away: sample again`,
    )
    return { ...before, error }
  }

  #sampled(name: string, desc: MetricDesc): Sampled {
    if (this.#options.rates !== true || desc.sem !== PM_SEM_COUNTER)
      return { name, desc, units: unitsStr(desc.units), rateFactor: undefined }
    const { units, factor } = rateUnits(desc.units)
    return { name, desc, units: unitsStr(units), rateFactor: factor }
  }

  /** Looks up each name: its PMID or its error; a name with others below it is replaced by all of those. */
  async #leaves(): Promise<Map<string, Outcome<Pmid>>> {
    const names = this.#asked
    const found = await this.#context.lookupNames(names, this.#options)
    const leaves = new Map<string, Outcome<Pmid>>()
    for (const [i, outcome] of found.entries()) {
      const name = names[i]!
      if (!isError(outcome)) leaves.set(name, outcome)
      else if (outcome.code === 'PM_ERR_NONLEAF') {
        const below = await this.#context.traverse(name, this.#options)
        const ids = await this.#context.lookupNames(below, this.#options)
        for (const [k, id] of ids.entries()) if (!isError(id)) leaves.set(below[k]!, id)
        // A metric that is missing since the source was away keeps its place until it is back.
        for (const known of this.#metrics)
          if (known.name.startsWith(`${name}.`) && !leaves.has(known.name))
            leaves.set(known.name, new PcpError('PM_ERR_NAME', `Unknown metric name: "${known.name}"`))
      } else leaves.set(name, new PcpError(outcome.code, `${outcome.text}: "${name}"`, { cause: outcome }))
    }
    return leaves
  }

  /** Undefined where rates need another reading. */
  async row(result: FetchResult, before: FetchResult | undefined): Promise<Row | undefined> {
    const needsTwo = this.#metrics.some(({ rateFactor }) => rateFactor !== undefined)
    return needsTwo && before === undefined ? undefined : this.rowOf(result, before)
  }

  /** All metrics without values: the source was away. */
  gap(away: PcpError, time: Timestamp): Row {
    const metrics = this.#metrics.map((metric): [string, MetricValues] => [
      metric.name,
      without(metric, away),
    ])
    return new Row(time, new Map(metrics), away)
  }

  async rowOf(result: FetchResult, before: FetchResult | undefined): Promise<Row> {
    const elapsed = before === undefined ? 0 : secondsBetween(before.timestamp, result.timestamp)
    const metrics = new Map<string, MetricValues>()
    let next = 0
    for (const metric of this.#metrics) {
      if (metric.error !== undefined) {
        metrics.set(metric.name, without(metric, metric.error))
        continue
      }
      const set = result.sets[next]!
      const earlier = setOf(before, set.pmid, next++)
      const { indom } = metric.desc
      const names = indom === PM_INDOM_NULL ? undefined : await this.#names.of(indom, set, this.#options)
      metrics.set(metric.name, this.#values(metric, set, earlier, elapsed, names))
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
    const k = placeOf(before.inst, set.inst[i]!, i)
    if (k < 0) return undefined
    const earlier = extract(before, k, desc.type)
    if (!isNumeric(value) || !isNumeric(earlier)) return undefined
    const rate = counterRate(earlier, value, elapsed, desc.type, this.#options.counterWrap)
    return rate === undefined ? undefined : rate * rateFactor
  }
}

function isAlike(a: MetricDesc, b: MetricDesc): boolean {
  return a.type === b.type && a.sem === b.sem && (a.indom === PM_INDOM_NULL) === (b.indom === PM_INDOM_NULL)
}

function without({ name, desc, units }: Sampled, error: PcpError): MetricValues {
  return { name, desc, units, error, value: undefined, instances: new Map() }
}

function isNumeric(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
