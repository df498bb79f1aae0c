/** An archive as a metric source, with its own position and mode. pmSetMode(3), docs/formats/archive.md §9 */
import { secondsBetween, type Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { DOMAIN_RESERVED, domainOf, type Indom, PM_ID_NULL, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { makeLabelSet } from '../model/label-set.ts'
import { LABEL_CONTEXT, type LabelSet } from '../model/labels.ts'
import { ALL_INSTANCES, includesInstance, type Profile } from '../model/profile.ts'
import type {
  Ask,
  Child,
  InstanceQuery,
  Instances,
  LabelQuery,
  MetricSource,
  TextQuery,
} from '../model/source.ts'
import type { ValueColumns } from '../model/value-columns.ts'
import { emptySet, type FetchResult, type ValueSet } from '../model/values.ts'
import type { Archive } from './archive.ts'
import { type InterpolationOptions, Interpolator } from './interp.ts'
import { type ColumnMetric, NumberColumns, RecordColumns } from './number-columns.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'
import { numberDescOf } from './scan.ts'

/** How a fetch finds its values: the next record, the previous record, or interpolated at the origin. */
export type ArchiveMode = 'forward' | 'backward' | 'interpolate'

/** Numbers of several metrics at successive times. */
export interface NumberRows {
  /** At the time returned by the last `next`. */
  readonly columns: NumberColumns
  /** Advances as a fetch would; errors as `fetchNow`. */
  next(): Timestamp
}

/** Values of several metrics in columns, at successive times. */
export interface ValueRows {
  /** One per metric, at the time returned by the last `next`. */
  readonly columns: readonly ValueColumns[]
  /** Advances as a fetch would; errors as `fetchNow`. */
  next(): Timestamp
}

/** Options of interpolation. */
export interface ArchiveSourceOptions {
  /** Treats a decrease of an integer counter as a wrap. PCP_COUNTER_WRAP. */
  readonly counterWrap?: boolean
  /** Marks to ignore when interpolating: 0 for all, otherwise those of gaps up to so many seconds. PCP_IGNORE_MARK_RECORDS. */
  readonly ignoreMarksSec?: number
  /** For numbers that are not counters: uses the nearer observation (default), or, if false, the earlier one, as PCP before 6.3.2. */
  readonly nearest?: boolean
  /** See `InterpolationOptions`. */
  readonly within?: InterpolationOptions['within']
}

/** Times this close to the archive's bounds are still inside. */
const TOLERANCE_SEC = 0.001

/** Options of `ArchiveSource.fetchRecord`. */
export interface RecordOptions {
  /** Returns every record, even one without the metrics, so that the caller can stop. */
  readonly every?: boolean
}

/** Answers from an archive. Closing it leaves the archive open, because it may be shared. */
export class ArchiveSource implements MetricSource {
  readonly archive: Archive
  readonly #options: ArchiveSourceOptions
  readonly #interpolator: Interpolator
  #reader: RecordReader | undefined
  #mode: ArchiveMode = 'forward'
  #origin: Timestamp
  #stepSec = 0
  /** Whether the reader is at the origin. */
  #isPlaced = false
  /** The record read last, while the position is after it. */
  #read: Pick<RecordView, 'member' | 'volume' | 'position'> | undefined
  /** The archive's end as of the last check, in seconds since its start. */
  #endSec = 0

  constructor(archive: Archive, options: ArchiveSourceOptions = {}) {
    this.archive = archive
    this.#options = options
    this.#origin = archive.start
    const { counterWrap = false, ignoreMarksSec, nearest = true, within } = options
    this.#interpolator = new Interpolator(archive, { counterWrap, nearest, ignoreMarksSec, within })
  }

  /** Returns another source with the same archive and position. @see pmDupContext(3) */
  dup(): ArchiveSource {
    const other = new ArchiveSource(this.archive, this.#options)
    other.setMode(this.#mode, this.#origin, this.#stepSec)
    if (this.#isPlaced) other.#read = this.#read
    return other
  }

  get mode(): ArchiveMode {
    return this.#mode
  }

  /** Time to which instances and labels refer. */
  get origin(): Timestamp {
    return this.#origin
  }

  /** See `ArchiveControl.setMode`. */
  setMode(mode: ArchiveMode, when?: Timestamp, stepSec = 0): void {
    this.#mode = mode
    this.#stepSec = stepSec
    if (when !== undefined) this.#origin = when
    this.#isPlaced = false
    this.#read = undefined
    this.#interpolator.forget()
  }

  /** See `ArchiveControl.moveTo`. */
  moveTo(when: Timestamp): void {
    this.#origin = when
    this.#isPlaced = false
    this.#read = undefined
  }

  /**
   * Returns the next record in the mode's direction, a mark without sets; with `ids` the next mark or record of these metrics, and
   * only their sets; with `every` the next record. PM_ERR_EOL, PM_ERR_MODE when interpolating. @see pmFetchArchive(3)
   */
  fetchRecord(ids?: readonly Pmid[], { every = false }: RecordOptions = {}): FetchResult {
    if (this.#mode === 'interpolate')
      throw new PcpError('PM_ERR_MODE', 'Records can be read only forwards or backwards, not interpolated')
    if (ids === undefined) return this.#nextRecord(() => true).toResult()
    const record = this.#nextRecord((candidate) => every || candidate.count === 0 || hasAny(candidate, ids))
    const found = ids.map((id) => record.find(id)).filter((s) => s >= 0)
    return { timestamp: record.timestamp(), changes: 0, sets: found.map((s) => record.toSet(s)) }
  }

  /**
   * See `MetricSource.fetch`; synchronous. With `reuses` interpolated values are valid until the next fetch. PM_ERR_EOL, PM_ERR_LOGREC.
   * @see pmFetch(3)
   */
  fetchNow(ids: readonly Pmid[], profile: Profile = ALL_INSTANCES, reuses = false): FetchResult {
    if (this.#mode === 'interpolate') return this.#interpolate(ids, profile, reuses)
    const recorded = ids.filter((id) => !this.#isSynthetic(id))
    const record = this.#nextRecord((candidate) => candidate.count > 0 && hasAny(candidate, recorded))
    const sets = ids.map((id) => {
      const s = record.find(id)
      if (s < 0) return emptySet(id)
      return filtered(record.toSet(s), this.archive.metadata.descs.get(id), profile)
    })
    return { timestamp: record.timestamp(), changes: 0, sets }
  }

  /**
   * Returns the values of successive `fetchNow` calls as columns, at a fraction of the cost of value sets. PM_ERR_PMID_LOG for a metric
   * that is not recorded, PM_ERR_TYPE for a non-numeric one, PM_ERR_ARG for duplicates.
   */
  valueRows(ids: readonly Pmid[], profile: Profile = ALL_INSTANCES): ValueRows {
    const metrics = ids.map((id) => new RecordColumns(numberDescOf(this.archive, id), profile))
    if (new Set(ids).size < ids.length)
      throw new PcpError('PM_ERR_ARG', 'Columns of the same metric must be requested together')
    const columns = metrics.map((metric) => metric.columns)
    const takeRecord = (record: RecordView): boolean => {
      if (record.count === 0) return false
      let isAny = false
      for (let m = 0; m < metrics.length; m++) if (metrics[m]!.take(record)) isAny = true
      return isAny
    }
    const next = (): Timestamp => {
      if (this.#mode === 'interpolate') {
        const time = this.#nextMoment()
        this.#interpolator.fill(columns, time, this.#stepSec > 0 ? 1 : -1, ids, profile)
        return time
      }
      this.#nextRecord(takeRecord)
      return this.#origin
    }
    return { columns, next }
  }

  /** As `valueRows`, with a column for each requested instance. */
  rows(metrics: readonly ColumnMetric[], profile: Profile = ALL_INSTANCES): NumberRows {
    const rows = this.valueRows(
      metrics.map(({ desc }) => desc.pmid),
      profile,
    )
    const columns = new NumberColumns(metrics, rows.columns)
    const next = (): Timestamp => {
      const time = rows.next()
      columns.refresh()
      return time
    }
    return { columns, next }
  }

  /** Returns whether a metric is in no archive, as `event.flags`. Any record will do for its empty answer. */
  #isSynthetic(id: Pmid): boolean {
    return id !== PM_ID_NULL && domainOf(id) === DOMAIN_RESERVED && !this.archive.metadata.descs.has(id)
  }

  /** Steps to the next matching record on the right side of the origin. */
  #nextRecord(isWanted: (record: RecordView) => boolean): RecordView {
    const isForward = this.#mode === 'forward'
    this.#reader ??= new RecordReader(this.archive)
    const reader = this.#reader
    if (!this.#isPlaced) this.#place(reader, isForward)
    const { sec, nsec } = this.#origin
    for (;;) {
      const record = isForward ? reader.next() : reader.previous()
      if (record === undefined)
        throw new PcpError('PM_ERR_EOL', isForward ? 'End of the archive' : 'Start of the archive')
      const later = record.sec - sec || record.nsec - nsec
      if ((isForward ? later : -later) < 0 || !isWanted(record)) continue
      this.#origin = record.timestamp()
      this.#read = { member: record.member, volume: record.volume, position: record.position }
      return record
    }
  }

  /** Moves the reader to the origin, past a record that was already read there. */
  #place(reader: RecordReader, isForward: boolean): void {
    this.#isPlaced = true
    const direction = isForward ? 'forward' : 'backward'
    reader.seek(this.#origin, direction)
    const read = this.#read
    if (read === undefined) return
    for (;;) {
      const record = isForward ? reader.next() : reader.previous()
      if (record === undefined || record.sec !== this.#origin.sec || record.nsec !== this.#origin.nsec) break
      const isSame = record.member === read.member && record.volume === read.volume
      if (isSame && record.position === read.position) return
    }
    reader.seek(this.#origin, direction)
  }

  #interpolate(ids: readonly Pmid[], profile: Profile, reuses: boolean): FetchResult {
    const timestamp = this.#nextMoment()
    const sign = this.#stepSec > 0 ? 1 : -1
    return { timestamp, changes: 0, sets: this.#interpolator.at(timestamp, sign, ids, profile, reuses) }
  }

  /** Returns the origin and advances it. PM_ERR_EOL outside the archive. */
  #nextMoment(): Timestamp {
    const time = this.#origin
    this.#origin = moved(time, this.#stepSec)
    this.#checkInside(secondsBetween(this.archive.start, time))
    return time
  }

  /** PM_ERR_EOL outside the archive. A time just after the end is allowed once the end has been reached before. */
  #checkInside(t: number): void {
    if (t < -TOLERANCE_SEC) throw new PcpError('PM_ERR_EOL', 'Before the start of the archive')
    if (t <= this.#endSec + TOLERANCE_SEC) return
    const end = this.archive.end()
    if (isError(end)) throw end
    const endSec = secondsBetween(this.archive.start, end)
    // Records written since then may contain bounds that were missing before.
    if (this.#endSec !== 0 && endSec > this.#endSec) this.#interpolator.forget()
    this.#endSec = endSec
    if (t <= endSec) return
    if (this.archive.stopsAtDamage) this.#interpolator.readToEnd()
    throw new PcpError('PM_ERR_EOL', 'After the end of the archive')
  }

  async fetch(ids: readonly Pmid[], { requester }: Ask): Promise<FetchResult> {
    return this.fetchNow(ids, requester.profile)
  }

  async children(name: string): Promise<readonly Child[]> {
    return this.archive.metadata.names.children(name)
  }

  async traverse(name: string): Promise<readonly string[]> {
    return this.archive.metadata.traverse(name)
  }

  async lookupNames(names: readonly string[]): Promise<readonly Outcome<Pmid>[]> {
    return names.map((name) => this.archive.metadata.lookup(name))
  }

  async lookupId(id: Pmid): Promise<readonly string[]> {
    const names = this.archive.metadata.names.namesOf(id)
    if (names.length === 0) throw new PcpError('PM_ERR_PMID')
    return names
  }

  async descs(ids: readonly Pmid[]): Promise<readonly Outcome<MetricDesc>[]> {
    const { descs } = this.archive.metadata
    return ids.map((id) => descs.get(id) ?? new PcpError('PM_ERR_PMID_LOG'))
  }

  async instances(indom: Indom, query: InstanceQuery, { at }: Ask): Promise<Instances> {
    return this.archive.metadata.instances(indom, query, at ?? this.#origin)
  }

  async text(query: TextQuery): Promise<string> {
    const { metadata } = this.archive
    const text = metadata.text(query)
    if (text !== undefined) return text
    // '' makes the caller use the one-line text instead.
    if (query.level === 'help' && metadata.text({ ...query, level: 'oneline' }) !== undefined) return ''
    const isKnown = metadata.textIds(query.kind, query.level).length > 0
    throw new PcpError(isKnown ? 'PM_ERR_TEXT' : 'PM_ERR_NOTHOST')
  }

  async labels(query: LabelQuery, { at }: Ask): Promise<readonly LabelSet[]> {
    const sets = this.archive.metadata.labels(query, at ?? this.#origin)
    if (sets.length > 0 || query.level !== LABEL_CONTEXT) return sets
    return [makeLabelSet({ hostname: this.archive.label.hostname }, LABEL_CONTEXT)]
  }

  async store(): Promise<void> {
    throw new PcpError('PM_ERR_NOTHOST')
  }

  /** Archives have no notifications. */
  subscribe(): () => void {
    return () => {}
  }

  async close(): Promise<void> {}
}

/** Returns whether a record has a value set, even an empty one, of any of the metrics; always true for an empty list. */
function hasAny(record: RecordView, ids: readonly Pmid[]): boolean {
  return ids.length === 0 || ids.some((id) => record.find(id) >= 0)
}

/** Returns the values of a set that the profile includes. */
function filtered(set: ValueSet, desc: MetricDesc | undefined, profile: Profile): ValueSet {
  if (set.status <= 0 || profile === ALL_INSTANCES) return set
  const indom = desc?.indom ?? PM_INDOM_NULL
  if (indom === PM_INDOM_NULL) return set
  const kept = Array.from(set.inst.keys()).filter((i) => includesInstance(profile, indom, set.inst[i]!))
  if (kept.length === set.status) return set
  return {
    ...set,
    status: kept.length,
    inst: Int32Array.from(kept, (i) => set.inst[i]!),
    word: Int32Array.from(kept, (i) => set.word[i]!),
  }
}

/** Returns a time some seconds later, exact to the nanosecond. */
function moved({ sec, nsec }: Timestamp, bySec: number): Timestamp {
  const whole = Math.floor(bySec)
  const nanos = nsec + Math.round((bySec - whole) * 1e9)
  const carry = Math.floor(nanos / 1e9)
  return { sec: sec + whole + carry, nsec: nanos - carry * 1e9 }
}
