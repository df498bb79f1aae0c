/**
 * The archives of one host as a queue: records are read from a position, and the position moves when they are acknowledged.
 *
 *     20261127     [ sent .................. ]      ends with staleness markers, as an interruption does
 *     20261128     [ sent ...|in a batch|....→      the last one grows
 *
 * Archives can be compressed, merged or removed meanwhile. Where a record has moved, the archive that has the time
 * of the last sent record is read again up to there.
 */
import { Archive } from '../archive/archive.ts'
import { ArchiveFollower, type Followed, type FollowPosition } from '../archive/follow/follower.ts'
import type { ArchiveFiles } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { addTimes, compareTimes } from '../time/arithmetic.ts'
import type { Batch } from './batch.ts'
import type { Unsent } from './metric-series.ts'
import { type SeriesOptions, SourceSeries } from './source-series.ts'

/** An archive of the host. */
export interface QueuedArchive {
  /** Path without suffix. */
  readonly base: string
  readonly start: Timestamp
  readonly hostname: string
}

/** Where a queue continues; stored as JSON. */
export interface QueuePosition {
  readonly base: string
  /** Undefined: from the start of the archive. */
  readonly position: FollowPosition | undefined
  /** Time of the last record. */
  readonly time: Timestamp | undefined
  /** End of the batch that was on its way: up to there records may have been written. */
  readonly sentTo?: SentTo | undefined
}

/** Where a batch ended. */
export interface SentTo {
  readonly base: string
  readonly volume: number
  readonly offset: number
}

/** Options of all queues. */
export interface QueueOptions extends SeriesOptions {
  readonly files: ArchiveFiles
  /** Bounds of the time of records, inclusive. */
  readonly start?: Timestamp | undefined
  readonly finish?: Timestamp | undefined
  readonly unsent: Unsent
  /** Reports archives that cannot be read, and records that are missing. */
  readonly report: (problem: string) => void
}

/** What a queue has after `fill`: more records now, or none until an archive grows or is found. */
export type QueueState = 'more' | 'waiting'

/** Most items read at a time, so that other queues and the event loop have their turns. */
const MOST_ITEMS = 256
/** Distance of the mark after an archive from its last record. */
const MARK_DISTANCE: Timestamp = { sec: 0, nsec: 1_000_000 }
/** Errors after which the archive of the position is looked for. */
const MOVED: ReadonlySet<string> = new Set(['ENOENT', 'ESTALE'])

/** The archive that is read. */
interface Current {
  readonly archive: QueuedArchive
  readonly follower: ArchiveFollower
  /** Records before the follower's first one were sent. */
  readonly isContinued: boolean
  series: SourceSeries | undefined
}

/** See above. */
export class ArchiveQueue {
  readonly key: string
  readonly #options: QueueOptions
  readonly #failed = new Set<string>()
  #archives: readonly QueuedArchive[] = []
  #current: Current | undefined
  #saved: QueuePosition | undefined
  #time: Timestamp | undefined
  /** Records before this time were sent. */
  #floor: Timestamp | undefined
  /** The position cannot be found in the known archives. */
  #needsScan = false
  #isDrained = false
  #repeatsTo: SentTo | undefined

  /** `saved` is a position of an earlier queue with this key. */
  constructor(key: string, options: QueueOptions, saved?: QueuePosition) {
    this.key = key
    this.#options = options
    this.#saved = saved
    this.#time = saved?.time
    this.#repeatsTo = saved?.sentTo
  }

  /** Returns whether the next records may have been written by an earlier process; `fill` then ends with the last of them. */
  get isRepeating(): boolean {
    return this.#repeatsTo !== undefined
  }

  /** Sets the archives that exist, in order of their start. */
  setArchives(archives: readonly QueuedArchive[]): void {
    this.#archives = archives
    this.#needsScan = false
  }

  /** Returns whether `fill` waits for the archives to be listed again. */
  get needsScan(): boolean {
    return this.#needsScan
  }

  /** Number of series in memory. */
  get size(): number {
    return this.#current?.series?.size ?? 0
  }

