/** Times, names and values in findings about data. */
import type { Archive } from '../../archive/archive.ts'
import { formatF } from '../../base/printf.ts'
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import { type Indom, type Pmid, pmidStr } from '../../model/ids.ts'
import { DAY } from '../../time/calendar.ts'
import { clockStamp } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import { dateStamp } from '../lib/archive-input.ts'

/** Writes what findings name. */
export class FindingText {
  readonly #archive: Archive
  readonly #zone: Zone
  readonly #withDate: boolean

  /** Times need a date when more than a day is looked at. */
  constructor(archive: Archive, zone: Zone, start: Timestamp, finish: Timestamp) {
    this.#archive = archive
    this.#zone = zone
    this.#withDate = secondsBetween(start, finish) > DAY
  }

  /** Time of day with milliseconds, or all of the date. */
  stamp(time: Timestamp): string {
    return this.#withDate ? dateStamp(time, this.#zone) : clockStamp(time, this.#zone)
  }

  /** A metric's name, or its number where it has none. */
  name(id: Pmid): string {
    return this.#archive.metadata.names.namesOf(id)[0] ?? pmidStr(id)
  }

  /** An instance's newest name, or its number. */
  instance(indom: Indom, inst: number): string {
    const snapshots = this.#archive.metadata.snapshots(indom)
    for (let k = snapshots.length - 1; k >= 0; k--) {
      const i = snapshots[k]!.ids.indexOf(inst)
      if (i >= 0) return snapshots[k]!.name(i)
    }
    return String(inst)
  }

  /** A value without fraction. */
  number(value: number): string {
    return formatF(value, 0)
  }
}
