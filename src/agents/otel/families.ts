/** All received metrics: families of series, from requests to fetched values. docs/reference/agents/otel.md */
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv } from '../../pmda/define.ts'
import { FreeNames } from '../lib/foreign-names.ts'
import { type InstanceSlot, SeriesDomain } from './domain.ts'
import { metricPath, seriesName } from './labels.ts'
import type { OtlpMetric, OtlpPoint } from './otlp.ts'
import { Series, type SeriesPart } from './series.ts'
import { unitsOf } from './units.ts'

/** Kind of a family; exponential histograms are exported as histograms. */
export type Shape = 'gauge' | 'sum' | 'updown' | 'histogram' | 'summary'

/** One metric of a client: one or several metrics of PCP. */
export interface Family {
  readonly number: number
  /** Below the root. */
  readonly name: string
  readonly shape: Shape
  readonly description: string
  /** As sent by the client. */
  readonly unit: string
  /** The units word. */
  readonly units: number
  readonly series: SeriesDomain<Series>
  /** Buckets or quantiles; undefined for shapes without them. */
  readonly parts: SeriesDomain<PartOf> | undefined
}

/** A bucket or quantile and its series. */
export interface PartOf {
  readonly series: Series
  readonly part: SeriesPart
}

/** Result of a request. */
export interface IngestResult {
  readonly points: number
  readonly rejected: number
  /** Why the first rejected point was rejected. */
  readonly why: string | undefined
  /** There are new metrics. */
  readonly hasNewFamilies: boolean
}

/** Names below the path of a family, by shape; '' is the path itself. */
export const LEAVES: { readonly [shape in Shape]: readonly string[] } = {
  gauge: [''],
  sum: [''],
  updown: [''],
  histogram: ['.count', '.sum', '.min', '.max', '.bucket'],
  summary: ['.count', '.sum', '.quantile'],
}

const MAX_FAMILIES = 10_000
/** Highest number of a family over all runs of the agent: each takes 8 of the 1,024 items of a cluster. */
const MAX_NUMBER = 4095 * 128
const MAX_SERIES = 100_000
const MAX_INSTANCE_NAME = 2048
/** Shortest interval between searches for stale series, as requests are frequent. */
const EXPIRE_MS = 1000

interface Live {
  readonly family: Family
  readonly series: Series
  /** Active parts by position: long instance names are looked up only for new parts. */
  readonly parts: Map<string, { readonly name: string; readonly slot: InstanceSlot<PartOf> }>
}

/** All received series that are not stale. */
export class Families {
  readonly #env: AgentEnv
  readonly #root: string
  readonly #numbers: SeriesDomain<true>
  readonly #names = new FreeNames()
  readonly #families = new Map<string, Family>()
  readonly #live = new Map<Series, Live>()
  #expiredMs = Number.NEGATIVE_INFINITY
  readonly #unsaved = new Set<{ save(): void }>()

  /** `taken`: names of the agent's own metrics. */
  constructor(env: AgentEnv, root: string, taken: readonly string[]) {
    this.#env = env
    this.#root = root
    this.#numbers = new SeriesDomain(env, 0)
    this.#names.add(...taken)
  }

  get families(): Iterable<Family> {
    return this.#families.values()
  }

  get familyCount(): number {
    return this.#families.size
  }

  get seriesCount(): number {
    return this.#live.size
  }

