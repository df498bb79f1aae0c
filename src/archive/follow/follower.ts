/**
 * Follows an archive while it is written. docs/formats/archive.md §8
 *
 *     .meta   [ known ][ next change ]···            a change is returned before the records that need it
 *     .0      [ returned ][ next record ]···[ torn   an incomplete record is retried
 *     .1                                             begun when .0 has no more records
 */
import type { ArchiveFiles } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { ArchiveLabel } from '../label.ts'
import type { RecordView } from '../record-view.ts'
import { RecordWindow } from '../record-window.ts'
import { stampSize } from '../stamp.ts'
import { tearAt } from '../torn.ts'
import { attempt } from '../volume.ts'
import { FollowedFiles, type FollowedVolume } from './files.ts'
import { FollowedMetadata, type MetadataChange, type MetaTail, stale } from './metadata.ts'

/** Position in an archive, from which another follower continues; can be stored as JSON. */
export interface FollowPosition {
  /** Number of a volume, and offset of the next record in it, before compression. */
  readonly volume: number
  readonly offset: number
  /** Offset of the next record of the metadata. */
  readonly meta: number
  /** Start of the archive and its writer, by which another archive of the same name is detected. */
  readonly start: Timestamp
  readonly pid: number
}

/** Next part of an archive. */
export type Followed =
  | MetadataChange
  /** Values. The record is valid until the follower moves. */
  | { readonly kind: 'record'; readonly record: RecordView }
  /** A break in recording. */
  | { readonly kind: 'mark'; readonly at: Timestamp }
  /** Records are missing: a volume was removed before it was read, or ends in an incomplete record. */
  | { readonly kind: 'lost'; readonly problem: PcpError }

/** Where to begin. */
export type FollowFrom = 'start' | 'end' | FollowPosition

/** Options of a follower. */
export interface FollowOptions {
  /**
   * Where to begin: `start`, `end` (metadata is then known without being returned), a position, or one of these depending on the start of
   * the archive. Default `start`.
   */
  readonly from?: FollowFrom | ((start: Timestamp) => FollowFrom)
  /** Accepts unknown feature bits. */
  readonly anyFeatures?: boolean
}

/** Bytes of a volume read at once. */
const BUFFER_BYTES = 64 << 10

/**
 * Returns an archive's metadata changes and records in order, as far as they are complete. It may be written, compressed or removed
 * meanwhile. Its files stay open until `release` or `close`.
 */
export class ArchiveFollower {
  readonly base: string
  /** State of the metadata after the last returned change. */
  readonly metadata: FollowedMetadata = new FollowedMetadata()
  readonly #files: FollowedFiles
  readonly #window = new RecordWindow(true, BUFFER_BYTES)
  readonly #from: NonNullable<FollowOptions['from']>
  #isPlaced = false
  #metaOffset = 0
  #volume = 0
  #offset = 0
  #meta: MetaTail | undefined
  #data: FollowedVolume | undefined

