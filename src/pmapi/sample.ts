/** Sampling of named and converted values, once or at an interval. docs/reference/client-library.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { PM_SEM_COUNTER } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import type { FetchResult, Value } from '../model/values.ts'
import type { Clock } from './clock.ts'
import type { CallOptions, ContextCalls } from './context-calls.ts'
import { asRate, unconverted } from './conversion.ts'
import { type FetchedMetric, FetchRequest, type ValueConsumer, ValueReader } from './fetch-item.ts'
import { emptyNameCache, type InstanceNames, isSelected } from './instances.ts'
import { type MetricValues, Row } from './row.ts'
import { type ReadingsOptions, type RowMapper, shapedRows } from './sampled-rows.ts'

/** Options of `Context.values`. */
export interface ValuesOptions extends CallOptions {
  /** Keep only these instances, by full name or first word. */
  readonly instances?: readonly string[]
}

/** Options of `Context.sample`. */
export interface SampleOptions extends ValuesOptions, ReadingsOptions {
  /** Convert counters to change per second. The first row is then one interval late, because it needs two fetches. */
  readonly rates?: boolean
  /** Number of rows after which to stop. */
  readonly count?: number
  /** Treat a decreased counter as wrapped once instead of restarted. */
  readonly counterWrap?: boolean
}

/** Fetches the values once. */
export async function valuesOnce(
  context: ContextCalls,
  names: readonly string[],
  options: ValuesOptions,
): Promise<Row> {
  const sampler = new Sampler(context, names, options)
  const { ids } = await sampler.lookup(false)
  return sampler.rowOf(await context.fetch(ids, options), undefined)
}

/** Samples values at an interval that does not drift, or through an archive. */
export function sampleRows(
  context: ContextCalls,
  names: readonly string[],
  options: SampleOptions,
  clock: Clock,
): AsyncGenerator<Row> {
  return shapedRows(context, new Sampler(context, names, options), options, clock)
}

/** The metrics of rows, as the current source has them. */
class Sampler implements RowMapper<Row> {
  readonly #context: ContextCalls
  readonly #asked: readonly string[]
  readonly #options: SampleOptions
  #metrics: readonly SampledMetric[] = []
  #request = new FetchRequest([])

  constructor(context: ContextCalls, asked: readonly string[], options: SampleOptions) {
    this.#context = context
    this.#asked = asked
    this.#options = options
  }

  /** Throws PM_ERR_NAME for an unknown name the first time; later, missing metrics remain in the rows with an error. */
  async lookup(isAgain: boolean): Promise<{ readonly ids: readonly Pmid[]; readonly isComplete: boolean }> {
    const found = await this.#leaves()
    const ids = [...found.values()].filter((outcome): outcome is Pmid => !isError(outcome))
    const descs = ids.length === 0 ? [] : await this.#context.descs(ids, this.#options)
    const names = emptyNameCache(this.#context)
    let next = 0
    const metrics = [...found].flatMap(([name, outcome]): SampledMetric[] => {
      const desc = isError(outcome) ? outcome : descs[next++]!
      if (!isError(desc)) return [this.#checked(new SampledMetric(name, desc, names, this.#options))]
      const error = new PcpError(desc.code, `No descriptor of "${name}": ${desc.text}`, { cause: desc })
      if (!isAgain) throw isError(outcome) ? outcome : error
      return this.#metrics
        .filter((known) => known.name === name || known.name.startsWith(`${name}.`))
        .map((known) => known.missing(isError(outcome) ? outcome : error))
    })
    this.#metrics = metrics
    const there = metrics.filter(({ error }) => error === undefined)
    this.#request = new FetchRequest(there)
    return { ids: this.#request.ids, isComplete: there.length === metrics.length }
  }

  /** A metric whose descriptor changed while the source was away must not be mixed with the old one. */
  #checked(metric: SampledMetric): SampledMetric {
    const before = this.#metrics.find(({ name }) => name === metric.name)
    if (before === undefined || isAlike(before.desc, metric.desc)) return metric
    const what = `"${metric.name}" changed while its source was away: restart sampling`
    return before.missing(new PcpError('PM_ERR_TYPE', what))
  }

  /** Looks up each name: its PMID or error; a non-leaf name is replaced by all metrics below it. */
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
        // A metric missing since the source was away remains in the rows until it is back.
        for (const known of this.#metrics)
          if (known.name.startsWith(`${name}.`) && !leaves.has(known.name))
            leaves.set(known.name, new PcpError('PM_ERR_NAME', `Unknown metric name: "${known.name}"`))
      } else leaves.set(name, new PcpError(outcome.code, `${outcome.text}: "${name}"`, { cause: outcome }))
    }
    return leaves
  }

