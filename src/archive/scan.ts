/**
 * Values as columns, for charts and analysis. docs/formats/archive.md §5
 *
 * Most records have the layout of an earlier one: the same value sets, instances and blocks at the same offsets. A scan compares those words
 * of a record and then takes the values without searching for them:
 *
 *     record     length  time  count  pmid n format  inst VALUE  inst VALUE  pmid n format  inst word   header VALUE  length
 *     compared     ·             ·     ·  ·   ·       ·           ·           ·  ·   ·       ·    ·
 *     taken                                               ·           ·                                         ·
 */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmidStr } from '../model/ids.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE, PM_VAL_INSITU } from '../model/types.ts'
import type { Archive } from './archive.ts'
import { RecordReader } from './reader.ts'
import { InstanceSlots, numberAt, RecordValues, type ValueFault } from './record-values.ts'
import type { RecordView } from './record-view.ts'
import { LARGE } from './record-window.ts'

/** Options of a scan. */
export interface ScanOptions {
  /** Records from here on; default: all. */
  readonly from?: Timestamp
  /** Records up to here, inclusive; default: all. */
  readonly to?: Timestamp
  /** Only these instances; default: all. */
  readonly instances?: readonly number[]
  /** Receives all values; the result then has no columns and no marks. */
  readonly into?: ScanSink
}

/** Receives the values of one instance in time order. */
export interface ValueSink {
  add(time: number, value: number): void
}

/** Receives values record by record. */
export interface ScanSink {
  /** Returns the sink of an instance; called once for each. */
  columnOf(pmid: Pmid, inst: number): ValueSink
  /** Called for each interruption of recording. */
  mark(time: number): void
  /** Called before the values of a record, with its exact time; valid until the next record. */
  record?(time: Timestamp): void
}

/** The values of one instance of one metric. */
export interface Column {
  readonly pmid: Pmid
  /** PM_IN_NULL for a metric without instance domain. */
  readonly inst: number
  /** Seconds since the epoch, ascending; as doubles they are exact to 0.25 microseconds. */
  readonly times: Float64Array
  /** As doubles: integers beyond 2^53 are rounded. */
  readonly values: Float64Array
}

/** Result of a scan. */
export interface ScanResult {
  /** The archive's start. */
  readonly start: Timestamp
  /** Interruptions of recording, across which rates are meaningless, in seconds since the epoch. */
  readonly marks: Float64Array
  /** Descriptors of the requested metrics. */
  readonly descs: readonly MetricDesc[]
  /** A column per instance with values, in order of first appearance. */
  readonly columns: readonly Column[]
  /** Number of records read, including marks. */
  readonly records: number
}

/**
 * Reads all values of numeric metrics. Records are read once, and only these values are decoded. PM_ERR_PMID_LOG for a
 * metric that is not in the archive, PM_ERR_TYPE for a non-numeric one, PM_ERR_LOGREC for a damaged record.
 */
export function scan(archive: Archive, ids: readonly Pmid[], options: ScanOptions = {}): ScanResult {
  const { from, to, instances, into } = options
  const metrics = ids.map((id) => new MetricScan(numberDescOf(archive, id), instances, into))
  const { start } = archive
  const marks: number[] = []
  const layouts = new Layouts(metrics)
  const reader = new RecordReader(archive, { checkValues: false, sparse: true })
  if (from !== undefined) reader.seek(from, 'forward')
  let records = 0
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const { sec, nsec } = record
    if (to !== undefined && (sec - to.sec || nsec - to.nsec) > 0) break
    records++
    const time = sec + nsec / 1e9
    if (record.count === 0) into === undefined ? marks.push(time) : into.mark(time)
    else {
      into?.record?.(record)
      if (layouts.read(record, time)) continue
      for (const metric of metrics) metric.take(record, time)
      layouts.learn(record)
    }
  }
  return {
    start,
    marks: Float64Array.from(marks),
    descs: metrics.map(({ desc }) => desc),
    columns: metrics.flatMap((metric) => metric.columns()),
    records,
  }
}

