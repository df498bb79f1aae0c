/**
 * Interpolated values between records. pmFetch(3) in PM_MODE_INTERP, docs/formats/archive.md §10
 *
 * Records are read once while moments advance. If the next value of a metric is far away, a second reader looks for it, and
 * the first one then continues where it was:
 *
 *     passed ──> │ t │ ──> beyond, until every instance has its next value
 *                      │ a second value of some instance: the main reader stops before it
 *                      └──────────────> the advance reader looks for the missing values
 */
import { secondsBetween, type Timestamp } from '../base/timestamp.ts'
import { isError, PcpError, statusOf } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { Profile } from '../model/profile.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_TYPE_NOSUPPORT } from '../model/types.ts'
import type { ValueColumns } from '../model/value-columns.ts'
import { emptySet, type ValueSet } from '../model/values.ts'
import type { Archive } from './archive.ts'
import {
  type InterpolatedMetric,
  isInterpolable,
  openInterpolatedMetric,
  secondsSince,
} from './interp-metric.ts'
import { openRange, rangeEnd, type ValuesInRange } from './interp-range.ts'
import { type InterpolationRequest, inPlaces, RecentRequests } from './interp-request.ts'
import type { ValueRules } from './interp-result.ts'
import { Seams } from './interp-seams.ts'
import type { RecordPlace, Track } from './interp-track.ts'
import { MarkFilter } from './mark-filter.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'
import { isOutside, type SearchedPart } from './searched-part.ts'

/** Options of interpolation. */
export interface InterpolationOptions extends ValueRules {
  /**
   * Marks to ignore: undefined for none, 0 for all, otherwise those between records at most so many seconds apart.
   * PCP_IGNORE_MARK_RECORDS.
   */
  readonly ignoreMarksSec: number | undefined
  /** Where values are searched; elsewhere nothing seems to be recorded. Default: everywhere. */
  readonly within?: SearchedPart | undefined
}

/** Combines volume number and offset to an order of records; no volume is longer. */
const VOLUME_STRIDE = 2 ** 40

/** Interpolates over an archive. Successive times in one direction are cheapest. */
export class Interpolator {
  readonly #archive: Archive
  readonly #start: Timestamp
  readonly #options: InterpolationOptions
  readonly #marks: MarkFilter
  readonly #seams: Seams
  #main: RecordReader | undefined
  #advance: RecordReader | undefined
  #sign: 1 | -1 = 1
  /** Moment of the previous fetch, as in `Track`; NaN without one. */
  #before = Number.NaN
  #profile: Profile | undefined
  /** The main reader is at the same place for all of them. */
  readonly #requests = new RecentRequests()
  /** A record that the main reader has read too early. */
  #pending: RecordView | undefined
  /** Moments of marks that were read but not passed. */
  #marksAhead: number[] = []
  /** Moment of the last mark that was passed. */
  #lastMark = Number.NEGATIVE_INFINITY
  /** Whether the same observations apply as at the previous moment. */
  #isCalm = false
  /** End, exclusive, of the range in which the same observations apply to the whole request. */
  #calmUntil = Number.NEGATIVE_INFINITY
  /** Opened at the first moment of such a range. */
  #calm: { readonly stretches: readonly ValuesInRange[]; readonly reuses: boolean } | undefined

  constructor(archive: Archive, options: InterpolationOptions) {
    this.#archive = archive
    this.#start = archive.start
    this.#options = options
    this.#seams = new Seams(archive)
    this.#marks = new MarkFilter(archive, options.ignoreMarksSec)
  }

  /** Forgets all observations, because the next moment is elsewhere. */
  forget(): void {
    this.#before = Number.NaN
    this.#requests.clear()
    this.#pending = undefined
    this.#marksAhead = []
    this.#lastMark = Number.NEGATIVE_INFINITY
    this.#calmUntil = Number.NEGATIVE_INFINITY
  }

  /**
   * Returns values of metrics at a time, moving forwards or, with `sign` -1, backwards. With `reuses` they are valid until the next
   * call. PM_ERR_LOGREC for a damaged record.
   */
  at(time: Timestamp, sign: 1 | -1, ids: readonly Pmid[], profile: Profile, reuses = false): ValueSet[] {
    const moment = this.#seconds(time) * sign
    const request = this.#move(time, moment, sign, ids, profile)
    if (this.#isCalm) return this.#during(request, moment, reuses)
    const sets = request.subjects.map((subject) => this.#values(subject, moment, reuses))
    return inPlaces(request, sets)
  }

  /** As `at`, for distinct numeric metrics of the archive, into their columns. */
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
      track.lastMoment = moment
      values.putFound(columns[m]!, count)
    }
  }

