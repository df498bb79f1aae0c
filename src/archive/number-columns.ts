/**
 * Numbers of several metrics at one time, with a column for each requested instance, in the order of the metrics.
 * docs/formats/archive.md §5
 *
 *     metrics    disk.dev.read    disk.dev.write    level.a
 *     columns    sda sdb sdc      sda sdb sdc       -
 *     has          1   1   0        1   1   0       1
 *     values     17.  4.   ?       9.   0.   ?      0.25
 */
import type { MetricDesc } from '../model/desc.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { ALL_INSTANCES, includesInstance, type Profile } from '../model/profile.ts'
import { PM_VAL_INSITU } from '../model/types.ts'
import { NO_VALUE, OTHER_VALUE, ValueColumns } from '../model/value-columns.ts'
import type { RecordView } from './record-view.ts'

/** A numeric metric and the instances that get columns; a metric without an instance domain has one column. */
export interface ColumnMetric {
  readonly desc: MetricDesc
  readonly insts: readonly number[]
}

/** See the drawing above. Values are valid until the next time. */
export class NumberColumns {
  /** Metrics, in the order of the columns. */
  readonly ids: readonly Pmid[]
  /** Number of values in each metric's set, including those without a column; negative for an error, 0 without a set. */
  readonly counts: Int32Array
  /** 1 for a column with a value. */
  readonly has: Uint8Array
  /** Values; integers beyond 2^53 are rounded. */
  readonly values: Float64Array
  readonly #metrics: readonly ColumnMetric[]
  readonly #from: readonly ValueColumns[]
  /** Index of each column's value at the previous time. */
  readonly #places: Int32Array
  /** Integers beyond 2^53. */
  readonly #exact: bigint[] = []

  /** `from`: the values of each metric. */
  constructor(metrics: readonly ColumnMetric[], from: readonly ValueColumns[]) {
    const size = metrics.reduce((sum, { insts }) => sum + insts.length, 0)
    this.ids = metrics.map(({ desc }) => desc.pmid)
    this.counts = new Int32Array(metrics.length)
    this.has = new Uint8Array(size)
    this.values = new Float64Array(size)
    this.#metrics = metrics
    this.#from = from
    this.#places = new Int32Array(size)
  }

  /** Takes the current values. */
  refresh(): void {
    let column = 0
    for (const [m, { insts }] of this.#metrics.entries()) {
      const from = this.#from[m]!
      this.counts[m] = from.status
      for (let i = 0; i < insts.length; i++, column++) {
        const place = from.isSingular ? 0 : from.find(insts[i]!, this.#places[column])
        const kind = from.has[place] ?? NO_VALUE
        this.has[column] = kind === NO_VALUE ? 0 : 1
        if (kind === NO_VALUE) continue
        this.#places[column] = place
        this.values[column] = from.values[place]!
        if (kind === OTHER_VALUE) this.#exact[column] = from.others[place] as bigint
      }
    }
  }

  /** Returns the value of a column of 64-bit integers without rounding. */
  exact(column: number, _type?: number): bigint {
    const value = this.values[column]!
    return Number.isSafeInteger(value) ? BigInt(value) : this.#exact[column]!
  }
}

/** Fills the columns of one metric from successive records whose value sets have been checked. */
export class RecordColumns {
  readonly columns: ValueColumns
  readonly #desc: MetricDesc
  readonly #profile: Profile
  readonly #isWhole: boolean
  /** Index of the metric in the previous record: records resemble each other. */
  #setBefore = 0

  /** `profile` selects instances. */
  constructor(desc: MetricDesc, profile: Profile) {
    this.columns = new ValueColumns(desc)
    this.#desc = desc
    this.#profile = profile
    this.#isWhole = profile === ALL_INSTANCES || desc.indom === PM_INDOM_NULL
  }

  /** Takes the metric's values; returns false, without values, if the record has no set of it. */
  take(record: RecordView): boolean {
    const s = record.find(this.#desc.pmid, this.#setBefore)
    const { columns } = this
    if (s < 0) {
      columns.begin(0)
      return false
    }
    this.#setBefore = s
    const count = record.statuses[s]!
    if (this.#isWhole || count <= 0) columns.begin(count)
    else columns.begin(this.#wanted(record, s))
    const { view } = record
    const isWord = record.formats[s] === PM_VAL_INSITU
    let place = 0
    for (let i = 0, at = record.pairs[s]!; i < count; i++, at += 8) {
      const inst = view.getInt32(at)
      if (!this.#isWhole && !includesInstance(this.#profile, this.#desc.indom, inst)) continue
      columns.setInst(place, inst)
      const word = view.getInt32(at + 4)
      if (isWord) columns.putWord(place++, word)
      else columns.putBlock(place++, view, record.blockAt(word))
    }
    return true
  }

  /** Counts the selected values. */
  #wanted({ view, statuses, pairs }: RecordView, s: number): number {
    let count = 0
    for (let i = 0; i < statuses[s]!; i++)
      if (includesInstance(this.#profile, this.#desc.indom, view.getInt32(pairs[s]! + 8 * i))) count++
    return count
  }
}
