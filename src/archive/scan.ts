/** Values as columns: what a chart or an analysis takes as it is. docs/formats/archive.md §5 */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import type { Pmid } from '../model/ids.ts'

/** What of an archive to scan. */
export interface ScanOptions {
  /** Records from here on; default: all. */
  readonly from?: Timestamp
  /** Records up to here, inclusive; default: all. */
  readonly to?: Timestamp
  /** Only these instances; default: all. */
  readonly instances?: readonly number[]
}

/** The values of one instance of one metric. */
export interface Column {
  readonly pmid: Pmid
  /** PM_IN_NULL for a metric without instance domain. */
  readonly inst: number
  /** Seconds since `ScanResult.start`, ascending. */
  readonly times: Float64Array
  /** As doubles: integers beyond 2^53 are rounded. */
  readonly values: Float64Array
}

/** What a scan found. */
export interface ScanResult {
  /** What times count from: the archive's start. */
  readonly start: Timestamp
  /** Where recording was interrupted: nothing may be concluded across these moments. Seconds since `start`. */
  readonly marks: Float64Array
  /** Descriptors of the metrics asked for. */
  readonly descs: readonly MetricDesc[]
  /** A column an instance that has values, in order of first appearance. */
  readonly columns: readonly Column[]
  /** Records looked at, marks included. */
  readonly records: number
}
