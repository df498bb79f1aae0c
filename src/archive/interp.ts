/**
 * Values at moments between records. pmFetch(3) in PM_MODE_INTERP, docs/formats/archive.md §10
 *
 * Records are read once while moments advance. A metric whose next value is far off makes a second reader look ahead;
 * the first one then goes on where it was:
 *
 *     passed ──> │ t │ ──> beyond, until every instance has its next value
 *                      │ a second value of some instance: the main reader stops before it
 *                      └──────────────> the advance reader looks for what is still missing
 */
import { secondsBetween, type Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, PcpError, statusOf } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { Profile } from '../model/profile.ts'
import { PM_SEM_COUNTER, PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_NOSUPPORT } from '../model/types.ts'
import type { ValueColumns } from '../model/value-columns.ts'
import { emptySet, type ValueSet } from '../model/values.ts'
import type { Archive } from './archive.ts'
import type { ValueRules } from './interp-result.ts'
import { openStretch, type Stretch, stretchEnd } from './interp-stretch.ts'
import { openSubject, type Subject, secondsSince } from './interp-subject.ts'
import type { Place, Track } from './interp-track.ts'
import { MarkFilter } from './mark-filter.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'

/** How to interpolate. */
export interface InterpolationOptions extends ValueRules {
  /**
   * Which interruptions of recording count as none: undefined none of them, 0 all, otherwise those between records that are at most so many
   * seconds apart. PCP_IGNORE_MARK_RECORDS.
   */
  readonly ignoreMarksSec: number | undefined
}

/** How far from the records beside it the mark between two members is. */
const SEAM_SEC = 0.001
/** Volumes come after each other in the order of records; no volume is longer. */
const VOLUME_STRIDE = 2 ** 40

/** What a fetch asks for: mostly the same as the one before. */
interface Request {
  readonly ids: readonly Pmid[]
  /** Metrics that have values, each once. */
  readonly subjects: readonly Subject[]
  readonly tracks: readonly Track[]
  /** Where in `subjects` each metric asked for is, or its answer; undefined: in this order. */
  readonly places: readonly (number | ValueSet)[] | undefined
}

/** Interpolates over an archive. Successive moments in one direction cost least. */
export class Interpolator {
  readonly #archive: Archive
  readonly #start: Timestamp
  readonly #options: InterpolationOptions
  readonly #marks: MarkFilter
  #main: RecordReader | undefined
  #advance: RecordReader | undefined
  #sign: 1 | -1 = 1
  /** The moment of the fetch before, as `Track` counts; NaN without one. */
  #before = Number.NaN
  #profile: Profile | undefined
  #request: Request | undefined
  /** A record that the main reader has read too early. */
  #pending: RecordView | undefined
  /** Moments of marks that were read and not yet passed. */
  #marksAhead: number[] = []
  /** Was a mark passed on the way to the moment? */
  #hasCrossed = false
  /** Do the same observations decide as at the moment before? */
  #isCalm = false
  /** Up to here, without it, the same observations decide about all values of the request. */
  #calmUntil = Number.NEGATIVE_INFINITY
  /** Opened when the first moment of such a stretch comes. */
  #calm: { readonly stretches: readonly Stretch[]; readonly reuses: boolean } | undefined

  constructor(archive: Archive, options: InterpolationOptions) {
    this.#archive = archive
    this.#start = archive.start
    this.#options = options
    this.#marks = new MarkFilter(archive, options.ignoreMarksSec)
  }

  /** What is known of the surroundings of the moment before counts no more: the next one is somewhere else. */
  forget(): void {
    this.#before = Number.NaN
    this.#request = undefined
    this.#pending = undefined
    this.#marksAhead = []
    this.#calmUntil = Number.NEGATIVE_INFINITY
  }

