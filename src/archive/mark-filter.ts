/** Ignoring marks: PCP_IGNORE_MARK_RECORDS. PCPIntro(1) */
import { secondsBetween } from '../base/timestamp.ts'
import type { Archive } from './archive.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'

/** Decides which marks to ignore. */
export class MarkFilter {
  readonly #archive: Archive
  readonly #ignoreSec: number | undefined
  #reader: RecordReader | undefined
  readonly #known = new Map<string, boolean>()

  /** `ignoreSec`: undefined to ignore no marks, 0 all, otherwise those between records at most so many seconds apart. */
  constructor(archive: Archive, ignoreSec: number | undefined) {
    this.#archive = archive
    this.#ignoreSec = ignoreSec
  }

  /** Returns whether a mark counts. */
  counts(mark: RecordView): boolean {
    if (this.#ignoreSec === undefined) return true
    if (this.#ignoreSec === 0) return false
    const key = `${mark.sec}.${mark.nsec}`
    let counts = this.#known.get(key)
    if (counts === undefined) {
      counts = this.#gapSec(mark) > this.#ignoreSec
      this.#known.set(key, counts)
    }
    return counts
  }

  /** Returns the seconds from the last record before a mark to the first one after it. */
  #gapSec(mark: RecordView): number {
    this.#reader ??= new RecordReader(this.#archive, { checkValues: false, sparse: true })
    const time = mark.timestamp()
    this.#reader.seek(time, 'backward')
    let before = this.#reader.previous()
    while (before?.count === 0) before = this.#reader.previous()
    const earlier = before?.timestamp()
    this.#reader.seek(time, 'forward')
    let after = this.#reader.next()
    while (after?.count === 0) after = this.#reader.next()
    if (earlier === undefined || after === undefined) return Number.POSITIVE_INFINITY
    return secondsBetween(earlier, after.timestamp())
  }
}
