/** An archive as a source of metrics: one position and mode over what many share. pmSetMode(3), docs/formats/archive.md §9 */
import { secondsBetween, type Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { DOMAIN_RESERVED, domainOf, type Indom, PM_ID_NULL, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { makeLabelSet } from '../model/label-set.ts'
import { LABEL_CONTEXT, type LabelSet } from '../model/labels.ts'
import { ALL_INSTANCES, type Profile, wants } from '../model/profile.ts'
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
import { Interpolator } from './interp.ts'
import { type ColumnMetric, NumberColumns, RecordColumns } from './number-columns.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'
import { numberDescOf } from './scan.ts'

/** How a fetch finds its values: the next record, the record before, or values computed for the origin. */
export type ArchiveMode = 'forward' | 'backward' | 'interpolate'

/** Numbers of some metrics, moment after moment. */
export interface NumberRows {
  /** Of the moment that `next` told last. */
  readonly columns: NumberColumns
  /** On to the next moment, as a fetch would; errors as of `fetchNow`. */
  next(): Timestamp
}

/** Values of some metrics in columns, moment after moment. */
export interface ValueRows {
  /** One a metric, of the moment that `next` returned last. */
  readonly columns: readonly ValueColumns[]
  /** On to the next moment, as a fetch would; errors as of `fetchNow`. */
  next(): Timestamp
}

/** How values between records come about. */
export interface ArchiveSourceOptions {
  /** An integer counter that decreased went round once. PCP_COUNTER_WRAP. */
  readonly counterWrap?: boolean
  /** Which marks count for nothing when interpolating: 0 all, otherwise those of gaps up to so many seconds. PCP_IGNORE_MARK_RECORDS. */
  readonly ignoreMarksSec?: number
  /** Between two observations of a number that is no counter: the nearer one (default), or, as before PCP 6.3.2, the earlier one. */
  readonly nearest?: boolean
}

/** Requests before the archive's start and behind its end that differ by no more than this are still answered. */
const TOLERANCE_SEC = 0.001

/** Answers from an archive. Closing it leaves the archive open: others may share it. */
export class ArchiveSource implements MetricSource {
  readonly archive: Archive
  readonly #options: ArchiveSourceOptions
  readonly #interpolator: Interpolator
  #reader: RecordReader | undefined
  #mode: ArchiveMode = 'forward'
  #origin: Timestamp
  #stepSec = 0
  /** Is the reader where the origin is? */
  #isPlaced = false
  /** The record read last, while the position is behind it. */
  #read: Pick<RecordView, 'member' | 'volume' | 'position'> | undefined
  /** The archive's end as last looked up, in seconds since its start. */
  #endSec = 0

  constructor(archive: Archive, options: ArchiveSourceOptions = {}) {
    this.archive = archive
    this.#options = options
    this.#origin = archive.start
    const { counterWrap = false, ignoreMarksSec, nearest = true } = options
    this.#interpolator = new Interpolator(archive, { counterWrap, nearest, ignoreMarksSec })
  }

  /** Another position in the same archive, at the same place. @see pmDupContext(3) */
  dup(): ArchiveSource {
    const other = new ArchiveSource(this.archive, this.#options)
    other.setMode(this.#mode, this.#origin, this.#stepSec)
    if (this.#isPlaced) other.#read = this.#read
    return other
  }

  get mode(): ArchiveMode {
    return this.#mode
  }

  /** The moment questions about instances and labels are answered for. */
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

  /** The next record in the mode's direction, a mark without sets; with `ids` the next mark or record of these metrics, and only their sets. PM_ERR_EOL, PM_ERR_MODE when interpolating. @see pmFetchArchive(3) */
  fetchRecord(ids?: readonly Pmid[]): FetchResult {
    if (this.#mode === 'interpolate')
      throw new PcpError('PM_ERR_MODE', 'Records are read forwards or backwards, not interpolated')
    if (ids === undefined) return this.#nextRecord(() => true).toResult()
    const record = this.#nextRecord((candidate) => candidate.count === 0 || hasAny(candidate, ids))
    const found = ids.map((id) => record.find(id)).filter((s) => s >= 0)
    return { timestamp: record.timestamp(), changes: 0, sets: found.map((s) => record.toSet(s)) }
  }

  /**
   * See `MetricSource.fetch`, without waiting. With `reuses` interpolated values are good until the next fetch. PM_ERR_EOL, PM_ERR_LOGREC.
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
   * What `fetchNow` would give, fetch after fetch, as columns, which cost a fraction of value sets. PM_ERR_PMID_LOG for a metric
   * that is not recorded, PM_ERR_TYPE for one whose values are no numbers, PM_ERR_ARG for one that is there twice.
   */
  valueRows(ids: readonly Pmid[], profile: Profile = ALL_INSTANCES): ValueRows {
    const metrics = ids.map((id) => new RecordColumns(numberDescOf(this.archive, id), profile))
    if (new Set(ids).size < ids.length)
      throw new PcpError('PM_ERR_ARG', 'Columns of the same metric have to be asked for together')
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

  /** As `valueRows`, with a column for each instance asked for. */
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

  /** Is it a metric that no archive has, as `event.flags`? Any record will do for its lack of values. */
  #isSynthetic(id: Pmid): boolean {
    return id !== PM_ID_NULL && domainOf(id) === DOMAIN_RESERVED && !this.archive.metadata.descs.has(id)
  }

  /** Steps to the next record that is wanted and not on the wrong side of the origin. */
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

  /** Puts the reader where the origin is, behind the record that was read there. */
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

  /** The origin, which moves on. PM_ERR_EOL outside the archive. */
  #nextMoment(): Timestamp {
    const time = this.#origin
    this.#origin = moved(time, this.#stepSec)
    this.#checkInside(secondsBetween(this.archive.start, time))
    return time
  }

  /** PM_ERR_EOL outside the archive. A moment just behind the end passes when the end has been reached before. */
  #checkInside(t: number): void {
    if (t < -TOLERANCE_SEC) throw new PcpError('PM_ERR_EOL', 'Before the start of the archive')
    if (t <= this.#endSec + TOLERANCE_SEC) return
    const end = this.archive.end()
    if (isError(end)) throw end
    const endSec = secondsBetween(this.archive.start, end)
    // What was recorded since may be what there was none of until now.
    if (this.#endSec !== 0 && endSec > this.#endSec) this.#interpolator.forget()
    this.#endSec = endSec
    if (t <= endSec) return
    if (this.archive.stopsAtDamage) this.#interpolator.readToEnd()
    throw new PcpError('PM_ERR_EOL', 'Behind the end of the archive')
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
    // '' makes the asker look for the one line text in its place.
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

  /** An archive announces nothing. */
  subscribe(): () => void {
    return () => {}
  }

  async close(): Promise<void> {}
}

/** Does a record have a value set, even an empty one, of any of the metrics? Every record has, of none. */
function hasAny(record: RecordView, ids: readonly Pmid[]): boolean {
  return ids.length === 0 || ids.some((id) => record.find(id) >= 0)
}

/** The values of a set that the profile wants. */
function filtered(set: ValueSet, desc: MetricDesc | undefined, profile: Profile): ValueSet {
  if (set.status <= 0 || profile === ALL_INSTANCES) return set
  const indom = desc?.indom ?? PM_INDOM_NULL
  if (indom === PM_INDOM_NULL) return set
  const kept = Array.from(set.inst.keys()).filter((i) => wants(profile, indom, set.inst[i]!))
  if (kept.length === set.status) return set
  return {
    ...set,
    status: kept.length,
    inst: Int32Array.from(kept, (i) => set.inst[i]!),
    word: Int32Array.from(kept, (i) => set.word[i]!),
  }
}

/** A moment some seconds later, to the nanosecond. */
function moved({ sec, nsec }: Timestamp, bySec: number): Timestamp {
  const whole = Math.floor(bySec)
  const nanos = nsec + Math.round((bySec - whole) * 1e9)
  const carry = Math.floor(nanos / 1e9)
  return { sec: sec + whole + carry, nsec: nanos - carry * 1e9 }
}