  /** Position after the records in batches so far; undefined before the first archive. */
  get position(): QueuePosition | undefined {
    const current = this.#current
    if (current === undefined) return this.#saved
    return { base: current.archive.base, position: current.follower.position, time: this.#time }
  }

  /** Adds records to a batch until it is full. */
  fill(batch: Batch): QueueState {
    for (let i = 0; i < MOST_ITEMS && !batch.isFull; i++) {
      this.#current ??= this.#begin()
      if (this.#current === undefined) return 'waiting'
      const item = this.#next(this.#current)
      if (item === 'moved') continue
      if (item !== undefined) this.#take(this.#current, item, batch)
      else if (!this.#finish(this.#current, batch)) {
        this.#current.follower.release()
        this.#repeatsTo = undefined
        return 'waiting'
      }
      if (this.#hasRepeated(this.#current)) return 'more'
    }
    return 'more'
  }

  /** Forgets series and metadata until the next `fill`. Batches must have been acknowledged. */
  suspend(): void {
    this.#saved = this.position
    this.#current?.follower.close()
    this.#current = undefined
  }

  /** Returns whether everything was repeated now. */
  #hasRepeated({ archive, follower }: Current): boolean {
    const to = this.#repeatsTo
    const { position } = follower
    if (to === undefined || position === undefined || archive.base !== to.base) return false
    if (position.volume < to.volume || (position.volume === to.volume && position.offset < to.offset))
      return false
    this.#repeatsTo = undefined
    return true
  }

  /** Chooses the archive to read: that of the position, or another with its time. */
  #begin(): Current | undefined {
    const usable = this.#archives.filter(({ base }) => !this.#failed.has(base))
    const saved = this.#saved
    const same = usable.find(({ base }) => base === saved?.base)
    const time = this.#time
    const has = usable.findLast(({ start }) => time !== undefined && compareTimes(start, time) <= 0)
    const archive = same ?? has ?? usable[0]
    this.#needsScan = this.#archives.length === 0
    if (archive === undefined) return undefined
    this.#saved = undefined
    return this.#open(archive, archive === same ? saved?.position : undefined)
  }

  #open(archive: QueuedArchive, from: FollowPosition | undefined): Current {
    this.#isDrained = false
    if (from === undefined) this.#floor = this.#time
    const follower = new ArchiveFollower(
      archive.base,
      this.#options.files,
      from === undefined ? {} : { from },
    )
    return { archive, follower, isContinued: from !== undefined, series: undefined }
  }

  /** Returns the next item; `moved` if the archive cannot be read any further. */
  #next({ archive, follower }: Current): Followed | undefined | 'moved' {
    const { report } = this.#options
    try {
      return follower.next()
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      follower.close()
      this.#current = undefined
      this.#saved = { base: '', position: undefined, time: this.#time }
      this.#repeatsTo = undefined
      if (MOVED.has(error.code)) {
        if (!this.#isDrained) report(`${error.message}: looking for an archive with the rest`)
        // A merged archive may not be listed yet, and must be sent before later ones.
        this.#archives = []
      } else {
        report(`${error.message}: the rest of ${archive.base} is not sent`)
        this.#failed.add(archive.base)
      }
      return 'moved'
    }
  }

  #take(current: Current, item: Followed, batch: Batch): void {
    this.#isDrained = false
    current.series ??= this.#seriesOf(current)
    if (item.kind === 'lost') this.#options.report(item.problem.message)
    else if (item.kind === 'mark') {
      if (this.#isWanted(item.at)) current.series.end(item.at, batch)
    } else if (item.kind !== 'record') current.series.change(item)
    else if (this.#isWanted(item.record)) {
      this.#time = item.record.timestamp()
      current.series.take(item.record, batch)
    }
  }

  #seriesOf({ archive, follower, isContinued }: Current): SourceSeries {
    const options = this.#options
    const before = isContinued ? { isContinued, helps: helpsOf(archive.base, options.files) } : {}
    return new SourceSeries(follower.metadata, archive.hostname, options, options.unsent, before)
  }

  /** Returns whether a record is in the time window and was not sent. */
  #isWanted({ sec, nsec }: Pick<Timestamp, 'sec' | 'nsec'>): boolean {
    const { start, finish } = this.#options
    const at = { sec, nsec }
    return (
      (this.#floor === undefined || compareTimes(at, this.#floor) >= 0) &&
      (start === undefined || compareTimes(at, start) >= 0) &&
      (finish === undefined || compareTimes(at, finish) <= 0)
    )
  }

  /** At the end of an archive, continues with the next; returns false if it does not exist yet. */
  #finish({ archive, series }: Current, batch: Batch): boolean {
    const next = this.#archives.find(
      ({ base, start }) => compareTimes(start, archive.start) > 0 && !this.#failed.has(base),
    )
    this.#isDrained = true
    if (next === undefined) return false
    if (this.#time !== undefined) series?.end(addTimes(this.#time, MARK_DISTANCE), batch)
    this.#current?.follower.close()
    this.#current = this.#open(next, undefined)
    return true
  }
}

/** Returns the short help texts of an archive, which a follower does not keep; none if it cannot be read. */
function helpsOf(base: string, files: ArchiveFiles): Map<Pmid, string> {
  try {
    const archive = Archive.open(base, files)
    archive.close()
    const { metadata } = archive
    const texts = metadata
      .textIds('metric', 'oneline')
      .map((id) => [id, metadata.text({ kind: 'metric', id, level: 'oneline' }) ?? ''] as const)
    return new Map(texts)
  } catch (error) {
    if (error instanceof PcpError) return new Map()
    throw error
  }
}