  /** Undefined if rates need another fetch. */
  async row(result: FetchResult, before: FetchResult | undefined): Promise<Row | undefined> {
    const needsTwo = this.#metrics.some(({ isRate }) => isRate)
    return needsTwo && before === undefined ? undefined : this.rowOf(result, before)
  }

  /** Returns a row without values: the source was away. */
  gapRow(away: PcpError, time: Timestamp): Row {
    return rowOf(
      time,
      this.#metrics.map((metric) => metric.missing(away)),
      away,
    )
  }

  async rowOf(result: FetchResult, before: FetchResult | undefined): Promise<Row> {
    await this.#request.take(result, before)
    return rowOf(result.timestamp, this.#metrics)
  }
}

function rowOf(time: Timestamp, metrics: readonly SampledMetric[], away?: PcpError): Row {
  return new Row(time, new Map(metrics.map((metric) => [metric.name, metric.values])), away)
}

/** A metric of the rows, with its newest values. */
class SampledMetric implements ValueConsumer {
  readonly name: string
  readonly desc: MetricDesc
  readonly id: Pmid
  /** Why it is missing since the source was away. */
  readonly error: PcpError | undefined
  readonly #names: InstanceNames
  readonly #options: SampleOptions
  readonly #reader: ValueReader
  readonly #units: string
  #values: MetricValues

  constructor(
    name: string,
    desc: MetricDesc,
    names: InstanceNames,
    options: SampleOptions,
    error?: PcpError,
  ) {
    this.name = name
    this.desc = desc
    this.id = desc.pmid
    this.error = error
    this.#names = names
    this.#options = options
    const isRate = options.rates === true && desc.sem === PM_SEM_COUNTER
    const conversion = isRate ? asRate(desc, true) : unconverted(desc)
    this.#reader = new ValueReader(conversion, options.counterWrap === true)
    this.#units = unitsStr(conversion.units)
    this.#values = this.#valuesOf(error)
  }

  get isRate(): boolean {
    return this.#reader.conversion.isRate
  }

  get values(): MetricValues {
    return this.#values
  }

  /** Returns the metric without values, with the reason. */
  missing(error: PcpError): SampledMetric {
    return new SampledMetric(this.name, this.desc, this.#names, this.#options, error)
  }

  take(fetched: FetchedMetric): Promise<void> | undefined {
    const { set } = fetched
    const { indom } = this.desc
    const names = indom === PM_INDOM_NULL ? undefined : this.#names.of(indom, set, this.#options)
    if (names instanceof Promise) return names.then((known) => this.#fill(fetched, known))
    return this.#fill(fetched, names)
  }

  #valuesOf(
    error: PcpError | undefined,
    value?: Value,
    instances: ReadonlyMap<string, Value> = new Map(),
  ): MetricValues {
    return { name: this.name, desc: this.desc, units: this.#units, error, value, instances }
  }

  #fill(fetched: FetchedMetric, names: ReadonlyMap<number, string> | undefined): undefined {
    const { set } = fetched
    const error = set.status < 0 ? PcpError.fromStatus(set.status, this.name) : undefined
    const { instances: wanted } = this.#options
    const instances = new Map<string, Value>()
    let value: Value | undefined
    for (let i = 0; i < set.status; i++) {
      const read = this.#reader.read(fetched, i)
      // No rate: the instance is new or its counter restarted.
      if (typeof read === 'object' && isError(read)) continue
      const instance = names?.get(set.inst[i]!)
      if (names === undefined) value = read
      else if (instance !== undefined && (wanted === undefined || isSelected(wanted, instance)))
        instances.set(instance, read)
    }
    this.#values = this.#valuesOf(error, value, instances)
  }
}

function isAlike(a: MetricDesc, b: MetricDesc): boolean {
  return a.type === b.type && a.sem === b.sem && (a.indom === PM_INDOM_NULL) === (b.indom === PM_INDOM_NULL)
}
