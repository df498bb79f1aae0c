/**
 * Values as columns: what a chart or an analysis takes as it is. docs/formats/archive.md §5
 *
 * Most records have the layout of an earlier one: the same value sets, instances and blocks at the same places. A scan compares those words
 * of a record and then takes its values without looking for them:
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

/** What of an archive to scan. */
export interface ScanOptions {
  /** Records from here on; default: all. */
  readonly from?: Timestamp
  /** Records up to here, inclusive; default: all. */
  readonly to?: Timestamp
  /** Only these instances; default: all. */
  readonly instances?: readonly number[]
  /** Takes all that is found; the result has no columns and no marks then. */
  readonly into?: ScanSink
}

/** Takes the values of one instance, in the order of time. */
export interface ValueSink {
  add(time: number, value: number): void
}

/** Takes what is found, record by record. */
export interface ScanSink {
  /** What takes the values of an instance; asked once for each. */
  columnOf(pmid: Pmid, inst: number): ValueSink
  /** Recording was interrupted. */
  mark(time: number): void
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

/** What a scan found. */
export interface ScanResult {
  /** The archive's start. */
  readonly start: Timestamp
  /** Where recording was interrupted: nothing may be concluded across these moments. Seconds since the epoch. */
  readonly marks: Float64Array
  /** Descriptors of the metrics asked for. */
  readonly descs: readonly MetricDesc[]
  /** A column an instance that has values, in order of first appearance. */
  readonly columns: readonly Column[]
  /** Records looked at, marks included. */
  readonly records: number
}

/**
 * Reads all values of some numeric metrics. Records are read once, and nothing is decoded but these values. PM_ERR_PMID_LOG for a
 * metric the archive does not know, PM_ERR_TYPE for one whose values are no numbers, PM_ERR_LOGREC for a damaged record.
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
    else if (!layouts.read(record, time)) {
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

/** Descriptor of a recorded metric of numbers. PM_ERR_PMID_LOG for one that is not recorded, PM_ERR_TYPE for other values. */
export function numberDescOf({ metadata }: Archive, id: Pmid): MetricDesc {
  const desc = metadata.descs.get(id)
  if (desc === undefined) throw new PcpError('PM_ERR_PMID_LOG', `Metric ${pmidStr(id)} is not in the archive`)
  if (desc.type < PM_TYPE_32 || desc.type > PM_TYPE_DOUBLE)
    throw new PcpError('PM_ERR_TYPE', `Values of ${pmidStr(id)} are no numbers`)
  return desc
}

/** Values of one instance, as many as come. */
class GrowingColumn implements ValueSink {
  readonly inst: number
  #times = new Float64Array(64)
  #values = new Float64Array(64)
  #length = 0

  constructor(inst: number) {
    this.inst = inst
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
  /** By slot, and those of this scan's result in order of appearance. */
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

  /** Adds to a layout where a record has the values, and what has to be the same for them to be there. PM_ERR_LOGREC as `take`. */
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
  outside: 'A value lies outside its record',
  mistyped: 'A value is of another type than its metric',
  wide: 'A value of 64 bits cannot stand for itself',
  narrow: 'A value of 32 bits has no block',
}

/** Layouts to keep: a logger has one for each of its groups of metrics. */
const MOST_LAYOUTS = 16
/** Stop learning after so many layouts in a row that were of no use. */
const MOST_UNUSED = 100

/** What one scan has learned of layouts. */
class Layouts {
  readonly #metrics: readonly MetricScan[]
  readonly #byLength = new Map<number, Layout>()
  /** Length of the last record of no known layout. A layout is learned when that repeats: many records are one of a kind. */
  #lengthBefore = 0
  #unused = 0

  constructor(metrics: readonly MetricScan[]) {
    this.#metrics = metrics
  }

  /** Takes the values of a record; false, and nothing is taken, when its layout is not known. */
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
    // Of larger ones not all bytes may be there.
    if (!isRepeated || length > LARGE || this.#unused > MOST_UNUSED) return
    this.#unused++
    if (this.#byLength.size === MOST_LAYOUTS) this.#byLength.clear()
    this.#byLength.set(length, new Layout(record, this.#metrics))
  }
}

/** What a layout consists of, as places in the view of the record it was learned from. */
interface Outline {
  readonly words: number[]
  readonly places: number[]
  readonly types: number[]
  readonly sinks: ValueSink[]
}

/** One layout; places count from the start of the record. */
class Layout {
  readonly #count: number
  /** Where words are that have to be the same, and what they are. */
  readonly #wordPlaces: Int32Array
  readonly #words: Int32Array
  /** Where values are, of which types, and what takes them. */
  readonly #places: Int32Array
  readonly #types: Uint8Array
  readonly #sinks: readonly ValueSink[]

  constructor(record: RecordView, metrics: readonly MetricScan[]) {
    record.index()
    const { view, offset, statuses, pairs } = record
    const outline: Outline = { words: [], places: [], types: [], sinks: [] }
    for (let s = 0; s < record.count; s++) {
      // Without values there is no format.
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

  /** Takes the values of a record of the same length; false when it has another layout. */
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
