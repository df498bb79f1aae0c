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
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from '../model/types.ts'
import type { ValueSet } from '../model/values.ts'
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

  /** Takes the values of sets, one of each metric. */
  takeSets(sets: readonly ValueSet[]): void {
    const metrics = this.#metrics
    for (let m = 0; m < metrics.length; m++) {
      this.counts[m] = sets[m]!.status
      metrics[m]!.takeSet(sets[m]!)
    }
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

const TWO_32 = 0x1_0000_0000
const NO_BYTES = new Uint8Array(0)
const NOWHERE = -1
const scratch = new DataView(new ArrayBuffer(4))

/** The columns of one metric. */
class MetricColumns {
  readonly #pmid: Pmid
  readonly #type: number
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
  /** Of the set before: sets of later moments mostly use its memory again. */
  #bytes: Uint8Array = NO_BYTES
  #view: DataView = new DataView(NO_BYTES.buffer)

  constructor({ desc: { pmid, type, indom }, insts }: ColumnMetric, first: number, to: Store) {
    this.#pmid = pmid
    this.#type = type
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

  takeSet({ status, format, inst, word, bytes }: ValueSet): void {
    const count = this.#isSingular ? Math.min(1, status) : status
    if (bytes !== this.#bytes) {
      this.#bytes = bytes
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    const view = this.#view
    for (let i = 0; i < count; i++) {
      const column = this.#isSingular ? this.#first : this.#columnOf(i, inst[i]!)
      if (column === NOWHERE) continue
      if (format === PM_VAL_INSITU) this.#putWord(column, word[i]!)
      else this.#putBlock(column, view, word[i]!)
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
    const { has, values } = this.#to
    if (this.#type === PM_TYPE_U32) values[column] = word >>> 0
    else if (this.#type === PM_TYPE_32) values[column] = word
    else if (this.#type === PM_TYPE_FLOAT) {
      scratch.setInt32(0, word)
      values[column] = scratch.getFloat32(0)
    } else return
    has[column] = 1
  }

  /** A value in a block; of another type or size than the metric's it is none. */
  #putBlock(column: number, view: DataView, at: number): void {
    const { has, values, high, low } = this.#to
    const header = view.getInt32(at)
    if (header !== this.#header && header !== this.#plainHeader) return
    const type = this.#type
    if (type === PM_TYPE_DOUBLE) values[column] = view.getFloat64(at + 4)
    else if (type === PM_TYPE_FLOAT) values[column] = view.getFloat32(at + 4)
    else if (type === PM_TYPE_U64 || type === PM_TYPE_64) {
      const upper = view.getInt32(at + 4)
      const lower = view.getInt32(at + 8)
      high[column] = upper
      low[column] = lower
      values[column] = (type === PM_TYPE_U64 ? upper >>> 0 : upper) * TWO_32 + (lower >>> 0)
    } else return
    has[column] = 1
  }
}
