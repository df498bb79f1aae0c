/** What a report leaves out of a sample: ranks, limits, predicates, instances chosen anew. pmrep(1) -J -8 -N -j -n */
import { PcpError } from '../../../model/errors.ts'
import { PM_TYPE_STRING } from '../../../model/types.ts'
import type { ReportMetric } from './metrics.ts'
import type { Settings } from './settings.ts'
import { type Cell, indexOf, NO_READINGS, type Readings } from './values.ts'

/** What a filter needs to know: names of the instances of a metric. */
export type NameOf = (metric: ReportMetric, inst: number) => string

/** Returns the metrics whose instances decide over those of others. PM_ERR_GENERIC with the line to print where one cannot. */
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

/** Narrows samples down. */
export class Narrowing {
  readonly #metrics: readonly ReportMetric[]
  readonly #settings: Settings
  readonly #nameOf: NameOf
  /** The metrics whose instances decide, for each metric. */
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
    this.#isNeeded = isNarrowing(metrics, settings)
  }

  /** What is left of a sample: readings of every metric, in step with the metrics. */
  narrow(sample: readonly Readings[]): readonly Readings[] {
    if (!this.#isNeeded) return sample
    const { live_filter, invert_filter } = this.#settings
    const isLive = live_filter && !invert_filter
    const early = this.#metrics.map((metric, i) => {
      const live = isLive ? this.#choose(metric, sample[i]!) : sample[i]!
      return this.#isPredicate.has(metric) ? live : limited(metric, live)
    })
    const ranked = new Map<ReportMetric, Readings>()
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

  #choose(metric: ReportMetric, readings: Readings): Readings {
    if (!metric.hasInstances || metric.filter.isEmpty || readings.cells.length === 0) return readings
    const names = Array.from(readings.insts, (inst) => this.#nameOf(metric, inst))
    return pick(
      readings,
      [...new Set(metric.filter.choose(names))].sort((a, b) => a - b),
    )
  }

  #rank(metric: ReportMetric, readings: Readings): Readings {
    const { rank } = this.#settings
    if (rank === 0 || !metric.hasInstances || readings.cells.length <= Math.abs(rank)) return readings
    return pick(
      readings,
      ranking(readings, rank).sort((a, b) => a - b),
    )
  }
}

/** Is anything left out of samples? */
export function isNarrowing(
  metrics: readonly ReportMetric[],
  { live_filter, rank, predicate }: Settings,
): boolean {
  return live_filter || rank !== 0 || predicate.length > 0 || metrics.some(({ limit }) => limit !== 0)
}

/** Positions of the `rank` highest values, or the lowest where it is negative, best first. */
export function ranking({ cells }: Readings, rank: number): number[] {
  const order: number[] = []
  for (let i = 0; i < cells.length; i++) if (cells[i] !== undefined) order.push(i)
  order.sort((a, b) => (rank > 0 ? compareCells(cells[b]!, cells[a]!) : compareCells(cells[a]!, cells[b]!)))
  return order.slice(0, Math.abs(rank))
}

/** Order of two cells; text is in the order of its characters. */
export function compareCells(a: NonNullable<Cell>, b: NonNullable<Cell>): number {
  if (typeof a === 'string' || typeof b === 'string') return String(a) < String(b) ? -1 : a === b ? 0 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

function limited({ limit }: ReportMetric, readings: Readings): Readings {
  if (limit === 0) return readings
  return pick(
    readings,
    [...readings.cells.keys()].filter((i) => {
      const cell = readings.cells[i]
      if (cell === undefined || typeof cell === 'string') return true
      return !(limit > 0 ? cell < limit : cell > -limit) // NaN passes, as in PCP
    }),
  )
}

/** Only instances that have a value in one of the others. */
function onlyThose(readings: Readings, by: readonly Readings[]): Readings {
  const isShown = (inst: number): boolean =>
    by.some(({ insts, cells }) => cells[indexOf(insts, inst)] !== undefined)
  return pick(
    readings,
    [...readings.cells.keys()].filter((i) => isShown(readings.insts[i]!)),
  )
}

function pick(readings: Readings, positions: readonly number[]): Readings {
  if (positions.length === readings.cells.length) return readings
  if (positions.length === 0) return NO_READINGS
  return {
    insts: positions.map((i) => readings.insts[i]!),
    cells: positions.map((i) => readings.cells[i]),
  }
}
