/** What the passes of a check share. */
import type { Archive } from '../../archive/archive.ts'
import type { ArchiveFiles } from '../../base/byte-source.ts'
import { formatF } from '../../base/printf.ts'
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import { type Indom, type Pmid, pmidStr } from '../../model/ids.ts'
import { DAY } from '../../time/calendar.ts'
import { clockStamp } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import { dateStamp } from '../lib/archive-input.ts'
import type { ToolIo } from '../lib/tool.ts'

/** What the command line asks for. */
export interface CheckOptions {
  /** -l */
  readonly label: boolean
  /** -m: data is not looked at. */
  readonly metadataOnly: boolean
  readonly verbose: boolean
  /** -w: counters may decrease. */
  readonly noWraps: boolean
  /** -f: further passes in spite of damage. */
  readonly full: boolean
  /** -r and -R: cut damaged files behind their last good record. */
  readonly repair: 'ask' | 'auto' | undefined
}

/** A check under way. */
export interface Check {
  readonly io: ToolIo
  readonly files: ArchiveFiles
  readonly wanted: CheckOptions
  /** Writes a line to standard error. */
  readonly say: (text: string) => void
  /** Writes a line to standard error with -v. */
  readonly tell: (text: string) => void
}

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
