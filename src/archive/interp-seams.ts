/** Where the members of an archive meet, for interpolation. docs/formats/archive.md §10 */
import { isError } from '../model/errors.ts'
import type { Archive } from './archive.ts'
import { secondsSince } from './interp-metric.ts'
import type { RecordView } from './record-view.ts'

/** Distance of the mark between two members from the records beside it. */
const SEAM_SEC = 0.001

/** Finds members and the marks between them. Times are in seconds since the archive's start; moments are times multiplied by the direction. */
export class Seams {
  readonly #archive: Archive

  constructor(archive: Archive) {
    this.#archive = archive
  }

  /** Returns the member whose records follow a moment; after the end of a member that is the next one. */
  memberAt(moment: number, sign: 1 | -1): number {
    const t = moment * sign
    const { members, start } = this.#archive
    let member = 0
    for (const [i, { label }] of members.entries()) if (secondsSince(start, label.start) <= t) member = i
    while (member > 0 && t <= this.#floorSeconds(member)) member--
    if (sign < 0 || member + 1 === members.length) return member
    const end = this.#archive.data[member]!.end()
    return !isError(end) && t >= secondsSince(start, end) + SEAM_SEC ? member + 1 : member
  }

  /** Returns the moment of the mark between two members, passed just before a record of the nearer one, whose moment is `at`. */
  momentBefore(record: RecordView, at: number, sign: 1 | -1): number {
    if (sign > 0) return at + SEAM_SEC
    const floor = this.#floorSeconds(record.member)
    if (floor !== Number.NEGATIVE_INFINITY) return -(floor + SEAM_SEC)
    const { start } = this.#archive.members[record.member]!.label
    return -(secondsSince(this.#archive.start, start) - SEAM_SEC)
  }

  /** Returns the time up to which records are read from earlier members. */
  #floorSeconds(member: number): number {
    const floor = this.#archive.floorOf(member)
    return floor === undefined ? Number.NEGATIVE_INFINITY : secondsSince(this.#archive.start, floor)
  }
}
