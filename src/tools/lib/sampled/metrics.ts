/** The metrics of a report, and the values of one fetch. pmFetch(3) */
import type { Timestamp } from '../../../base/timestamp.ts'
import type { MetricDesc } from '../../../model/desc.ts'
import { isError, PcpError } from '../../../model/errors.ts'
import { type Indom, PM_INDOM_NULL, type Pmid } from '../../../model/ids.ts'
import { unitsFromText } from '../../../model/parse-units.ts'
import { counterDelta } from '../../../model/rate.ts'
import { convScale } from '../../../model/scale.ts'
import { PM_SEM_DISCRETE, PM_TYPE_DOUBLE, PM_TYPE_STRING } from '../../../model/types.ts'
import { extract, extractNumber } from '../../../model/value-set.ts'
import { emptySet, type FetchResult, type ValueSet } from '../../../model/values.ts'
import type { CallOptions, Context } from '../../../pmapi/context.ts'
import { emptyNameCache, type InstanceNames } from '../../../pmapi/instances.ts'

/** A metric, with the units to convert it to, if any. */
export type WantedMetric = string | { readonly name: string; readonly units: string }

/** A metric known to the source. */
interface FoundMetric {
  readonly id: Pmid
  readonly desc: MetricDesc
  /** Factor from the metric's units to the report's. */
  readonly factor: number
}

const NOTHING: ReadonlyMap<number, string> = new Map()

/** Metrics by name that are fetched together repeatedly. */
export class SampledMetrics {
  readonly #context: Context
  readonly #names: InstanceNames
  readonly #found: ReadonlyMap<string, FoundMetric>
  readonly #ids: readonly Pmid[]
  readonly #kept = new Map<Pmid, ValueSet>()
  /** Metrics unknown to the source, in the given order. */
  readonly missing: readonly string[]

  private constructor(context: Context, found: ReadonlyMap<string, FoundMetric>, missing: readonly string[]) {
    this.#context = context
    this.#names = emptyNameCache(context)
    this.#found = found
    this.#ids = [...found.values()].map(({ id }) => id)
    this.missing = missing
  }

  /** Looks metrics up; unknown ones are in `missing`. Rejects with PM_ERR_CONV for incompatible units. */
  static async find(
    context: Context,
    wanted: readonly WantedMetric[],
    options?: CallOptions,
  ): Promise<SampledMetrics> {
    const names = wanted.map((each) => (typeof each === 'string' ? each : each.name))
    const ids = await context.lookupNames(names, options)
    const known = ids.filter((id): id is Pmid => !isError(id))
    const descs = new Map((await context.descs(known, options)).map((desc, i) => [known[i]!, desc]))
    const found = new Map<string, FoundMetric>()
    const missing: string[] = []
    for (const [i, name] of names.entries()) {
      const id = ids[i]!
      const desc = isError(id) ? id : descs.get(id)!
      if (isError(id) || isError(desc)) missing.push(name)
      else found.set(name, { id, desc, factor: factorOf(desc, wanted[i]!) })
    }
    return new SampledMetrics(context, found, missing)
  }

  /** Does the source know this metric? */
  has(name: string): boolean {
    return this.#found.has(name)
  }

  /** Returns the descriptor of a metric; undefined if it is unknown. */
  descOf(name: string): MetricDesc | undefined {
    return this.#found.get(name)?.desc
  }

  /**
   * Returns each metric's first values at or after a time of an archive, or without any the values held at that time. The sample has
   * that time. Rejects as `fetch` does.
   */
  async firstValues(origin: Timestamp, options?: CallOptions): Promise<Sample> {
    const archive = this.#context.archive!
    const sets: ValueSet[] = []
    for (const id of this.#ids) {
      archive.setMode('forward', origin)
      const first = await this.#unlessEnded([id], options)
      if (first !== undefined) sets.push(first.sets[0]!)
      else {
        archive.setMode('interpolate', origin, 1)
        sets.push((await this.#unlessEnded([id], options))?.sets[0] ?? emptySet(id))
      }
    }
    return this.#sample({ timestamp: origin, changes: 0, sets }, options)
  }

  /** Returns each metric's last values at or before a time of an archive. The sample has that time. Rejects as `fetch` does. */
  async lastValues(moment: Timestamp, options?: CallOptions): Promise<Sample> {
    const archive = this.#context.archive!
    const sets: ValueSet[] = []
    for (const id of this.#ids) {
      archive.setMode('backward', moment)
      sets.push((await this.#unlessEnded([id], options))?.sets[0] ?? emptySet(id))
    }
    return this.#sample({ timestamp: moment, changes: 0, sets }, options)
  }

  /** Fills in values that stay valid until they change, as those may be recorded only once. */
  #withKept(sets: readonly ValueSet[]): readonly ValueSet[] {
    let i = 0
    return [...this.#found.values()].map(({ id, desc }) => {
      const set = sets[i++]!
      if (!holds(desc)) return set
      if (set.status > 0) this.#kept.set(id, set)
      return this.#kept.get(id) ?? set
    })
  }

  /** Returns instance names, of an archive also those known only at other times. */
  async #namesOf(indom: Indom, set: ValueSet, options?: CallOptions): Promise<ReadonlyMap<number, string>> {
    const { archive } = this.#context
    try {
      return await this.#names.of(indom, set, options)
    } catch (error) {
      if (archive === undefined || !(error instanceof PcpError)) throw error
      const { ids, names } = archive.instances(indom)
      return new Map(ids.map((id, i) => [id, names[i]!]))
    }
  }

  async #unlessEnded(ids: readonly Pmid[], options?: CallOptions): Promise<FetchResult | undefined> {
    try {
      return await this.#context.fetch(ids, options)
    } catch (error) {
      if (error instanceof PcpError && error.code === 'PM_ERR_EOL') return undefined
      throw error
    }
  }