  /**
   * Values of metrics at a time, coming from earlier times or, with `sign` -1, from later ones. With `reuses` they are good until the next
   * ones are asked for. PM_ERR_LOGREC for a damaged record.
   */
  at(time: Timestamp, sign: 1 | -1, ids: readonly Pmid[], profile: Profile, reuses = false): ValueSet[] {
    const moment = this.#seconds(time) * sign
    const request = this.#move(time, moment, sign, ids, profile)
    if (this.#isCalm) return this.#during(request, moment, reuses)
    const sets = request.subjects.map((subject) => this.#values(subject, moment, reuses))
    return inPlaces(request, sets)
  }

  /** As `at`, of metrics of numbers that the archive has, each once: into their columns. */
  fill(
    columns: readonly ValueColumns[],
    time: Timestamp,
    sign: 1 | -1,
    ids: readonly Pmid[],
    profile: Profile,
  ): void {
    const moment = this.#seconds(time) * sign
    const { subjects } = this.#move(time, moment, sign, ids, profile)
    for (let m = 0; m < subjects.length; m++) {
      const { track, values } = subjects[m]!
      const count = this.#isHeldBack(track) ? 0 : values.find(moment)
      track.lastCount = count
      values.putFound(columns[m]!, count)
    }
  }

  /** Goes on to a moment: what decides about its values is known then. */
  #move(time: Timestamp, moment: number, sign: 1 | -1, ids: readonly Pmid[], profile: Profile): Request {
    if (sign !== this.#sign || !(moment >= this.#before) || profile !== this.#profile) this.forget()
    this.#sign = sign
    this.#profile = profile
    const same = this.#request !== undefined && isSame(ids, this.#request.ids) ? this.#request : undefined
    this.#isCalm = same !== undefined && moment < this.#calmUntil
    try {
      if (same !== undefined && !this.#isCalm) this.#proceed(moment, same.tracks)
      const request = same ?? this.#begin(time, moment, ids)
      if (!this.#isCalm) {
        this.#hasCrossed = this.#marksAhead.length > 0 && this.#crossed(moment)
        this.#calmUntil = this.#hasCrossed ? Number.NEGATIVE_INFINITY : this.#calmEnd(moment, request.tracks)
        this.#calm = undefined
      }
      this.#before = moment
      return request
    } catch (error) {
      this.forget()
      throw error
    }
  }

  /** Values at a moment of a calm stretch. */
  #during(request: Request, moment: number, reuses: boolean): ValueSet[] {
    if (this.#calm?.reuses !== reuses) {
      const stretches = request.subjects.map(({ values }) => openStretch(values, moment, reuses))
      this.#calm = { stretches, reuses }
    }
    const sets = this.#calm.stretches.map((stretch) => stretch(moment))
    return inPlaces(request, sets)
  }

  /** Up to which moment the same observations decide; not worth knowing where the next record comes before the next moment. */
  #calmEnd(moment: number, tracks: readonly Track[]): number {
    const next = this.#pending === undefined ? Number.NaN : this.#seconds(this.#pending)
    if (this.#sign < 0 || !(next > moment + (moment - this.#before))) return Number.NEGATIVE_INFINITY
    let end = next
    for (const at of this.#marksAhead) end = Math.min(end, at)
    for (const track of tracks) end = Math.min(end, stretchEnd(track, moment, this.#options))
    return end
  }

  /** Seconds since the archive's start. */
  #seconds(time: { readonly sec: number; readonly nsec: number }): number {
    return secondsSince(this.#start, time)
  }

  /** Begins with other metrics than the moment before: their bounds around this one. */
  #begin(time: Timestamp, moment: number, ids: readonly Pmid[]): Request {
    const { metadata } = this.#archive
    const before = new Map(this.#request?.subjects.map((subject) => [subject.track.desc.pmid, subject]))
    const known: Track[] = []
    const fresh: Track[] = []
    const subjects: Subject[] = []
    const indexes = new Map<Pmid, number>()
    const manner = { profile: this.#profile!, sign: this.#sign, rules: this.#options }
    for (const id of ids) {
      const desc = metadata.descs.get(id)
      if (desc === undefined || indexes.has(id) || !isInterpolable(desc)) continue
      const subject = before.get(id) ?? openSubject(this.#archive, desc, manner)
      ;(before.has(id) ? known : fresh).push(subject.track)
      indexes.set(id, subjects.length)
      subjects.push(subject)
    }
    if (known.length > 0) this.#proceed(moment, known)
    const tracks = subjects.map(({ track }) => track)
    if (fresh.length > 0) {
      this.#mainReader().seek(time, this.#sign > 0 ? 'forward' : 'backward')
      this.#pending = undefined
      this.#lookBehind(time, moment, fresh)
      this.#proceed(moment, tracks)
    }
    // What the recorder had no support for counts as not recorded.
    const isRecorded = (id: Pmid): boolean =>
      (metadata.descs.get(id)?.type ?? PM_TYPE_NOSUPPORT) !== PM_TYPE_NOSUPPORT
    const refused = (id: Pmid): ValueSet =>
      emptySet(id, statusOf(isRecorded(id) ? 'PM_ERR_TYPE' : 'PM_ERR_PMID_LOG'))
    const places = ids.map((id) => indexes.get(id) ?? refused(id))
    const isPlain = places.every((place, i) => place === i)
    this.#request = { ids: [...ids], subjects, tracks, places: isPlain ? undefined : places }
    return this.#request
  }

  /** Reads against the direction until every slot of new tracks has its bound there. */
  #lookBehind(time: Timestamp, moment: number, tracks: readonly Track[]): void {
    for (const track of tracks) track.needBehind(moment)
    let missing = missingOf(tracks)
    if (missing === 0) return
    const reader = this.#advanceReader()
    reader.seek(time, this.#sign > 0 ? 'backward' : 'forward')
    let member = this.#memberAt(moment)
    while (missing > 0) {
      const record = this.#step(reader, -this.#sign as 1 | -1)
      if (record === undefined) break
      if (record.volume < 0) continue // a mark as seen from the other side: this side's is told by the change of members
      const at = this.#seconds(record) * this.#sign
      const seam = record.member === member ? undefined : this.#seam(record, at)
      member = record.member
      if (seam !== undefined && seam <= moment)
        for (const track of tracks) track.mark(seam, 0, 'against', moment)
      if (at <= moment) this.#apply(record, at, 'against', tracks, moment)
      missing = missingOf(tracks)
    }
    for (const track of tracks) track.settle(track.behind)
  }

  /** The member whose records come next from a moment on: behind the end of one it is the following one. */
  #memberAt(moment: number): number {
    const t = moment * this.#sign
    const { members } = this.#archive
    let member = 0
    for (const [i, { label }] of members.entries()) if (this.#seconds(label.start) <= t) member = i
    while (member > 0 && t <= this.#floorSeconds(member)) member--
    if (this.#sign < 0 || member + 1 === members.length) return member
    const end = this.#archive.data[member]!.end()
    return !isError(end) && t >= this.#seconds(end) + SEAM_SEC ? member + 1 : member
  }

  /** Moment of the mark between two members, passed by in reading direction just before a record of the nearer one. */
  #seam(record: RecordView, at: number): number {
    if (this.#sign > 0) return at + SEAM_SEC
    const floor = this.#floorSeconds(record.member)
    if (floor !== Number.NEGATIVE_INFINITY) return -(floor + SEAM_SEC)
    const { start } = this.#archive.members[record.member]!.label
    return -(this.#seconds(start) - SEAM_SEC)
  }

  /** Up to when records are those of earlier members. */
  #floorSeconds(member: number): number {
    const floor = this.#archive.floorOf(member)
    return floor === undefined ? Number.NEGATIVE_INFINITY : this.#seconds(floor)
  }

  /** Reads on until the moment is passed and every slot that matters has a bound beyond it. */
  #proceed(moment: number, tracks: readonly Track[]): void {
    for (const track of tracks) track.shift(moment)
    const reader = this.#mainReader()
    let missing = -1
    for (;;) {
      const record = this.#peek(reader)
      const isDamage = record instanceof PcpError
      const at =
        record === undefined || isDamage ? Number.POSITIVE_INFINITY : this.#seconds(record) * this.#sign
      const isPassed = at <= moment
      if (!isPassed && missing < 0) {
        for (const track of tracks) track.need(moment)
        missing = missingOf(tracks)
      }
      if (missing === 0) return
      if (isDamage) throw record
      if (record === undefined) break
      const isSecond = this.#apply(record, at, isPassed ? 'passed' : 'beyond', tracks, moment)
      if (!isPassed) missing = missingOf(tracks)
      if (isSecond) {
        if (missing > 0) this.#lookAhead(record.timestamp(), moment, tracks)
        return
      }
      if (record.count === 0 && this.#marks.counts(record)) this.#marksAhead.push(at)
      this.#pending = undefined
    }
    for (const track of tracks) track.settle(track.ahead)
  }

  /** Reads the records behind the last moment, for damage among them. PM_ERR_LOGREC */
  readToEnd(): void {
    if (this.#request === undefined || this.#sign < 0) return
    const reader = this.#mainReader()
    for (;;) {
      const record = this.#peek(reader)
      this.#pending = undefined
      if (record === undefined) break
      if (record instanceof PcpError) throw record
    }
    this.forget()
  }

  /** Returns the next record without passing it. Damage is returned: it concerns only the moments that need a record behind it. */
  #peek(reader: RecordReader): RecordView | PcpError | undefined {
    try {
      this.#pending ??= this.#step(reader, this.#sign)
      return this.#pending
    } catch (error) {
      if (error instanceof PcpError && error.code === 'PM_ERR_LOGREC') return error
      throw error
    }
  }

  /** Looks for bounds far ahead while the main reader stays where it is. */
  #lookAhead(time: Timestamp, moment: number, tracks: readonly Track[]): void {
    const reader = this.#advanceReader()
    reader.seek(time, this.#sign > 0 ? 'forward' : 'backward')
    for (let missing = 1; missing > 0; missing = missingOf(tracks)) {
      const record = this.#step(reader, this.#sign)
      if (record === undefined) break
      const at = this.#seconds(record) * this.#sign
      if (at > moment) this.#apply(record, at, 'advance', tracks, moment)
    }
    for (const track of tracks) track.settle(track.ahead)
  }

  #apply(record: RecordView, at: number, place: Place, tracks: readonly Track[], moment: number): boolean {
    const order = (record.volume * VOLUME_STRIDE + record.position) * this.#sign
    let isSecond = false
    if (record.count > 0) {
      for (const track of tracks) if (track.apply(record, at, order, place, moment)) isSecond = true
    } else if (this.#marks.counts(record)) {
      for (const track of tracks) if (track.mark(at, order, place, moment)) isSecond = true
    }
    return isSecond
  }

  /** Was a mark passed since the moment before? */
  #crossed(moment: number): boolean {
    const crossed = this.#marksAhead.some((at) => at > this.#before && at <= moment)
    this.#marksAhead = this.#marksAhead.filter((at) => at > moment)
    return crossed
  }

  #values({ track, values }: Subject, moment: number, reuses: boolean): ValueSet {
    const set = this.#isHeldBack(track) ? emptySet(track.desc.pmid) : values.at(moment, reuses)
    track.lastCount = set.status
    return set
  }

  /** So that no rate is computed across a mark by those who look at two values in a row. */
  #isHeldBack({ desc, lastCount }: Track): boolean {
    return this.#hasCrossed && desc.sem === PM_SEM_COUNTER && lastCount > 0
  }

  /** One record on. Damage behind the last good record is the end. */
  #step(reader: RecordReader, sign: 1 | -1): RecordView | undefined {
    try {
      return sign > 0 ? reader.next() : reader.previous()
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      if (error.code === 'PM_ERR_LOGREC' && sign > 0 && this.#isAtEnd(reader)) return undefined
      throw error
    }
  }

  /** Is the record before the reader's position the archive's last good one? */
  #isAtEnd(reader: RecordReader): boolean {
    const end = this.#archive.end()
    if (isError(end)) return true
    const last = reader.previous()
    if (last === undefined) return false
    const isLast = secondsBetween(end, last.timestamp()) >= 0
    reader.next()
    return isLast
  }

  #mainReader(): RecordReader {
    this.#main ??= new RecordReader(this.#archive, { checkValues: false, sparse: true })
    return this.#main
  }

  #advanceReader(): RecordReader {
    this.#advance ??= new RecordReader(this.#archive, { checkValues: false, sparse: true })
    return this.#advance
  }
}

/** Counters must be numbers. */
function isInterpolable({ sem, type }: MetricDesc): boolean {
  if (type === PM_TYPE_NOSUPPORT) return false
  return sem !== PM_SEM_COUNTER || (type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE)
}

function missingOf(tracks: readonly Track[]): number {
  let total = 0
  for (const { missing } of tracks) total += missing
  return total
}

function isSame(ids: readonly Pmid[], others: readonly Pmid[]): boolean {
  if (ids.length !== others.length) return false
  for (let i = 0; i < ids.length; i++) if (ids[i] !== others[i]) return false
  return true
}

/** Sets of the subjects, as they were asked for. */
function inPlaces({ places }: Request, sets: ValueSet[]): ValueSet[] {
  return places?.map((place) => (typeof place === 'number' ? sets[place]! : place)) ?? sets
}