/** Returns the descriptor of a recorded numeric metric. PM_ERR_PMID_LOG if it is not recorded, PM_ERR_TYPE if it is not numeric. */
export function numberDescOf({ metadata }: Archive, id: Pmid): MetricDesc {
  const desc = metadata.descs.get(id)
  if (desc === undefined) throw new PcpError('PM_ERR_PMID_LOG', `Metric ${pmidStr(id)} is not in the archive`)
  if (desc.type < PM_TYPE_32 || desc.type > PM_TYPE_DOUBLE)
    throw new PcpError('PM_ERR_TYPE', `Values of ${pmidStr(id)} are not numbers`)
  return desc
}

/** Values of one instance, in growing arrays. */
export class GrowingColumn implements ValueSink {
  readonly inst: number
  #times: Float64Array
  #values: Float64Array
  #length = 0

  /** `room`: expected number of values. */
  constructor(inst: number, room = 64) {
    this.inst = inst
    this.#times = new Float64Array(room)
    this.#values = new Float64Array(room)
  }

  add(time: number, value: number): void {
    if (this.#length === this.#times.length) {
      this.#times = twice(this.#times)
      this.#values = twice(this.#values)
    }
    this.#times[this.#length] = time
    this.#values[this.#length++] = value
  }

  finish(): { readonly times: Float64Array; readonly values: Float64Array } {
    if (this.#length === this.#times.length) return { times: this.#times, values: this.#values }
    return { times: this.#times.slice(0, this.#length), values: this.#values.slice(0, this.#length) }
  }
}

function twice(numbers: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * numbers.length)
  larger.set(numbers)
  return larger
}

/** The columns of one metric. */
class MetricScan {
  readonly desc: MetricDesc
  readonly #into: ScanSink | undefined
  readonly #values: RecordValues
  /** Sinks by slot, and this scan's columns in order of appearance. */
  readonly #sinks: (ValueSink | undefined)[] = []
  readonly #columns: GrowingColumn[] = []

  constructor(desc: MetricDesc, wanted: readonly number[] | undefined, into: ScanSink | undefined) {
    const isSingular = desc.indom === PM_INDOM_NULL
    this.desc = desc
    this.#into = into
    const slots =
      wanted === undefined || isSingular
        ? new InstanceSlots(FIRST_ROOM, isSingular)
        : InstanceSlots.only(wanted, false)
    this.#values = new RecordValues(desc, slots, 'place')
  }

  /** Takes the values of a record. */
  take(record: RecordView, time: number): void {
    const s = this.#values.find(record)
    const count = s < 0 ? 0 : record.statuses[s]!
    if (count <= 0) return
    const fault = this.#values.read(record, s, count)
    if (fault !== undefined) throw new PcpError('PM_ERR_LOGREC', FAULT_TEXTS[fault])
    const { slots, values } = this.#values
    for (let i = 0; i < count; i++) {
      const slot = slots[i]!
      if (slot >= 0) (this.#sinks[slot] ?? this.#open(slot)).add(time, values[i]!)
    }
  }

  /** Adds the metric to a layout: offsets of its values, and the words that must match. PM_ERR_LOGREC as `take`. */
  outline(record: RecordView, into: Outline): void {
    const s = this.#values.find(record)
    for (let i = 0; s >= 0 && i < record.statuses[s]!; i++) {
      const pair = record.pairs[s]! + 8 * i
      into.words.push(pair)
      const slot = this.#values.slots[i]!
      if (slot < 0) continue
      if (record.formats[s] !== PM_VAL_INSITU) into.words.push(pair + 4)
      into.places.push(this.#values.placeOf(record, s, i))
      into.types.push(this.desc.type)
      into.sinks.push(this.#sinks[slot]!)
    }
  }

  #open(slot: number): ValueSink {
    const { pmid, indom } = this.desc
    const inst = indom === PM_INDOM_NULL ? PM_IN_NULL : this.#values.instances.insts[slot]!
    const sink = this.#into?.columnOf(pmid, inst) ?? this.#grown(inst)
    this.#sinks[slot] = sink
    return sink
  }

  #grown(inst: number): GrowingColumn {
    const column = new GrowingColumn(inst)
    this.#columns.push(column)
    return column
  }

  columns(): Column[] {
    const { pmid } = this.desc
    return this.#columns.map((column) => ({ pmid, inst: column.inst, ...column.finish() }))
  }
}

const FIRST_ROOM = 8
const FAULT_TEXTS: { readonly [fault in ValueFault]: string } = {
  outside: 'A value is outside its record',
  mistyped: 'The type of a value differs from its metric',
  wide: 'A 64-bit value is in situ instead of in a block',
  narrow: 'A 32-bit value is in a block instead of in situ',
}

/** Most layouts to keep; a logger has one per logging group. */
const MOST_LAYOUTS = 16
/** Useless layouts in a row after which learning stops. */
const MOST_UNUSED = 100

/** Layouts learned by one scan. */
class Layouts {
  readonly #metrics: readonly MetricScan[]
  readonly #byLength = new Map<number, Layout>()
  /** Length of the last record with an unknown layout. A layout is learned once that repeats, as it then belongs to a series. */
  #lengthBefore = 0
  #unused = 0

