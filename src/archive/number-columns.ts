/**
 * The numbers of some metrics at one moment, in columns: one for each instance asked for, in the order of the metrics.
 * docs/formats/archive.md §5
 *
 *     metrics    disk.dev.read    disk.dev.write    level.a
 *     columns    sda sdb sdc      sda sdb sdc       -
 *     has          1   1   0        1   1   0       1
 *     values     17.  4.   ?       9.   0.   ?      0.25
 */
import type { MetricDesc } from '../model/desc.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { ALL_INSTANCES, type Profile, wants } from '../model/profile.ts'
import { PM_VAL_INSITU } from '../model/types.ts'
import { NOTHING, OTHER, ValueColumns } from '../model/value-columns.ts'
import type { RecordView } from './record-view.ts'

/** A metric of numbers, with the instances that get columns; a metric without instances has one column, whatever they are. */
export interface ColumnMetric {
  readonly desc: MetricDesc
  readonly insts: readonly number[]
}

/** See the drawing above. What a column has is good until the next moment. */
export class NumberColumns {
  /** Metrics, in the order of the columns. */
  readonly ids: readonly Pmid[]
  /** Values in each metric's set, those without a column as well; negative for an error, 0 without a set. */
  readonly counts: Int32Array
  /** 1 for a column with a value. */
  readonly has: Uint8Array
  /** Values; integers beyond 2^53 are rounded. */
  readonly values: Float64Array
  readonly #metrics: readonly ColumnMetric[]
  readonly #from: readonly ValueColumns[]
  /** Where a column's value was the last time. */
  readonly #places: Int32Array
  /** Integers beyond 2^53. */
  readonly #exact: bigint[] = []

  /** `from`: the values of the metrics, in step with them. */
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

  /** Takes the values of the moment. */
  refresh(): void {
    let column = 0
    for (const [m, { insts }] of this.#metrics.entries()) {
      const from = this.#from[m]!
      this.counts[m] = from.status
      for (let i = 0; i < insts.length; i++, column++) {
        const place = from.isSingular ? 0 : from.find(insts[i]!, this.#places[column])
        const kind = from.has[place] ?? NOTHING
        this.has[column] = kind === NOTHING ? 0 : 1
        if (kind === NOTHING) continue
        this.#places[column] = place
        this.values[column] = from.values[place]!
        if (kind === OTHER) this.#exact[column] = from.others[place] as bigint
      }
    }
  }

  /** The value of a column of 64-bit integers, without rounding. */
  exact(column: number, _type?: number): bigint {
    const value = this.values[column]!
    return Number.isSafeInteger(value) ? BigInt(value) : this.#exact[column]!
  }
}

/** Fills the columns of one metric out of record after record whose value sets were checked. */
export class RecordColumns {
  readonly columns: ValueColumns
  readonly #desc: MetricDesc
  readonly #profile: Profile
  readonly #isWhole: boolean
  /** Where the metric was in the record before: records resemble each other. */
  #setBefore = 0

  /** `profile`: the instances that are wanted. */
  constructor(desc: MetricDesc, profile: Profile) {
    this.columns = new ValueColumns(desc)
    this.#desc = desc
    this.#profile = profile
    this.#isWhole = profile === ALL_INSTANCES || desc.indom === PM_INDOM_NULL
  }

  /** Takes the metric's values; false, and there are none, when the record has no set of it. */
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
      if (!this.#isWhole && !wants(this.#profile, this.#desc.indom, inst)) continue
      columns.setInst(place, inst)
      const word = view.getInt32(at + 4)
      if (isWord) columns.putWord(place++, word)
      else columns.putBlock(place++, view, record.blockAt(word))
    }
    return true
  }

  /** How many values are wanted. */
  #wanted({ view, statuses, pairs }: RecordView, s: number): number {
    let count = 0
    for (let i = 0; i < statuses[s]!; i++)
      if (wants(this.#profile, this.#desc.indom, view.getInt32(pairs[s]! + 8 * i))) count++
    return count
  }
}
