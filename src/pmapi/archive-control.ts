/** What a context over an archive can do besides: move in time, and look at records. pmSetMode(3), docs/pmapi.md */

import type { ArchiveLabel } from '../archive/label.ts'
import type { ColumnMetric } from '../archive/number-columns.ts'
import type { ScanOptions, ScanResult } from '../archive/scan.ts'
import type { ArchiveMode, NumberRows, ValueRows } from '../archive/source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { DOMAIN_RESERVED, domainOf, type Indom, type Pmid } from '../model/ids.ts'
import type { Profile } from '../model/profile.ts'
import type { Instances } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'

/** Which records, or which moments, to iterate over. */
export interface ArchiveRange {
  /** From here on; default: the archive's start, or its end when going backwards. */
  readonly from?: Timestamp
  /** Up to here, inclusive; default: the other end of the archive. */
  readonly to?: Timestamp
  /** Later ones first. */
  readonly backward?: boolean
}

/** Which moments to interpolate at. */
export interface SampleRange extends ArchiveRange {
  /** Each result is good until the next one is asked for, which may use its memory again; default: for ever. */
  readonly isPassing?: boolean
}

/**
 * The archive behind a context. Everything here answers at once, as archives are files; a damaged record throws
 * PM_ERR_LOGREC from whatever had to read it.
 */
export interface ArchiveControl {
  /** The label of the first archive. @see pmGetArchiveLabel(3) */
  readonly label: ArchiveLabel
  /** When the first archive starts. */
  readonly start: Timestamp
  /** The last record's time; later when the archive grows. PM_ERR_LOGREC where it cannot be found. @see pmGetArchiveEnd(3) */
  end(): Timestamp
  readonly mode: ArchiveMode
  /** The moment questions about instances and labels are answered for: of the last record, or of the next interpolation. */
  readonly origin: Timestamp
  /**
   * Says how the next fetch finds its values. `when` is the new origin; without it the origin stays. `stepSec` is what an
   * interpolating fetch adds to the origin, to the nanosecond; a negative one goes back. @see pmSetMode(3)
   */
  setMode(mode: ArchiveMode, when?: Timestamp, stepSec?: number): void
  /** Moves the origin as a step of another length would: rates compare with the fetch before, which `setMode` makes them forget. */
  moveTo(when: Timestamp): void
  /**
   * The next record as it is; a mark has no sets. With `ids`: the next one that has some of these metrics, with their sets
   * alone, or the next mark. PM_ERR_EOL behind the last one, PM_ERR_MODE when interpolating.
   * @see pmFetchArchive(3)
   */
  fetchRecord(ids?: readonly Pmid[]): FetchResult
  /**
   * What `Context.fetch` gives of recorded metrics in this mode, and moves on as it does. PM_ERR_EOL, PM_ERR_LOGREC.
   * @see pmFetch(3)
   */
  fetchNow(ids: readonly Pmid[], profile: Profile): FetchResult
  /** Instances of a domain over the archive's whole life. PM_ERR_INDOM_LOG. @see pmGetInDomArchive(3) */
  instances(indom: Indom): Instances
  /** Instance of that name, or of that name up to its first blank, at any time. PM_ERR_INST_LOG. @see pmLookupInDomArchive(3) */
  instanceId(indom: Indom, name: string): number
  /** Name of an instance, the newest it had. PM_ERR_INST_LOG. @see pmNameInDomArchive(3) */
  instanceName(indom: Indom, id: number): string
  /** All records in a range, marks among them; the context's own position stays where it is. */
  records(range?: ArchiveRange): IterableIterator<FetchResult>
  /**
   * Values computed at every `stepSec` of a range; the context's own position stays where it is. Of recorded metrics: PM_ERR_PMID_LOG
   * for a derived one, which `Context.sample`, `table` and `fetch` have values of.
   */
  samples(ids: readonly Pmid[], stepSec: number, range?: SampleRange): IterableIterator<FetchResult>
  /**
   * What fetches of some recorded metrics of numbers would give from the context's position on, moment after moment, in columns of
   * numbers: for reports of a whole archive. PM_ERR_EOL behind the last moment; before, PM_ERR_PMID_LOG and PM_ERR_TYPE as of `scan`,
   * and PM_ERR_ARG for a metric that is there twice.
   */
  rows(metrics: readonly ColumnMetric[], profile?: Profile): NumberRows
  /** As `rows`, with all values of each metric, in the order of its value set. */
  valueRows(ids: readonly Pmid[], profile?: Profile): ValueRows
  /**
   * All values of some recorded metrics as columns of times and numbers, in one pass over the records. PM_ERR_PMID_LOG for a metric
   * that is not there, or derived; PM_ERR_TYPE for one whose values are no numbers.
   */
  scan(ids: readonly Pmid[], options?: ScanOptions): ScanResult
}

/** The control, but a new position or mode also makes `delta` and `rate` begin anew. */
export function forgetting(control: ArchiveControl, forget: () => void): ArchiveControl {
  const setMode: ArchiveControl['setMode'] = (mode, when, stepSec) => {
    control.setMode(mode, when, stepSec)
    forget()
  }
  return Object.create(control, { setMode: { value: setMode, enumerable: true } }) as ArchiveControl
}

/** Is it a derived metric, or one of those that name the fields of event records? No archive has values of them. */
export function isNeverRecorded(id: Pmid): boolean {
  return domainOf(id) === DOMAIN_RESERVED
}