  /** Opens nothing yet; `base` is the path without `.meta`. */
  constructor(base: string, files: ArchiveFiles, options: FollowOptions = {}) {
    this.base = base
    this.#from = options.from ?? 'start'
    this.#files = new FollowedFiles(base, files, options.anyFeatures ?? false)
    if (typeof this.#from === 'object') this.#files.expect(this.#from)
  }

  /** Label of the metadata; undefined until the archive has one. */
  get label(): ArchiveLabel | undefined {
    return this.#files.label
  }

  /** Position after the last returned item; undefined until the archive has a label. After a restart, a metadata change may be repeated, but no record. */
  get position(): FollowPosition | undefined {
    const { label } = this.#files
    if (label === undefined || !this.#isPlaced) return typeof this.#from === 'object' ? this.#from : undefined
    const { start, pid } = label
    return { volume: this.#volume, offset: this.#offset, meta: this.#metaOffset, start, pid }
  }

  /**
   * Finds where to begin, and learns the metadata from before that; `next` does so too. Returns false if the archive is not that far yet.
   * Errors as `next`.
   */
  begin(): boolean {
    if (this.#meta !== undefined) return true
    const meta = this.#files.meta(this.#isPlaced ? this.#metaOffset : undefined)
    if (meta === undefined) return false
    if (!this.#isPlaced) {
      const from = typeof this.#from === 'function' ? this.#from(this.label!.start) : this.#from
      if (typeof from === 'object') {
        this.#learn(meta, from.meta)
        if (meta.offset !== from.meta) throw stale(this.base, 'has other metadata than before')
        this.#volume = from.volume
        this.#offset = from.offset
      } else if (!this.#toEdge(from, meta)) return false
      this.#metaOffset = meta.offset
      this.#isPlaced = true
    }
    this.#meta = meta
    return true
  }

  /**
   * Returns the next item; undefined if the archive has no more complete record yet. ENOENT if it does not exist or was removed, ESTALE if
   * another archive has its name or a file was truncated, PM_ERR_LOGREC, PM_ERR_RECTYPE, PM_ERR_LABEL, PM_ERR_FEATURE and PM_ERR_LOGCHANGE*
   * for damage.
   */
  next(): Followed | undefined {
    if (!this.begin()) return undefined
    const data = this.#openData()
    const found = data === undefined ? 'end' : this.#load(data)
    if (found === 'end') return this.#endOfVolume()
    const { sec, nsec, length, count } = this.#window
    const change = this.#change({ sec, nsec })
    if (change !== undefined) return change
    this.#offset += length
    return count === 0 ? { kind: 'mark', at: { sec, nsec } } : { kind: 'record', record: this.#window }
  }

  /** Closes the files until the next call of `next`, which finds them by name again. */
  release(): void {
    this.#files.close()
    this.#meta = undefined
    this.#data = undefined
  }

  /** Releases the files; idempotent. */
  close(): void {
    this.release()
  }

  /** Goes to the start or end of the data; returns false without any volume. */
  #toEdge(edge: 'start' | 'end', meta: MetaTail): boolean {
    const numbers = this.#files.volumes()
    const number = edge === 'start' ? numbers[0] : numbers.at(-1)
    const data = number === undefined ? undefined : this.#files.open(number)
    if (number === undefined || data === undefined) return false
    this.#volume = number
    this.#offset = data.target.start
    this.#data = data
    if (edge === 'start') return true
    this.#offset = endOf(data, this.#window)
    this.#learn(meta, Number.POSITIVE_INFINITY)
    return true
  }

  /** Applies the metadata before an offset. */
  #learn(meta: MetaTail, before: number): void {
    while (meta.offset < before) {
      const record = meta.peek()
      if (record === undefined) return
      this.metadata.apply(record)
      meta.skip()
    }
  }

  #openData(): FollowedVolume | undefined {
    if (this.#data !== undefined) return this.#data
    const data = this.#files.open(this.#volume)
    if (data === undefined) return undefined
    const { source, start } = data.target
    if (this.#offset > source.size) throw stale(data.path, 'is shorter than before')
    if (this.#offset > start) {
      this.#window.attach(data.target)
      if (this.#window.loadBefore(this.#offset) !== 'record')
        throw stale(data.path, 'has other records than before')
    }
    this.#data = data
    return data
  }

  /** Loads the record at the offset, unless it is incomplete. */
  #load(data: FollowedVolume): 'record' | 'end' {
    if (data.target.source.size < this.#offset) throw stale(data.path, 'was truncated')
    this.#window.attach(data.target)
    const found = this.#window.load(this.#offset)
    if (found !== 'damage') return found
    const { source, version } = data.target
    // Pages that are not on the disk yet may be read as zeros: read them again.
    data.target = { ...data.target }
    if (attempt(data.path, () => tearAt(source, this.#offset, stampSize(version) + 12)) === undefined)
      throw this.#window.damage()
    return 'end'
  }

  /**
   * Returns the next change of metadata that precedes a record of this time; without a time, any. While records follow that are written
   * already, changes of later times wait, unless a metric of this record is unknown.
   */
  #change(time: Timestamp | undefined): MetadataChange | undefined {
    const meta = this.#meta!
    for (let record = meta.peek(); record !== undefined; record = meta.peek()) {
      const isLater = time !== undefined && record.time !== undefined && compareTimes(record.time, time) > 0
      if (isLater && this.#isBehind() && this.#knowsAll()) return undefined
      const change = this.metadata.apply(record)
      meta.skip()
      this.#metaOffset = meta.offset
      if (change !== undefined) return change
    }
    return undefined
  }

  /** Returns whether the archive has data after the current record. */
  #isBehind(): boolean {
    return (
      this.#offset + this.#window.length < this.#data!.target.source.size ||
      this.#files.volumes().some((number) => number > this.#volume)
    )
  }

  #knowsAll(): boolean {
    const { count, pmids } = this.#window
    for (let i = 0; i < count; i++) if (!this.metadata.metrics.has(pmids[i]!)) return false
    return true
  }

  /** Goes to the next volume; without one, returns metadata written since and checks that the archive is still the same. */
  #endOfVolume(): Followed | undefined {
    const numbers = this.#files.volumes()
    const next = numbers.find((number) => number > this.#volume)
    if (next === undefined) {
      const change = this.#change(undefined)
      if (change === undefined) this.#files.check()
      return change
    }
    // The writer may have finished the volume since it was read.
    const data = this.#data
    if (data !== undefined && this.#load(data) === 'record') return this.next()
    const following = this.#files.open(next)
    if (following === undefined) return this.#change(undefined)
    const missing = data === undefined ? this.#volume : this.#volume + 1
    const end = data?.target.source.size ?? 0
    const problem =
      missing < next
        ? `${this.base}: volume ${missing}${next - missing > 1 ? ` and later ones up to ${next - 1}` : ''} is missing`
        : end - this.#offset > 3
          ? `${data!.path}: the record at byte ${this.#offset} is incomplete`
          : undefined
    data?.close()
    this.#data = following
    this.#volume = next
    this.#offset = following.target.start
    return problem === undefined
      ? this.next()
      : { kind: 'lost', problem: new PcpError('PM_ERR_LOGREC', problem) }
  }
}

/** Returns the end of the last complete record of a volume. */
function endOf(data: FollowedVolume, window: RecordWindow): number {
  window.attach(data.target)
  const { size } = data.target.source
  if (window.loadBefore(size) === 'record') return size
  let end = data.target.start
  while (window.load(end) === 'record') end += window.length
  data.target = { ...data.target }
  return end
}
