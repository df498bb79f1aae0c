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
import { PM_TYPE_64, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U64, PM_VAL_INSITU } from '../model/types.ts'
import type { FoundNumbers } from './interp-set.ts'
import { numberOf } from './interp-value.ts'
import type { RecordView } from './record-view.ts'

/** A metric of numbers, with the instances that get columns; a metric without instances has one column, whatever they are. */
export interface ColumnMetric {
  readonly desc: MetricDesc
  readonly insts: readonly number[]
}

/** See the drawing above. What a column has is good until `clear`. */
export class NumberColumns {
  /** Metrics, in the order of the columns. */
  readonly ids: readonly Pmid[]
  /** Values in each metric's set, those without a column as well; negative for an error, 0 without a set. */
  readonly counts: Int32Array
  /** 1 for a column with a value. */
  readonly has: Uint8Array
  /** Values; integers beyond 2^53 are rounded. */
  readonly values: Float64Array
  readonly #metrics: readonly MetricColumns[]
  /** The two halves of 64-bit integers. */
  readonly #high: Int32Array
  readonly #low: Int32Array

  constructor(metrics: readonly ColumnMetric[]) {
    const size = metrics.reduce((sum, metric) => sum + metric.insts.length, 0)
    this.ids = metrics.map(({ desc }) => desc.pmid)
    this.counts = new Int32Array(metrics.length)
    this.has = new Uint8Array(size)
    this.values = new Float64Array(size)
    this.#high = new Int32Array(size)
    this.#low = new Int32Array(size)
    const to = { has: this.has, values: this.values, high: this.#high, low: this.#low }
    let first = 0
    this.#metrics = metrics.map((metric) => {
      const columns = new MetricColumns(metric, first, to)
      first += metric.insts.length
      return columns
    })
  }

  /** No column has a value. */
  clear(): void {
    this.has.fill(0)
    this.counts.fill(0)
  }

  /** Takes the values of a record whose value sets were checked; false, and nothing is taken, when it has no set of these metrics. */
  takeRecord(record: RecordView): boolean {
    const metrics = this.#metrics
    let isAny = false
    for (let m = 0; m < metrics.length; m++) {
      const s = metrics[m]!.find(record)
      if (s < 0) continue
      isAny = true
      this.counts[m] = record.statuses[s]!
      metrics[m]!.takeRecord(record, s)
    }
    return isAny
  }

  /** Takes the first `count` numbers found of the `m`th metric; their slots are those of `insts`. */
  takeFound(m: number, insts: Int32Array, numbers: FoundNumbers, count: number): void {
    this.counts[m] = count
    this.#metrics[m]!.takeFound(insts, numbers, count)
  }

  /** The value of a column of 64-bit integers, without rounding. */
  exact(column: number, type: number): bigint {
    const high = BigInt(type === PM_TYPE_U64 ? this.#high[column]! >>> 0 : this.#high[column]!)
    return (high << 32n) | BigInt(this.#low[column]! >>> 0)
  }
}

/** Where columns are filled in. */
interface Store {
  readonly has: Uint8Array
  readonly values: Float64Array
  readonly high: Int32Array
  readonly low: Int32Array
}

const NOWHERE = -1

/** The columns of one metric. */
class MetricColumns {
  readonly #pmid: Pmid
  readonly #type: number
  readonly #isLong: boolean
  readonly #isSingular: boolean
  readonly #insts: readonly number[]
  readonly #first: number
  readonly #to: Store
  /** Header word of the metric's blocks, and that of agents which say no type. */
  readonly #header: number
  readonly #plainHeader: number
  readonly #columns: ReadonlyMap<number, number>
  /** Where the metric was in the record before, and the column of its `i`th value: records resemble each other. */
  #setBefore = 0
  readonly #columnBefore: number[] = []
  /** Columns of slots, and the instances that these are for. */
  #slotInsts: Int32Array = new Int32Array(0)
  #slotColumns: Int32Array = new Int32Array(0)

  constructor({ desc: { pmid, type, indom }, insts }: ColumnMetric, first: number, to: Store) {
    this.#pmid = pmid
    this.#type = type
    this.#isLong = type === PM_TYPE_64 || type === PM_TYPE_U64
    this.#isSingular = indom === PM_INDOM_NULL
    this.#insts = insts
    this.#first = first
    this.#to = to
    this.#plainHeader = type === PM_TYPE_FLOAT ? 8 : 12
    this.#header = (type << 24) | this.#plainHeader
    this.#columns = new Map(insts.map((inst, i) => [inst, first + i]))
  }

  /** Index of the metric's value set in a record; -1 without one. */
  find(record: RecordView): number {
    const s = record.find(this.#pmid, this.#setBefore)
    if (s >= 0) this.#setBefore = s
    return s
  }

  takeRecord(record: RecordView, s: number): void {
    const { view } = record
    const count = this.#isSingular ? Math.min(1, record.statuses[s]!) : record.statuses[s]!
    const isWord = record.formats[s] === PM_VAL_INSITU
    let at = record.pairs[s]!
    for (let i = 0; i < count; i++, at += 8) {
      const column = this.#isSingular ? this.#first : this.#columnOf(i, view.getInt32(at))
      if (column === NOWHERE) continue
      const word = view.getInt32(at + 4)
      if (isWord) this.#putWord(column, word)
      else this.#putBlock(column, view, record.blockAt(word))
    }
  }

  takeFound(insts: Int32Array, { found, high, low }: FoundNumbers, count: number): void {
    if (insts !== this.#slotInsts) {
      this.#slotInsts = insts
      this.#slotColumns = insts.map((inst) =>
        this.#isSingular ? this.#first : (this.#columns.get(inst) ?? NOWHERE),
      )
    }
    const columns = this.#slotColumns
    for (let i = 0; i < count; i++) {
      const column = columns[found[i]!]!
      if (column !== NOWHERE) this.#putWords(column, high[i]!, low[i]!)
    }
  }

  #columnOf(i: number, inst: number): number {
    const before = this.#columnBefore[i]
    if (before !== undefined && this.#insts[before - this.#first] === inst) return before
    const column = this.#columns.get(inst) ?? NOWHERE
    this.#columnBefore[i] = column
    return column
  }

  /** A value that stands for itself; of another type than the metric's it is none. */
  #putWord(column: number, word: number): void {
    if (!this.#isLong && this.#type !== PM_TYPE_DOUBLE) this.#putWords(column, word, 0)
  }

  /** A value in a block; of another type or size than the metric's it is none. */
  #putBlock(column: number, view: DataView, at: number): void {
    const header = view.getInt32(at)
    if (header !== this.#header && header !== this.#plainHeader) return
    const type = this.#type
    if (type === PM_TYPE_DOUBLE) {
      this.#to.values[column] = view.getFloat64(at + 4)
      this.#to.has[column] = 1
    } else if (this.#isLong) this.#putWords(column, view.getInt32(at + 4), view.getInt32(at + 8))
    else if (type === PM_TYPE_FLOAT) this.#putWords(column, view.getInt32(at + 4), 0)
  }

  #putWords(column: number, upper: number, lower: number): void {
    const { has, values, high, low } = this.#to
    has[column] = 1
    if (this.#isLong) {
      high[column] = upper
      low[column] = lower
    }
    values[column] = numberOf(this.#type, upper, lower)
  }
}
