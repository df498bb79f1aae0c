/** Archive-only operations of a context: moving in time, and reading records. pmSetMode(3), docs/reference/client-library.md */

import type { ArchiveLabel } from '../archive/label.ts'
import type { ColumnMetric } from '../archive/number-columns.ts'
import type { ScanOptions, ScanResult } from '../archive/scan.ts'
import type { ArchiveMode, NumberRows, RecordOptions, ValueRows } from '../archive/source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { DOMAIN_RESERVED, domainOf, type Indom, type Pmid } from '../model/ids.ts'
import type { Profile } from '../model/profile.ts'
import type { Instances } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'

/** A range of records or sample times to iterate over. */
export interface ArchiveRange {
  /** Start, inclusive; default: the archive's start, or its end when going backwards. */
  readonly from?: Timestamp
  /** End, inclusive; default: the other end of the archive. */
  readonly to?: Timestamp
  /** Iterate from later to earlier. */
  readonly backward?: boolean
}

/** A range of sample times to interpolate at. */
export interface SampleRange extends ArchiveRange {
  /** Reuse the memory of a result for the next one, so that each is valid only until then. Default false. */
  readonly reusesMemory?: boolean
}

/**
 * The archive behind a context. All calls are synchronous, because archives are files; a damaged record throws
 * PM_ERR_LOGREC from the call that reads it.
 */
export interface ArchiveControl {
  /** The label of the first archive. @see pmGetArchiveLabel(3) */
  readonly label: ArchiveLabel
  /** Start of the first archive. */
  readonly start: Timestamp
  /** Returns the last record's time, which increases while the archive grows. PM_ERR_LOGREC if it cannot be found. @see pmGetArchiveEnd(3) */
  end(): Timestamp
  readonly mode: ArchiveMode
  /** Time at which instances and labels are looked up: that of the last record, or of the next interpolation. */
  readonly origin: Timestamp
  /**
   * Sets how the next fetch finds its values. `when` is the new origin; without it the origin is unchanged. `stepSec` is
   * added to the origin by each interpolating fetch, to the nanosecond; negative steps go back. @see pmSetMode(3)
   */
  setMode(mode: ArchiveMode, when?: Timestamp, stepSec?: number): void
  /** Moves the origin like a longer or shorter step. Rates still compare with the previous fetch, unlike after `setMode`. */
  moveTo(when: Timestamp): void
  /**
   * Returns the next record unchanged; a mark has no sets. With `ids`: the next record that has some of these metrics,
   * reduced to their sets, or the next mark; with `every`, the next record. PM_ERR_EOL after the last record, PM_ERR_MODE when interpolating.
   * @see pmFetchArchive(3)
   */
  fetchRecord(ids?: readonly Pmid[], options?: RecordOptions): FetchResult
  /**
   * Fetches recorded metrics synchronously in the current mode, like `Context.fetch`. PM_ERR_EOL, PM_ERR_LOGREC.
   * @see pmFetch(3)
   */
  fetchNow(ids: readonly Pmid[], profile: Profile): FetchResult
  /** Returns all instances that a domain had during the archive's life. PM_ERR_INDOM_LOG. @see pmGetInDomArchive(3) */
  instances(indom: Indom): Instances
  /** Returns the instance with this name, or with this first word of its name, at any time. PM_ERR_INST_LOG. @see pmLookupInDomArchive(3) */
  instanceId(indom: Indom, name: string): number
  /** Returns the latest name of an instance. PM_ERR_INST_LOG. @see pmNameInDomArchive(3) */
  instanceName(indom: Indom, id: number): string
  /** Iterates over all records in a range, including marks; does not move the context. */
  records(range?: ArchiveRange): IterableIterator<FetchResult>
  /**
   * Iterates over values interpolated at every `stepSec` of a range; does not move the context. Recorded metrics only:
   * PM_ERR_PMID_LOG for a derived metric, which `Context.sample`, `table` and `fetch` can compute.
   */
  samples(ids: readonly Pmid[], stepSec: number, range?: SampleRange): IterableIterator<FetchResult>
  /**
   * Returns rows of numbers, one per fetch from the context's position on, in columns: for reports over a whole archive.
   * Reading after the last row throws PM_ERR_EOL. Throws PM_ERR_PMID_LOG and PM_ERR_TYPE like `scan`, PM_ERR_ARG for a
   * metric given twice.
   */
  rows(metrics: readonly ColumnMetric[], profile?: Profile): NumberRows
  /** Like `rows`, but with all values of each metric, in the order of its value set. */
  valueRows(ids: readonly Pmid[], profile?: Profile): ValueRows
  /**
   * Returns all values of recorded metrics as columns of times and numbers, in one pass over the records.
   * PM_ERR_PMID_LOG for a metric that is missing or derived; PM_ERR_TYPE for non-numeric values.
   */
  scan(ids: readonly Pmid[], options?: ScanOptions): ScanResult
}

/** Returns the control with a `setMode` that also calls `forget`, which restarts `delta` and `rate`. */
export function withForget(control: ArchiveControl, forget: () => void): ArchiveControl {
  const setMode: ArchiveControl['setMode'] = (mode, when, stepSec) => {
    control.setMode(mode, when, stepSec)
    forget()
  }
  return Object.create(control, { setMode: { value: setMode, enumerable: true } }) as ArchiveControl
}

/** Returns whether a metric is derived or names a field of event records; archives have no values of either. */
export function isNeverRecorded(id: Pmid): boolean {
  return domainOf(id) === DOMAIN_RESERVED
}
