/** Values as columns: what a chart or an analysis takes as it is. docs/formats/archive.md §5 */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmidStr } from '../model/ids.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from '../model/types.ts'
import type { Archive } from './archive.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'

/** What of an archive to scan. */
export interface ScanOptions {
  /** Records from here on; default: all. */
  readonly from?: Timestamp
  /** Records up to here, inclusive; default: all. */
  readonly to?: Timestamp
  /** Only these instances; default: all. */
  readonly instances?: readonly number[]
}

/** The values of one instance of one metric. */
export interface Column {
  readonly pmid: Pmid
  /** PM_IN_NULL for a metric without instance domain. */
  readonly inst: number
  /** Seconds since `ScanResult.start`, ascending. */
  readonly times: Float64Array
  /** As doubles: integers beyond 2^53 are rounded. */
  readonly values: Float64Array
}

/** What a scan found. */
export interface ScanResult {
  /** What times count from: the archive's start. */
  readonly start: Timestamp
  /** Where recording was interrupted: nothing may be concluded across these moments. Seconds since `start`. */
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
  const { from, to, instances } = options
  const wanted = instances === undefined ? undefined : new Set(instances)
  const metrics = ids.map((id) => new MetricScan(numberDescOf(archive, id), wanted))
  const { start } = archive
  const marks = new Growing()
  const reader = new RecordReader(archive, { checkValues: false, sparse: true })
  if (from !== undefined) reader.seek(from, 'forward')
  let records = 0
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const { sec, nsec } = record
    if (to !== undefined && (sec - to.sec || nsec - to.nsec) > 0) break
    records++
    const time = ((sec - start.sec) * 1e9 + (nsec - start.nsec)) / 1e9
    if (record.count === 0) marks.push(time)
    else for (const metric of metrics) metric.add(record, time)
  }
  return {
    start,
    marks: marks.finish(),
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

/** Numbers, as many as come. */
class Growing {
  #numbers = new Float64Array(64)
  #length = 0

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Float64Array(2 * this.#length)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[this.#length++] = number
  }

  finish(): Float64Array {
    return this.#numbers.slice(0, this.#length)
  }
}

interface GrowingColumn {
  readonly inst: number
  readonly times: Growing
  readonly values: Growing
}

/** The columns of one metric. */
class MetricScan {
  readonly desc: MetricDesc
  readonly #wanted: ReadonlySet<number> | undefined
  readonly #byInst = new Map<number, GrowingColumn>()
  /** Where the metric, and its `i`th instance, was in the record before: records resemble each other. */
  #setBefore = 0
  readonly #columnBefore: (GrowingColumn | undefined)[] = []

  constructor(desc: MetricDesc, wanted: ReadonlySet<number> | undefined) {
    this.desc = desc
    this.#wanted = desc.indom === PM_INDOM_NULL ? undefined : wanted
  }

  add(record: RecordView, time: number): void {
    const { pmid, type } = this.desc
    const s = record.find(pmid, this.#setBefore)
    if (s < 0) return
    this.#setBefore = s
    const count = record.statuses[s]!
    const { view } = record
    let at = record.pairs[s]!
    const isInSitu = record.formats[s] === PM_VAL_INSITU
    for (let i = 0; i < count; i++, at += 8) {
      const column = this.#columnOf(i, this.desc.indom === PM_INDOM_NULL ? PM_IN_NULL : view.getInt32(at))
      if (column === undefined) continue
      column.times.push(time)
      column.values.push(isInSitu ? inSitu(view, at + 4, type) : inBlock(record, view.getInt32(at + 4), type))
    }
  }

  #columnOf(i: number, inst: number): GrowingColumn | undefined {
    const before = this.#columnBefore[i]
    if (before?.inst === inst) return before
    if (this.#wanted?.has(inst) === false) return undefined
    let column = this.#byInst.get(inst)
    if (column === undefined) {
      column = { inst, times: new Growing(), values: new Growing() }
      this.#byInst.set(inst, column)
    }
    this.#columnBefore[i] = column
    return column
  }

  columns(): Column[] {
    const { pmid } = this.desc
    const finished = ({ inst, times, values }: GrowingColumn): Column => ({
      pmid,
      inst,
      times: times.finish(),
      values: values.finish(),
    })
    return Array.from(this.#byInst.values(), finished)
  }
}

function inSitu(view: DataView, at: number, type: number): number {
  if (type === PM_TYPE_32) return view.getInt32(at)
  if (type === PM_TYPE_U32) return view.getUint32(at)
  if (type === PM_TYPE_FLOAT) return view.getFloat32(at)
  throw new PcpError('PM_ERR_LOGREC', 'A value of 64 bits cannot stand for itself')
}

function inBlock(record: RecordView, word: number, type: number): number {
  const { view } = record
  const at = record.blockAt(word)
  const end = record.offset + record.length - 4
  const least = type === PM_TYPE_FLOAT ? 8 : 12
  if (!(at >= record.offset && at + least <= end))
    throw new PcpError('PM_ERR_LOGREC', 'A value lies outside its record')
  switch (type) {
    case PM_TYPE_64:
      return view.getInt32(at + 4) * 0x1_0000_0000 + view.getUint32(at + 8)
    case PM_TYPE_U64:
      return view.getUint32(at + 4) * 0x1_0000_0000 + view.getUint32(at + 8)
    case PM_TYPE_DOUBLE:
      return view.getFloat64(at + 4)
    case PM_TYPE_FLOAT:
      return view.getFloat32(at + 4)
    default:
      throw new PcpError('PM_ERR_LOGREC', 'A value of 32 bits has no block')
  }
}
