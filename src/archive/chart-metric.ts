/** Chart queries, and the columns of each metric by instance. docs/reference/pmproxy.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { rateUnits } from '../model/rate.ts'
import type { Instances } from '../model/source.ts'
import { PM_SEM_COUNTER } from '../model/types.ts'
import { extractNumber } from '../model/value-set.ts'
import type { FetchResult } from '../model/values.ts'
import { type ChartRange, type ChartRangeMetric, describeMetric, type NumberLists } from './chart-answer.ts'
import { ChartColumn, type ChartWindow } from './chart-column.ts'
import { IntervalEstimator } from './chart-interval.ts'
import { isDiscrete } from './chart-times.ts'
import type { ScanOptions, ScanResult, ValueSink } from './scan.ts'

/** Most columns of a metric. */
const MOST_COLUMNS = 5000

/** The archive as charts use it. */
export interface ChartArchive {
  readonly start: Timestamp
  end(): Timestamp
  /** Scans recorded metrics, see `scan`. */
  scan(ids: readonly Pmid[], options: ScanOptions): ScanResult
  /** See `Archive.prefetch`. */
  prefetch?(from: Timestamp, to: Timestamp): Promise<void>
  /** Returns all instances over the archive's life. PM_ERR_INDOM_LOG. */
  instances(indom: Indom): Instances
  /** Sets time and step of `fetch`. */
  setMode(mode: 'interpolate', when: Timestamp, stepSec: number): void
  /** Sets the time of the next `fetch`; rates are relative to the time before. */
  moveTo(when: Timestamp): void
  /** Fetches recorded and derived metrics. PM_ERR_EOL outside the recorded time. */
  fetch(ids: readonly Pmid[]): Promise<FetchResult>
  /** Yields to other work; throws if the client no longer waits. `soFar` makes an answer from the data read so far. */
  yield(soFar: () => ChartRange): Promise<void>
}

export interface DescribedMetric {
  readonly desc: MetricDesc
  readonly help: string
  /** Operands of a derived metric; missing for a recorded one. */
  readonly computed?: DerivedFrom
}

/** How a derived metric is computed. */
export interface DerivedFrom {
  readonly operands: readonly MetricDesc[]
  /** Whether values depend on the previous sample, as rates do. */
  readonly isSequential: boolean
}

/** A query. */
export interface ChartQuery extends ChartWindow {
  /** Returns counters as recorded, not as rates. */
  readonly raw: boolean
  /** Samples all metrics at the same times, so that they can be stacked. */
  readonly aligned?: boolean | undefined
}

/** A query in progress. */
export interface ChartRequest {
  readonly archive: ChartArchive
  readonly query: ChartQuery
  readonly turn: () => Promise<void>
}

/** A metric with its columns by instance. */
export class ChartedMetric {
  readonly name: string
  readonly metric: DescribedMetric
  readonly columns: Map<number, ChartColumn> = new Map()
  /** Sampling interval of all instances together. */
  readonly pace: IntervalEstimator = new IntervalEstimator()
  /** Seconds between records, of a metric that is sampled instead of scanned; 0 if unknown. */
  sampledInterval: number | undefined
  readonly #query: ChartQuery
  readonly #isScanned: boolean
  readonly #reserve: (points: number) => void

  constructor(
    { name, metric }: { readonly name: string; readonly metric: DescribedMetric },
    query: ChartQuery,
    reserve: (points: number) => void,
  ) {
    this.name = name
    this.metric = metric
    this.#query = query
    this.#isScanned = metric.computed === undefined && query.aligned !== true
    this.#reserve = reserve
  }

  /** Whether values are scanned from records rather than sampled. */
  get isScanned(): boolean {
    return this.#isScanned
  }

  get desc(): MetricDesc {
    return this.metric.desc
  }

  column(inst: number): ChartColumn {
    let column = this.columns.get(inst)
    if (column === undefined) {
      if (this.columns.size >= MOST_COLUMNS)
        throw new PcpError('PM_ERR_TOOBIG', `More than ${MOST_COLUMNS} instances: filter them`)
      const { sem, units } = this.desc
      column = new ChartColumn(this.#query, {
        sem,
        factor: rateUnits(units).factor,
        raw: this.#query.raw,
        ...(this.#isScanned ? { pace: this.pace } : {}),
        reserve: this.#reserve,
      })
      this.columns.set(inst, column)
    }
    return column
  }

  /** Returns the sink for scanned values of an instance. */
  sinkOf(inst: number): ValueSink {
    const column = this.column(inst)
    const { pace } = this
    // With a single instance, the interval of the metric is the same.
    if (this.desc.indom === PM_INDOM_NULL || isDiscrete(this.desc)) return column
    return {
      add: (time, value) => {
        pace.next(time)
        column.add(time, value)
      },
    }
  }

  /** Marks an interruption of recording. */
  mark(time: number): void {
    this.pace.interrupt(time)
    for (const column of this.columns.values()) column.mark(time)
  }

  /** Takes the values of a fetch, of those instances for which `has` is true. */
  take({ sets }: FetchResult, m: number, time: number, has: (inst: number) => boolean = () => true): void {
    const set = sets[m]!
    const here = new Set<number>()
    for (let i = 0; i < set.status; i++) {
      const inst = set.inst[i]!
      if (!has(inst)) continue
      here.add(inst)
      this.column(inst).add(time, extractNumber(set, i, this.desc.type))
    }
    if (here.size < this.columns.size)
      for (const [inst, column] of this.columns) if (!here.has(inst)) column.mark(time)
  }

  /** Repeats the last recorded values, of the instances that existed then. */
  hold(time: number): void {
    const columns = [...this.columns.values()]
    const latest = columns.reduce((last, { lastTime }) => Math.max(last, lastTime || 0), 0)
    for (const column of columns) if (column.lastTime === latest) column.hold(time)
  }

  /** Ends the input. */
  settle(): void {
    for (const column of this.columns.values()) column.settle()
  }

  /** Seconds between records; 0 if unknown. */
  get #interval(): number {
    if (this.sampledInterval !== undefined) return this.sampledInterval
    return this.pace.interval || Math.max(0, ...Array.from(this.columns.values(), ({ interval }) => interval))
  }

  listed(archive: ChartArchive, lists: NumberLists): ChartRangeMetric {
    const { desc } = this
    const rate = desc.sem === PM_SEM_COUNTER && !this.#query.raw
    const shown = rate ? { ...desc, units: rateUnits(desc.units).units } : desc
    const isSingular = desc.indom === PM_INDOM_NULL
    const names = isSingular ? new Map<number, string>() : instanceNames(archive, desc.indom)
    const columns = Array.from(this.columns, ([inst, column]) => {
      const name = isSingular ? '' : (names.get(inst) ?? String(inst))
      return { inst, name, ...lists.put(column.finish()) }
    })
    return { ...describeMetric(this.name, shown, this.metric.help), rate, interval: this.#interval, columns }
  }
}

function instanceNames(archive: ChartArchive, indom: Indom): ReadonlyMap<number, string> {
  try {
    const { ids, names } = archive.instances(indom)
    return new Map(Array.from(ids, (id, i) => [id, names[i]!]))
  } catch {
    return new Map() // an expression over a domain that was never recorded
  }
}
