/**
 * Most records of an archive have the layout of one before: the same value sets, instances and blocks at the same places. What a scan
 * has learned of one record it compares with the next ones, and then takes their values without looking for them.
 * docs/formats/archive.md §5
 *
 *     record     length  time  count  pmid n format  inst VALUE  inst VALUE  pmid n format  inst word   header VALUE  length
 *     compared     ·             ·     ·  ·   ·       ·           ·           ·  ·   ·       ·    ·
 *     taken                                               ·           ·                                         ·
 */
import type { MetricDesc } from '../model/desc.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from '../model/types.ts'
import type { RecordView } from './record-view.ts'
import { LARGE } from './record-window.ts'

/** Takes the values of one instance, in the order of time. */
export interface ValueSink {
  add(time: number, value: number): void
}

/** A metric that is scanned for. */
export interface ScannedMetric {
  readonly desc: MetricDesc
  /** Index of its value set in a record, -1 without one. */
  find(record: RecordView): number
  /** What takes the `i`th value of its set, which is of this instance; none for one that is not wanted. */
  columnOf(i: number, inst: number): ValueSink | undefined
}

/** Layouts that are kept: a logger has one for each of its groups of metrics. */
const MOST_LAYOUTS = 16
/** When so many were learned without one that served, no more are. */
const MOST_UNUSED = 100

/** What one scan has learned of layouts. */
export class ScanLayouts {
  readonly #metrics: readonly ScannedMetric[]
  readonly #byLength = new Map<number, Layout>()
  /** Length of the last record of no known layout. A layout is learned when that repeats: many records are one of a kind. */
  #lengthBefore = 0
  #unused = 0

  constructor(metrics: readonly ScannedMetric[]) {
    this.#metrics = metrics
  }

  /** Takes the values of a record; false, and nothing is taken, when its layout is not known. */
  read(record: RecordView, time: number): boolean {
    if (this.#byLength.get(record.length)?.read(record, time) !== true) return false
    this.#unused = 0
    return true
  }

  /** Learns from a record of which all values could be read. */
  learn(record: RecordView): void {
    const { length } = record
    const isRepeated = length === this.#lengthBefore || this.#byLength.has(length)
    this.#lengthBefore = length
    // Of larger ones not all bytes may be there.
    if (!isRepeated || length > LARGE || this.#unused > MOST_UNUSED) return
    this.#unused++
    if (this.#byLength.size === MOST_LAYOUTS) this.#byLength.clear()
    this.#byLength.set(length, new Layout(record, this.#metrics))
  }
}

/** One layout; places count from the start of the record. */
class Layout {
  readonly #count: number
  /** Where words are that have to be the same, and what they are. */
  readonly #wordPlaces: Int32Array
  readonly #words: Int32Array
  /** Where values are, of which types, and which columns they are for. */
  readonly #valuePlaces: Int32Array
  readonly #types: Uint8Array
  readonly #columns: readonly ValueSink[]

  constructor(record: RecordView, metrics: readonly ScannedMetric[]) {
    record.index()
    const { view, offset, statuses, pairs, formats } = record
    const wordPlaces: number[] = []
    const valuePlaces: number[] = []
    const types: number[] = []
    const columns: ValueSink[] = []
    this.#count = record.count
    for (let s = 0; s < record.count; s++) {
      // Without values there is no format.
      const heads = statuses[s]! > 0 ? 3 : 2
      for (let word = heads; word > 0; word--) wordPlaces.push(pairs[s]! - 4 * word - offset)
    }
    for (const metric of metrics) {
      const s = metric.find(record)
      for (let i = 0; s >= 0 && i < statuses[s]!; i++) {
        const at = pairs[s]! + 8 * i
        wordPlaces.push(at - offset)
        const column = metric.columnOf(i, view.getInt32(at))
        if (column === undefined) continue
        const isInSitu = formats[s] === PM_VAL_INSITU
        if (!isInSitu) wordPlaces.push(at + 4 - offset)
        valuePlaces.push((isInSitu ? at : record.blockAt(view.getInt32(at + 4))) + 4 - offset)
        types.push(metric.desc.type)
        columns.push(column)
      }
    }
    this.#wordPlaces = Int32Array.from(wordPlaces)
    this.#words = this.#wordPlaces.map((place) => view.getInt32(offset + place))
    this.#valuePlaces = Int32Array.from(valuePlaces)
    this.#types = Uint8Array.from(types)
    this.#columns = columns
  }

  /** Takes the values of a record of the same length; false when it has another layout. */
  read({ view, offset, count }: RecordView, time: number): boolean {
    if (count !== this.#count) return false
    const places = this.#wordPlaces
    const words = this.#words
    for (let i = 0; i < places.length; i++) if (view.getInt32(offset + places[i]!) !== words[i]) return false
    const columns = this.#columns
    for (let i = 0; i < columns.length; i++)
      columns[i]!.add(time, numberAt(view, offset + this.#valuePlaces[i]!, this.#types[i]!))
    return true
  }
}

/** A number of some type, without its instance or header; integers beyond 2^53 are rounded. */
export function numberAt(view: DataView, at: number, type: number): number {
  switch (type) {
    case PM_TYPE_32:
      return view.getInt32(at)
    case PM_TYPE_U32:
      return view.getUint32(at)
    case PM_TYPE_64:
      return view.getInt32(at) * 0x1_0000_0000 + view.getUint32(at + 4)
    case PM_TYPE_U64:
      return view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4)
    case PM_TYPE_FLOAT:
      return view.getFloat32(at)
    case PM_TYPE_DOUBLE:
      return view.getFloat64(at)
    default:
      return Number.NaN // no type that is scanned for
  }
}