  /** Takes metrics of a request. Invalid points are counted; others are not affected. */
  ingest(metrics: readonly OtlpMetric[]): IngestResult {
    let points = 0
    let rejected = 0
    let why: string | undefined
    const before = this.#families.size
    for (const metric of metrics) {
      for (const point of metric.points) {
        points++
        try {
          this.#takePoint(metric, point)
        } catch (error) {
          rejected++
          why ??= `${metric.name}: ${PcpError.from(error).message}`
        }
      }
    }
    return { points, rejected, why, hasNewFamilies: this.#families.size > before }
  }

  /** Removes the values of series without a point for `staleMs`. */
  expire(staleMs: number): void {
    const nowMs = this.#env.clock()
    if (Math.abs(nowMs - this.#expiredMs) < EXPIRE_MS) return
    this.#expiredMs = nowMs
    const limit = nowMs - staleMs
    for (const [series, { family, parts }] of this.#live) {
      if (series.seenMs > limit) continue
      this.#live.delete(series)
      family.series.hide(series.name.name)
      for (const { name } of parts.values()) family.parts?.hide(name)
    }
  }

  /** Saves identifiers of new instances of at most `most` domains, so that requests do not wait long. Throws Node's error. */
  save(most: number): void {
    for (const domain of [...this.#unsaved].slice(0, most)) {
      this.#unsaved.delete(domain)
      domain.save()
    }
  }

  #takePoint(metric: OtlpMetric, point: OtlpPoint): void {
    const family = this.#familyOf(metric)
    const name = seriesName(metric, point.attributes)
    if (name.name.length > MAX_INSTANCE_NAME)
      throw new PcpError('PM_ERR_TOOBIG', `Attributes are longer than ${MAX_INSTANCE_NAME} characters`)
    const slot = this.#open(family.series, name.name)
    const known = slot.content === undefined ? undefined : this.#live.get(slot.content)
    const live = known ?? this.#enter(family, new Series(name), slot)
    live.series.take(point, metric.kind, metric.temporality, this.#env.clock())
    if (family.parts !== undefined) this.#takeParts(live, family.parts)
  }

  #enter(family: Family, series: Series, slot: InstanceSlot<Series>): Live {
    if (this.#live.size >= MAX_SERIES) {
      family.series.hide(series.name.name)
      throw new PcpError('PM_ERR_TOOBIG', `There are ${MAX_SERIES} series already`)
    }
    slot.content = series
    const live: Live = { family, series, parts: new Map() }
    this.#live.set(series, live)
    return live
  }

  #takeParts({ series, parts }: Live, domain: SeriesDomain<PartOf>): void {
    for (const part of series.parts) {
      let known = parts.get(part.at)
      if (known === undefined) {
        const name = `${series.name.name} ${part.label}:${part.at}`.trimStart()
        known = { name, slot: this.#open(domain, name) }
        parts.set(part.at, known)
      }
      known.slot.content = { series, part }
    }
    if (parts.size === series.parts.length) return
    const present = new Set(series.parts.map(({ at }) => at))
    for (const [at, { name }] of parts) {
      if (present.has(at)) continue
      parts.delete(at)
      domain.hide(name)
    }
  }

  #open<T extends Series | PartOf>(domain: SeriesDomain<T>, name: string): InstanceSlot<T> {
    this.#unsaved.add(domain)
    return domain.open(name)
  }

  #familyOf(metric: OtlpMetric): Family {
    const shape = shapeOf(metric)
    const key = JSON.stringify([metric.name, shape, metric.unit])
    const known = this.#families.get(key)
    if (known !== undefined) return known
    if (this.#families.size >= MAX_FAMILIES)
      throw new PcpError('PM_ERR_TOOBIG', `There are ${MAX_FAMILIES} metrics already`)
    const path = this.#pathFor(metric, shape)
    const family = this.#newFamily(metric, shape, path)
    this.#families.set(key, family)
    return family
  }

  #newFamily({ description, unit }: OtlpMetric, shape: Shape, path: string): Family {
    const name = `${path} ${shape} ${unit}`.trimEnd()
    const number = this.#numbers.numberOf(name)
    this.#unsaved.add(this.#numbers)
    if (number >= MAX_NUMBER)
      throw new PcpError(
        'PM_ERR_TOOBIG',
        `${MAX_NUMBER} metrics have numbers already: remove the file ${this.#env.domain}.0`,
      )
    const hasParts = shape === 'histogram' || shape === 'summary'
    return {
      number,
      name: path,
      shape,
      description,
      unit,
      units: unitsOf(unit),
      series: new SeriesDomain(this.#env, 2 * number + 1),
      parts: hasParts ? new SeriesDomain(this.#env, 2 * number + 2) : undefined,
    }
  }

  /** Finds a free path in the name space: that of the metric's name, or a similar one. */
  #pathFor({ name, unit }: OtlpMetric, shape: Shape): string {
    const path = metricPath(name)
    if (path === '') throw new PcpError('PM_ERR_NAME', 'The name of the metric is empty')
    const flat = path.replaceAll('.', '_')
    const suffix = metricPath(unit.replaceAll('.', '_')) || shape
    // Clients may use one name for a metric and a group of metrics, and for metrics in different units.
    for (const candidate of [
      path,
      `${path}.value`,
      flat,
      `${path}_${suffix}`,
      `${flat}_${suffix}`,
      `${flat}_${suffix}_${shape}`,
    ])
      if (this.#names.add(...LEAVES[shape].map((leaf) => `${this.#root}.${candidate}${leaf}`)))
        return candidate
    throw new PcpError('PM_ERR_NAME', `There is no place for "${path}" beside the metrics there are`)
  }
}

function shapeOf({ kind, isMonotonic }: OtlpMetric): Shape {
  if (kind === 'sum') return isMonotonic ? 'sum' : 'updown'
  return kind === 'exponential' ? 'histogram' : kind
}
