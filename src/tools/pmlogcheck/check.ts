/** State shared by the passes of a check. */
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

/** Options of the command line. */
export interface CheckOptions {
  /** -l */
  readonly label: boolean
  /** -m: skip data volumes. */
  readonly metadataOnly: boolean
  readonly verbose: boolean
  /** -w: ignore decreasing counters. */
  readonly noWraps: boolean
  /** -f: run later passes in spite of damage. */
  readonly full: boolean
  /** -r and -R: truncate damaged files after their last good record. */
  readonly repair: 'ask' | 'auto' | undefined
}

/** A check in progress. */
export interface Check {
  readonly io: ToolIo
  readonly files: ArchiveFiles
  readonly wanted: CheckOptions
  /** Writes a line to standard error. */
  readonly say: (text: string) => void
  /** Writes a line to standard error with -v. */
  readonly sayVerbose: (text: string) => void
}

/** Formats times, metrics and instances in findings. */
export class FindingText {
  readonly #archive: Archive
  readonly #zone: Zone
  readonly #withDate: boolean

  /** Adds dates to times if the time range is longer than a day. */
  constructor(archive: Archive, zone: Zone, start: Timestamp, finish: Timestamp) {
    this.#archive = archive
    this.#zone = zone
    this.#withDate = secondsBetween(start, finish) > DAY
  }

  /** Returns the time of day with milliseconds, or with the date. */
  stamp(time: Timestamp): string {
    return this.#withDate ? dateStamp(time, this.#zone) : clockStamp(time, this.#zone)
  }

  /** Returns a metric's name, or its PMID without one. */
  name(id: Pmid): string {
    return this.#archive.metadata.names.namesOf(id)[0] ?? pmidStr(id)
  }

  /** Returns an instance's latest name, or its id. */
  instance(indom: Indom, inst: number): string {
    const snapshots = this.#archive.metadata.snapshots(indom)
    for (let k = snapshots.length - 1; k >= 0; k--) {
      const i = snapshots[k]!.ids.indexOf(inst)
      if (i >= 0) return snapshots[k]!.name(i)
    }
    return String(inst)
  }

  /** Formats a value without fraction. */
  number(value: number): string {
    return formatF(value, 0)
  }
}
