/**
 * The series of one metric of one source, from one sample to the next: new instances become series, and instances that disappear, or have other
 * labels, end with a staleness marker.
 */
import type { MetricDesc } from '../model/desc.ts'
import { NO_VALUE, ValueColumns } from '../model/value-columns.ts'
import type { ValueSet } from '../model/values.ts'
import type { Batch } from './batch.ts'
import { isSameSeries, type RemoteSeries } from './series.ts'

/** Makes the series of an instance; the number of a metric without instances does not matter. */
export type SeriesMaker = (inst: number) => RemoteSeries

/** Counts of values that are not sent. */
export interface Unsent {
  /** Their type is not the metric's. */
  unreadable: number
  /** A value of the same millisecond, or a later one, was sent before. */
  late: number
}

/** Key of a metric without instances, whose number is arbitrary in old archives. */
const SINGULAR = -1

/** See above. */
export class MetricSeries {
  readonly desc: MetricDesc
  readonly #columns: ValueColumns
  readonly #unsent: Unsent
  #make: SeriesMaker
  /** The series that have not ended, by instance. */
  #live = new Map<number, RemoteSeries>()
  /** The series of `#insts`. */
  #row: (RemoteSeries | undefined)[] = []
  #insts: Int32Array | undefined
  /** Instances whose name or labels may have changed. */
  #suspects: Set<number> | 'all' = new Set()
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(desc: MetricDesc, make: SeriesMaker, unsent: Unsent) {
    this.desc = desc
    this.#columns = new ValueColumns(desc)
    this.#make = make
    this.#unsent = unsent
  }

  /** Number of series that have not ended. */
  get size(): number {
    return this.#live.size
  }

  /** Assumes that instances had values before; for a source that is continued. */
  assume(insts: Iterable<number>): void {
    if (this.#columns.isSingular) this.#live.set(SINGULAR, this.#make(SINGULAR))
    else for (const inst of insts) this.#live.set(inst, this.#make(inst))
  }

  /** Makes the series of some instances again at the next sample, as their names have changed. */
  recheck(insts: readonly number[]): void {
    if (this.#suspects !== 'all') for (const inst of insts) this.#suspects.add(inst)
    this.#insts = undefined
  }

  /** Makes all series again at the next sample, as labels or texts have changed. */
  remake(make: SeriesMaker): void {
    this.#make = make
    this.#suspects = 'all'
    this.#insts = undefined
  }

  /** Adds a value set; its values are skipped unless they are later than those before. */
  take(set: ValueSet, ms: number, batch: Batch): void {
    if (ms <= this.#lastMs) {
      this.#unsent.late += Math.max(0, set.status)
      return
    }
    this.#lastMs = ms
    const columns = this.#columns
    columns.fillFrom(set)
    const { size, insts, has, values } = columns
    if (size === 0) {
      this.end(ms, batch)
      return
    }
    if (insts !== this.#insts || this.#row.length !== size) this.#arrange(insts.subarray(0, size), ms, batch)
    this.#insts = insts
    const row = this.#row
    for (let i = 0; i < size; i++) {
      const series = row[i]
      if (has[i] === NO_VALUE || series === undefined) this.#unsent.unreadable++
      else batch.add(series, ms, values[i]!)
    }
  }

  /** Ends all series, as recording was interrupted or the metric has no values any more. */
  end(ms: number, batch: Batch): void {
    for (const series of this.#live.values()) batch.addStale(series, ms)
    this.#live.clear()
    this.#row = []
    this.#insts = undefined
  }

  /** Finds the series of other instances than before; each instance has one, even if it is in the set twice. */
  #arrange(insts: Int32Array, ms: number, batch: Batch): void {
    const before = this.#live
    const suspects = this.#suspects
    const live = new Map<number, RemoteSeries>()
    this.#row = Array.from(insts, (inst) => {
      const key = this.#columns.isSingular ? SINGULAR : inst
      if (live.has(key)) return undefined
      const known = before.get(key)
      const isSuspect = suspects === 'all' || suspects.has(key)
      const series = known === undefined || isSuspect ? this.#make(key) : known
      live.set(key, series)
      return series
    })
    for (const [key, series] of before) {
      const now = live.get(key)
      if (now === undefined || !isSameSeries(now, series)) batch.addStale(series, ms)
    }
    this.#suspects = new Set()
    this.#live = live
  }
}
