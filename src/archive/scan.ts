/** Values as columns: what a chart or an analysis takes as it is. docs/formats/archive.md §5 */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmidStr } from '../model/ids.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U32, PM_VAL_INSITU } from '../model/types.ts'
import type { Archive } from './archive.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'
import { numberAt, ScanLayouts, type ValueSink } from './scan-layout.ts'

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
  const wanted = instances === undefined ? undefined : new Set(instances)
  const metrics = ids.map((id) => new MetricScan(numberDescOf(archive, id), wanted, into))
  const { start } = archive
  const marks: number[] = []
  const layouts = new ScanLayouts(metrics)
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
      for (const metric of metrics) metric.add(record, time)
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
  readonly #wanted: ReadonlySet<number> | undefined
  readonly #into: ScanSink | undefined
  readonly #byInst = new Map<number, ValueSink>()
  readonly #columns: GrowingColumn[] = []
  /** Where the metric, and its `i`th instance, was in the record before: records resemble each other. */
  #setBefore = 0
  readonly #columnBefore: (ValueSink | undefined)[] = []
  readonly #instBefore: number[] = []

  constructor(desc: MetricDesc, wanted: ReadonlySet<number> | undefined, into: ScanSink | undefined) {
    this.desc = desc
    this.#into = into
    this.#wanted = desc.indom === PM_INDOM_NULL ? undefined : wanted
  }

  add(record: RecordView, time: number): void {
    const s = this.find(record)
    if (s < 0) return
    const { type } = this.desc
    const count = record.statuses[s]!
    const { view } = record
    let at = record.pairs[s]!
    const isInSitu = record.formats[s] === PM_VAL_INSITU
    for (let i = 0; i < count; i++, at += 8) {
      const column = this.columnOf(i, view.getInt32(at))
      if (column === undefined) continue
      const word = at + 4
      column.add(time, isInSitu ? inSitu(view, word, type) : inBlock(record, view.getInt32(word), type))
    }
  }

  /** Index of the metric's value set in a record, -1 without one. */
  find(record: RecordView): number {
    const s = record.find(this.desc.pmid, this.#setBefore)
    if (s >= 0) this.#setBefore = s
    return s
  }

  /** The column of the `i`th value of a set, which is of this instance; none for one that is not wanted. */
  columnOf(i: number, id: number): ValueSink | undefined {
    const inst = this.desc.indom === PM_INDOM_NULL ? PM_IN_NULL : id
    if (this.#instBefore[i] === inst) return this.#columnBefore[i]
    if (this.#wanted?.has(inst) === false) return undefined
    let column = this.#byInst.get(inst)
    if (column === undefined) {
      column = this.#into?.columnOf(this.desc.pmid, inst) ?? this.#grown(inst)
      this.#byInst.set(inst, column)
    }
    this.#instBefore[i] = inst
    this.#columnBefore[i] = column
    return column
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

function inSitu(view: DataView, at: number, type: number): number {
  if (type === PM_TYPE_32 || type === PM_TYPE_U32 || type === PM_TYPE_FLOAT) return numberAt(view, at, type)
  throw new PcpError('PM_ERR_LOGREC', 'A value of 64 bits cannot stand for itself')
}

function inBlock(record: RecordView, word: number, type: number): number {
  const at = record.blockAt(word)
  const end = record.offset + record.length - 4
  const least = type === PM_TYPE_FLOAT ? 8 : 12
  if (!(at >= record.offset && at + least <= end))
    throw new PcpError('PM_ERR_LOGREC', 'A value lies outside its record')
  if (type === PM_TYPE_32 || type === PM_TYPE_U32)
    throw new PcpError('PM_ERR_LOGREC', 'A value of 32 bits has no block')
  return numberAt(record.view, at + 4, type)
}
