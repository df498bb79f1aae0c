/** What a chart wants of an archive, and what becomes of each metric: its columns by instance. docs/pmproxy.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { rateUnits } from '../model/rate.ts'
import type { Instances } from '../model/source.ts'
import { PM_SEM_COUNTER } from '../model/types.ts'
import { extractNumber } from '../model/value-set.ts'
import type { FetchResult } from '../model/values.ts'
import { type ChartRange, type ListedMetric, type Lists, metricWords } from './chart-answer.ts'
import { ChartColumn, type ChartWindow } from './chart-column.ts'
import { isSteady } from './chart-moments.ts'
import { Pace } from './chart-pace.ts'
import type { ScanOptions, ScanResult, ValueSink } from './scan.ts'

/** Columns of a metric. */
const MOST_COLUMNS = 5000

/** What is asked of an archive. */
export interface ChartArchive {
  readonly start: Timestamp
  end(): Timestamp
  /** Recorded metrics, see `scan`. */
  scan(ids: readonly Pmid[], options: ScanOptions): ScanResult
  /** Instances over its whole life. PM_ERR_INDOM_LOG. */
  instances(indom: Indom): Instances
  /** Where `fetch` interpolates next, and how far it goes on each time. */
  setMode(mode: 'interpolate', when: Timestamp, stepSec: number): void
  /** Where it interpolates the next time, with rates since the time before. */
  moveTo(when: Timestamp): void
  /** Recorded and derived metrics. PM_ERR_EOL outside of what was recorded. */
  fetch(ids: readonly Pmid[]): Promise<FetchResult>
  /** Lets others have a turn; throws when nobody waits for the answer any more. `soFar` makes an answer of what has been read. */
  turn(soFar: () => ChartRange): Promise<void>
}

/** A metric of an archive. */
export interface KnownMetric {
  readonly desc: MetricDesc
  readonly help: string
  /** What it is computed from; absent for a recorded metric. */
  readonly computed?: ComputedFrom
}

/** Of what and how a derived metric is computed. */
export interface ComputedFrom {
  readonly operands: readonly MetricDesc[]
  /** Does it compare with the moment before, as a rate does? */
  readonly isSequential: boolean
}

/** What is wanted. */
export interface ChartQuery extends ChartWindow {
  /** Counters as they are recorded, not as rates. */
  readonly raw: boolean
  /** All metrics have values at the same moments, so that they add up. */
  readonly aligned?: boolean | undefined
}

/** What is read, and for what. */
export interface Reading {
  readonly archive: ChartArchive
  readonly query: ChartQuery
  readonly turn: () => Promise<void>
}

/** A metric with its columns by instance. */
export class Charted {
  readonly name: string
  readonly metric: KnownMetric
  readonly columns: Map<number, ChartColumn> = new Map()
  /** Of all instances together. */
  readonly pace: Pace = new Pace()
  readonly #query: ChartQuery
  readonly #isScanned: boolean
  readonly #reserve: (points: number) => void

  constructor(
    { name, metric }: { readonly name: string; readonly metric: KnownMetric },
    query: ChartQuery,
    reserve: (points: number) => void,
  ) {
    this.name = name
    this.metric = metric
    this.#query = query
    this.#isScanned = metric.computed === undefined && query.aligned !== true
    this.#reserve = reserve
  }

  /** Are its values taken from records, rather than sampled? */
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
        throw new PcpError('PM_ERR_TOOBIG', `More than ${MOST_COLUMNS} instances: ask for fewer`)
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

  /** Takes the values of an instance that are scanned. */
  sinkOf(inst: number): ValueSink {
    const column = this.column(inst)
    const { pace } = this
    // Of one instance alone nobody else knows more.
    if (this.desc.indom === PM_INDOM_NULL || isSteady(this.desc)) return column
    return {
      add: (time, value) => {
        pace.next(time)
        column.add(time, value)
      },
    }
  }

  /** Recording was interrupted. */
  mark(time: number): void {
    this.pace.interrupt(time)
    for (const column of this.columns.values()) column.mark(time)
  }

  /** Takes the values of a fetch at a moment, of those instances that have some there. */
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

  /** What was recorded last still holds, of the instances that there were then. */
  hold(time: number): void {
    const columns = [...this.columns.values()]
    const latest = columns.reduce((last, { lastTime }) => Math.max(last, lastTime || 0), 0)
    for (const column of columns) if (column.lastTime === latest) column.hold(time)
  }

  /** No more values follow. */
  settle(): void {
    for (const column of this.columns.values()) column.settle()
  }

  listed(archive: ChartArchive, lists: Lists): ListedMetric {
    const { desc } = this
    const rate = desc.sem === PM_SEM_COUNTER && !this.#query.raw
    const shown = rate ? { ...desc, units: rateUnits(desc.units).units } : desc
    const isSingular = desc.indom === PM_INDOM_NULL
    const names = isSingular ? new Map<number, string>() : instanceNames(archive, desc.indom)
    const columns = Array.from(this.columns, ([inst, column]) => {
      const name = isSingular ? '' : (names.get(inst) ?? String(inst))
      return { inst, name, ...lists.put(column.finish()) }
    })
    return { ...metricWords(this.name, shown, this.metric.help), rate, columns }
  }
}

function instanceNames(archive: ChartArchive, indom: Indom): ReadonlyMap<number, string> {
  try {
    const { ids, names } = archive.instances(indom)
    return new Map(Array.from(ids, (id, i) => [id, names[i]!]))
  } catch {
    return new Map() // an expression of a domain that was never recorded
  }
}