  /** Moves to a moment; afterwards all observations for its values are known. */
  #move(
    time: Timestamp,
    moment: number,
    sign: 1 | -1,
    ids: readonly Pmid[],
    profile: Profile,
  ): InterpolationRequest {
    if (sign !== this.#sign || !(moment >= this.#before) || profile !== this.#profile) this.forget()
    this.#sign = sign
    this.#profile = profile
    const { latest } = this.#requests
    const known = this.#requests.find(ids)
    this.#isCalm = known !== undefined && known === latest && moment < this.#calmUntil
    try {
      if (known !== undefined && !this.#isCalm) this.#proceed(moment, known.tracks)
      const request = known ?? this.#begin(time, moment, ids)
      if (!this.#isCalm) {
        if (this.#marksAhead.length > 0) this.#passMarks(moment)
        const hasCrossed = request.tracks.some(({ lastMoment }) => this.#lastMark > lastMoment)
        this.#calmUntil = hasCrossed ? Number.NEGATIVE_INFINITY : this.#calmEnd(moment, request.tracks)
        this.#calm = undefined
      }
      this.#before = moment
      return request
    } catch (error) {
      this.forget()
      throw error
    }
  }

  /** Returns values within a range in which the same observations apply. */
  #during(request: InterpolationRequest, moment: number, reuses: boolean): ValueSet[] {
    if (this.#calm?.reuses !== reuses) {
      const stretches = request.subjects.map(({ values }) => openRange(values, moment, reuses))
      this.#calm = { stretches, reuses }
    }
    const sets = this.#calm.stretches.map((stretch) => stretch(moment))
    return inPlaces(request, sets)
  }

  /** Returns the end of that range; not computed if the next record is before the next moment. */
  #calmEnd(moment: number, tracks: readonly Track[]): number {
    const next = this.#pending === undefined ? Number.NaN : this.#seconds(this.#pending)
    if (this.#sign < 0 || !(next > moment + (moment - this.#before))) return Number.NEGATIVE_INFINITY
    let end = next
    for (const at of this.#marksAhead) end = Math.min(end, at)
    for (const track of tracks) end = Math.min(end, rangeEnd(track, moment, this.#options))
    return end
  }

  /** Returns seconds since the archive's start. */
  #seconds(time: { readonly sec: number; readonly nsec: number }): number {
    return secondsSince(this.#start, time)
  }

  /** Starts a request for other metrics: finds their bounds around this moment. */
  #begin(time: Timestamp, moment: number, ids: readonly Pmid[]): InterpolationRequest {
    const { metadata } = this.#archive
    const before = this.#requests.subjects()
    const known: Track[] = []
    const fresh = new Set<Track>()
    const subjects: InterpolatedMetric[] = []
    const indexes = new Map<Pmid, number>()
    const manner = { profile: this.#profile!, sign: this.#sign, rules: this.#options }
    for (const id of ids) {
      const desc = metadata.descs.get(id)
      if (desc === undefined || indexes.has(id) || !isInterpolable(desc)) continue
      const subject = before.get(id) ?? openInterpolatedMetric(this.#archive, desc, manner)
      if (before.has(id)) known.push(subject.track)
      else fresh.add(subject.track)
      indexes.set(id, subjects.length)
      subjects.push(subject)
    }
    const tracks = subjects.map(({ track }) => track)
    // Metrics unsupported by the recorder count as not recorded.
    const isRecorded = (id: Pmid): boolean =>
      (metadata.descs.get(id)?.type ?? PM_TYPE_NOSUPPORT) !== PM_TYPE_NOSUPPORT
    const refused = (id: Pmid): ValueSet =>
      emptySet(id, statusOf(isRecorded(id) ? 'PM_ERR_TYPE' : 'PM_ERR_PMID_LOG'))
    const places = ids.map((id) => indexes.get(id) ?? refused(id))
    const isPlain = places.every((place, i) => place === i)
    const request = { ids: [...ids], subjects, tracks, places: isPlain ? undefined : places }
    this.#requests.add(request)
    const followed = this.#requests.tracks.filter((track) => !fresh.has(track))
    if (followed.length > 0) this.#proceed(moment, known, followed)
    if (fresh.size > 0) {
      this.#mainReader().seek(time, this.#sign > 0 ? 'forward' : 'backward')
      this.#pending = undefined
      this.#lookBehind(time, moment, [...fresh])
      this.#proceed(moment, tracks)
    }
    return request
  }

  /** Reads against the direction until every slot of new tracks has its bound behind. */
  #lookBehind(time: Timestamp, moment: number, tracks: readonly Track[]): void {
    for (const track of tracks) track.needBehind(moment)
    let missing = missingOf(tracks)
    if (missing === 0) return
    const reader = this.#advanceReader()
    reader.seek(time, this.#sign > 0 ? 'backward' : 'forward')
    let member = this.#seams.memberAt(moment, this.#sign)
    while (missing > 0) {
      const record = this.#step(reader, -this.#sign as 1 | -1)
      if (record === undefined) break
      if (record.volume < 0) continue // a mark between members as seen from the other side; the change of members yields this side's
      const at = this.#seconds(record) * this.#sign
      const seam = record.member === member ? undefined : this.#seams.momentBefore(record, at, this.#sign)
      member = record.member
      if (seam !== undefined && seam <= moment)
        for (const track of tracks) track.mark(seam, 0, 'against', moment)
      if (at <= moment) this.#apply(record, at, 'against', tracks, moment)
      missing = missingOf(tracks)
    }
    if (missing > 0 && this.#sign > 0) this.#lookAtStarts(time, moment, tracks)
    for (const track of tracks) track.settle(track.behind)
  }

  /** Looks for values of discrete metrics that were recorded once, before the searched part. */
  #lookAtStarts(time: Timestamp, moment: number, tracks: readonly Track[]): void {
    const { once, from = Number.NEGATIVE_INFINITY } = this.#options.within ?? {}
    const steady = tracks.filter(({ desc, missing }) => desc.sem === PM_SEM_DISCRETE && missing > 0)
    if (once === undefined || steady.length === 0) return
    const wanted = new Set(steady.map(({ desc }) => desc.pmid))
    for (const { record, ids } of once.before(time, wanted)) {
      if (record.sec + record.nsec / 1e9 >= from) continue
      const has = steady.filter(({ desc }) => record.count === 0 || ids.has(desc.pmid))
      this.#apply(record, this.#seconds(record), 'against', has, moment)
      if (missingOf(steady) === 0) return
    }
  }

  /** Reads until the moment is passed and every relevant slot of `tracks` has a bound ahead. */
  #proceed(moment: number, tracks: readonly Track[], followed = this.#requests.tracks): void {
    for (const track of followed) track.shift(moment)
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
      const isSecond = this.#apply(record, at, isPassed ? 'passed' : 'beyond', followed, moment)
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

  /** Reads the rest of the archive to check it for damage. PM_ERR_LOGREC */
  readToEnd(): void {
    if (this.#requests.latest === undefined || this.#sign < 0) return
    const reader = this.#mainReader()
    for (;;) {
      const record = this.#peek(reader)
      this.#pending = undefined
      if (record === undefined) break
      if (record instanceof PcpError) throw record
    }
    this.forget()
  }

  /** Returns the next record without passing it. Damage is returned, because it affects only moments that need later records. */
  #peek(reader: RecordReader): RecordView | PcpError | undefined {
    try {
      this.#pending ??= this.#step(reader, this.#sign)
      return this.#pending
    } catch (error) {
      if (error instanceof PcpError && error.code === 'PM_ERR_LOGREC') return error
      throw error
    }
  }

  /** Looks for distant bounds while the main reader keeps its position. */
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

  #apply(
    record: RecordView,
    at: number,
    place: RecordPlace,
    tracks: readonly Track[],
    moment: number,
  ): boolean {
    const order = (record.volume * VOLUME_STRIDE + record.position) * this.#sign
    let isSecond = false
    if (record.count > 0) {
      for (const track of tracks) if (track.apply(record, at, order, place, moment)) isSecond = true
    } else if (this.#marks.counts(record)) {
      for (const track of tracks) if (track.mark(at, order, place, moment)) isSecond = true
    }
    return isSecond
  }

  /** Takes the marks up to a moment. */
  #passMarks(moment: number): void {
    for (const at of this.#marksAhead) if (at <= moment && at > this.#lastMark) this.#lastMark = at
    this.#marksAhead = this.#marksAhead.filter((at) => at > moment)
  }

  #values({ track, values }: InterpolatedMetric, moment: number, reuses: boolean): ValueSet {
    const set = this.#isHeldBack(track) ? emptySet(track.desc.pmid) : values.at(moment, reuses)
    track.lastCount = set.status
    track.lastMoment = moment
    return set
  }

  /** Holds back a counter after a mark, so that callers who compare two values in a row compute no rate across it. */
  #isHeldBack({ desc, lastCount, lastMoment }: Track): boolean {
    return this.#lastMark > lastMoment && desc.sem === PM_SEM_COUNTER && lastCount > 0
  }

  /** Reads one record. Damage after the last good record is the end. */
  #step(reader: RecordReader, sign: 1 | -1): RecordView | undefined {
    try {
      const record = sign > 0 ? reader.next() : reader.previous()
      return record === undefined || isOutside(record, this.#options.within) ? undefined : record
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      if (error.code === 'PM_ERR_LOGREC' && sign > 0 && this.#isAtEnd(reader)) return undefined
      throw error
    }
  }

  /** Returns whether the record before the reader's position is the archive's last good one. */
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

function missingOf(tracks: readonly Track[]): number {
  let total = 0
  for (const { missing } of tracks) total += missing
  return total
}