  /** Fetches all metrics. Rejects with PM_ERR_EOL after the end of an archive, and with errors of the source. */
  async fetch(options?: CallOptions): Promise<Sample> {
    return this.#sample(await this.#context.fetch(this.#ids, options), options)
  }

  async #sample({ timestamp, changes, sets }: FetchResult, options?: CallOptions): Promise<Sample> {
    const result = { timestamp, changes, sets: this.#withKept(sets) }
    const names = new Map<number, ReadonlyMap<number, string>>()
    let i = 0
    for (const { desc } of this.#found.values()) {
      const set = result.sets[i++]!
      if (desc.indom === PM_INDOM_NULL || set.status <= 0) continue
      names.set(desc.indom, await this.#namesOf(desc.indom, set, options))
    }
    return new Sample(result, this.#found, names, this.#context.nameForm)
  }
}

/** Does a value stay valid until it changes? True for discrete metrics and singular strings, as old archives record the host name as instantaneous. */
function holds({ sem, type, indom }: MetricDesc): boolean {
  return sem === PM_SEM_DISCRETE || (type === PM_TYPE_STRING && indom === PM_INDOM_NULL)
}

function factorOf({ units }: MetricDesc, wanted: WantedMetric): number {
  if (typeof wanted === 'string') return 1
  return Number(convScale(PM_TYPE_DOUBLE, 1, units, unitsFromText(wanted.units)))
}

/** The values of one fetch. Metrics that are unknown or in error have none; no method throws. */
export class Sample {
  readonly time: Timestamp
  readonly #sets: ReadonlyMap<string, ValueSet>
  readonly #found: ReadonlyMap<string, FoundMetric>
  readonly #names: ReadonlyMap<number, ReadonlyMap<number, string>>
  readonly #form: (text: string) => string
  readonly #numbers = new Map<string, ReadonlyMap<number, number>>()

  constructor(
    { timestamp, sets }: FetchResult,
    found: ReadonlyMap<string, FoundMetric>,
    names: ReadonlyMap<number, ReadonlyMap<number, string>>,
    form: (text: string) => string = (text) => text,
  ) {
    this.time = timestamp
    this.#sets = new Map([...found.keys()].map((name, i) => [name, sets[i]!]))
    this.#found = found
    this.#names = names
    this.#form = form
  }

  /** Does a metric have values? */
  has(name: string): boolean {
    return (this.#sets.get(name)?.status ?? 0) > 0
  }

  /** Returns the source's error for a metric; undefined without one. */
  error(name: string): PcpError | undefined {
    const status = this.#sets.get(name)?.status ?? 0
    return status < 0 ? PcpError.fromStatus(status) : undefined
  }

  /** Returns numbers by instance; empty for a text metric. */
  numbers(name: string): ReadonlyMap<number, number> {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const numbers = this.#read(name, (set, i, { desc, factor }) =>
      desc.type === PM_TYPE_STRING ? undefined : extractNumber(set, i, desc.type) * factor,
    )
    this.#numbers.set(name, numbers)
    return numbers
  }

  /** Returns the number of an instance, or of a singular metric. */
  number(name: string, inst?: number): number | undefined {
    const numbers = this.numbers(name)
    return inst === undefined ? numbers.values().next().value : numbers.get(inst)
  }

  /** Returns the growth of a counter since an earlier sample; undefined without a value in either, or if it decreased. */
  growth(before: Sample | undefined, name: string, inst?: number): number | undefined {
    const now = this.number(name, inst)
    const earlier = before?.number(name, inst)
    return now === undefined || earlier === undefined ? undefined : counterDelta(earlier, now)
  }

  /** Returns texts by instance, in the context's form for names; numbers as text. */
  texts(name: string): ReadonlyMap<number, string> {
    return this.#read(name, (set, i, { desc }) => this.#form(String(extract(set, i, desc.type))))
  }

  /** Returns the text of an instance, or of a singular metric. */
  text(name: string, inst?: number): string | undefined {
    const texts = this.texts(name)
    return inst === undefined ? texts.values().next().value : texts.get(inst)
  }

  /** Returns instance names in the order of the values; the number if the name is unknown. */
  instances(name: string): ReadonlyMap<number, string> {
    const set = this.#sets.get(name)
    const found = this.#found.get(name)
    if (set === undefined || found === undefined || set.status <= 0) return NOTHING
    const names = this.#names.get(found.desc.indom)
    return new Map(Array.from(set.inst, (inst) => [inst, names?.get(inst) ?? String(inst)]))
  }

  #read<T>(
    name: string,
    read: (set: ValueSet, i: number, found: FoundMetric) => T | undefined,
  ): ReadonlyMap<number, T> {
    const values = new Map<number, T>()
    const set = this.#sets.get(name)
    const found = this.#found.get(name)
    if (set === undefined || found === undefined) return values
    for (let i = 0; i < set.status; i++) {
      try {
        const value = read(set, i, found)
        if (value !== undefined) values.set(set.inst[i]!, value)
      } catch {
        // The value's type differs from the metric's, as in damaged archives: treat it as missing.
      }
    }
    return values
  }
}