  constructor(metrics: readonly MetricScan[]) {
    this.#metrics = metrics
  }

  /** Takes the values of a record; returns false, without taking any, if its layout is unknown. */
  read(record: RecordView, time: number): boolean {
    if (this.#byLength.get(record.length)?.read(record, time) !== true) return false
    this.#unused = 0
    return true
  }

  /** Learns from a record whose values have been taken. */
  learn(record: RecordView): void {
    const { length } = record
    const isRepeated = length === this.#lengthBefore || this.#byLength.has(length)
    this.#lengthBefore = length
    // Larger records may be incomplete in memory.
    if (!isRepeated || length > LARGE || this.#unused > MOST_UNUSED) return
    this.#unused++
    if (this.#byLength.size === MOST_LAYOUTS) this.#byLength.clear()
    this.#byLength.set(length, new Layout(record, this.#metrics))
  }
}

/** Content of a layout, as offsets in the view of the record it was learned from. */
interface Outline {
  readonly words: number[]
  readonly places: number[]
  readonly types: number[]
  readonly sinks: ValueSink[]
}

/** One layout, with offsets from the start of the record. */
class Layout {
  readonly #count: number
  /** Offsets and values of the words that must match. */
  readonly #wordPlaces: Int32Array
  readonly #words: Int32Array
  /** Offsets, types and sinks of values. */
  readonly #places: Int32Array
  readonly #types: Uint8Array
  readonly #sinks: readonly ValueSink[]

  constructor(record: RecordView, metrics: readonly MetricScan[]) {
    record.index()
    const { view, offset, statuses, pairs } = record
    const outline: Outline = { words: [], places: [], types: [], sinks: [] }
    for (let s = 0; s < record.count; s++) {
      // A set without values has no format.
      const heads = statuses[s]! > 0 ? 3 : 2
      for (let word = heads; word > 0; word--) outline.words.push(pairs[s]! - 4 * word)
    }
    for (const metric of metrics) metric.outline(record, outline)
    this.#count = record.count
    this.#words = Int32Array.from(outline.words, (place) => view.getInt32(place))
    this.#wordPlaces = Int32Array.from(outline.words, (place) => place - offset)
    this.#places = Int32Array.from(outline.places, (place) => place - offset)
    this.#types = Uint8Array.from(outline.types)
    this.#sinks = outline.sinks
  }

  /** Takes the values of a record of the same length; returns false if it has another layout. */
  read({ view, offset, count }: RecordView, time: number): boolean {
    if (count !== this.#count) return false
    const places = this.#wordPlaces
    const words = this.#words
    for (let i = 0; i < places.length; i++) if (view.getInt32(offset + places[i]!) !== words[i]) return false
    const sinks = this.#sinks
    for (let i = 0; i < sinks.length; i++)
      sinks[i]!.add(time, numberAt(view, offset + this.#places[i]!, this.#types[i]!))
    return true
  }
}
