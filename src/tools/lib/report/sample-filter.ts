/** Filters the values of a sample: ranks, limits, predicates, instances selected for each sample. pmrep(1) -J -8 -N -j -n */
import { PcpError } from '../../../model/errors.ts'
import { PM_TYPE_STRING } from '../../../model/types.ts'
import type { ValueColumns } from '../../../model/value-columns.ts'
import type { ReportMetric } from './metrics.ts'
import type { Settings } from './settings.ts'
import type { Cell } from './values.ts'

/** Returns the name of a metric's instance. */
export type NameOf = (metric: ReportMetric, inst: number) => string

/** Returns the metrics that select the instances of others. Throws PM_ERR_GENERIC with the line to print for unsuitable ones. */
export function predicatesOf(metrics: readonly ReportMetric[], settings: Settings): readonly ReportMetric[] {
  return settings.predicate.map((name) => {
    const found = metrics.find((metric) => metric.name === name)
    if (found === undefined) throw new PcpError('PM_ERR_GENERIC', `Predicate metric ${name} filtered out.`)
    if (!found.hasInstances || found.insts.length === 0)
      throw new PcpError('PM_ERR_GENERIC', 'Predicate metric must have instances.')
    if (found.desc.type === PM_TYPE_STRING)
      throw new PcpError('PM_ERR_GENERIC', 'Predicate metric values must be numeric.')
    return found
  })
}

/** Filters samples. */
export class SampleFilter {
  readonly #metrics: readonly ReportMetric[]
  readonly #settings: Settings
  readonly #nameOf: NameOf
  /** The predicates that apply to each metric. */
  readonly #predicates: ReadonlyMap<ReportMetric, readonly ReportMetric[]>
  readonly #isPredicate: ReadonlySet<ReportMetric>
  readonly #isNeeded: boolean

  /** Throws as `predicatesOf`. */
  constructor(metrics: readonly ReportMetric[], settings: Settings, nameOf: NameOf) {
    this.#metrics = metrics
    this.#settings = settings
    this.#nameOf = nameOf
    const deciding = predicatesOf(metrics, settings)
    this.#isPredicate = new Set(deciding)
    const pairs = metrics.flatMap((metric): [ReportMetric, ReportMetric[]][] => {
      const by = deciding.filter(({ desc }) => metric.hasInstances && desc.indom === metric.desc.indom)
      return by.length === 0 || this.#isPredicate.has(metric) ? [] : [[metric, by]]
    })
    this.#predicates = new Map(pairs)
    this.#isNeeded = filtersSamples(metrics, settings)
  }

  /** Filters a sample, which has one element for each metric. */
  narrow(sample: readonly ValueColumns[]): readonly ValueColumns[] {
    if (!this.#isNeeded) return sample
    const { live_filter, invert_filter } = this.#settings
    const isLive = live_filter && !invert_filter
    const early = this.#metrics.map((metric, i) => {
      const live = isLive ? this.#choose(metric, sample[i]!) : sample[i]!
      return this.#isPredicate.has(metric) ? live : limited(metric, live)
    })
    const ranked = new Map<ReportMetric, ValueColumns>()
    for (const [i, metric] of this.#metrics.entries())
      if (!this.#predicates.has(metric)) ranked.set(metric, this.#rank(metric, early[i]!))
    return this.#metrics.map((metric, i) => {
      const by = this.#predicates.get(metric)
      let left =
        by === undefined
          ? ranked.get(metric)!
          : onlyThose(
              early[i]!,
              by.map((one) => ranked.get(one)!),
            )
      if (this.#isPredicate.has(metric)) left = limited(metric, left)
      return live_filter && invert_filter ? this.#choose(metric, left) : left
    })
  }

  #choose(metric: ReportMetric, readings: ValueColumns): ValueColumns {
    if (!metric.hasInstances || metric.filter.isEmpty || readings.size === 0) return readings
    const names = Array.from(readings.insts, (inst) => this.#nameOf(metric, inst))
    return readings.pick([...new Set(metric.filter.choose(names))].sort((a, b) => a - b))
  }

  #rank(metric: ReportMetric, readings: ValueColumns): ValueColumns {
    const { rank } = this.#settings
    if (rank === 0 || !metric.hasInstances || readings.size <= Math.abs(rank)) return readings
    return readings.pick(ranking(readings, rank).sort((a, b) => a - b))
  }
}

/** Do the settings filter anything? */
export function filtersSamples(
  metrics: readonly ReportMetric[],
  { live_filter, rank, predicate }: Settings,
): boolean {
  return live_filter || rank !== 0 || predicate.length > 0 || metrics.some(({ limit }) => limit !== 0)
}

/** Returns positions of the `rank` highest values, or the lowest for a negative rank, best first. */
export function ranking(readings: ValueColumns, rank: number): number[] {
  const order = readings.valueIndices()
  const compare = (i: number, j: number): number => compareCells(readings.at(i)!, readings.at(j)!)
  order.sort((a, b) => (rank > 0 ? compare(b, a) : compare(a, b)))
  return order.slice(0, Math.abs(rank))
}

/** Compares two cells; texts by their characters. */
export function compareCells(a: NonNullable<Cell>, b: NonNullable<Cell>): number {
  if (typeof a === 'string' || typeof b === 'string') return String(a) < String(b) ? -1 : a === b ? 0 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

function limited({ limit }: ReportMetric, readings: ValueColumns): ValueColumns {
  if (limit === 0) return readings
  return keepPlaces(readings, (i) => {
    const cell = readings.at(i)
    if (cell === undefined || typeof cell === 'string') return true
    return !(limit > 0 ? cell < limit : cell > -limit) // NaN passes, as in PCP
  })
}

/** Keeps the instances that have a value in one of the others. */
function onlyThose(readings: ValueColumns, by: readonly ValueColumns[]): ValueColumns {
  return keepPlaces(readings, (i) => by.some((one) => one.at(one.find(readings.insts[i]!)) !== undefined))
}

/** Keeps the values at the places that `isWanted` accepts. */
export function keepPlaces(readings: ValueColumns, isWanted: (place: number) => boolean): ValueColumns {
  const places: number[] = []
  for (let i = 0; i < readings.size; i++) if (isWanted(i)) places.push(i)
  return readings.pick(places)
}
