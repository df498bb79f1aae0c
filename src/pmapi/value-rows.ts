/** Columns of values, fetch by fetch, live or from an archive. pmFetch(3) */
import type { Timestamp } from '../base/timestamp.ts'
import { isDebug } from '../model/debug.ts'
import type { MetricDesc } from '../model/desc.ts'
import { DOMAIN_RESERVED, domainOf } from '../model/ids.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE } from '../model/types.ts'
import { ValueColumns } from '../model/value-columns.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import type { ArchiveControl } from './archive-control.ts'
import type { CallOptions, Context } from './context.ts'

/** Columns of values, advanced by `next`. */
export interface ColumnCursor {
  /** One per metric, with the values of the last `next`. */
  readonly columns: readonly ValueColumns[]
  /** Value sets behind the columns, empty for a mark; undefined if columns are read directly from records. */
  readonly sets: readonly ValueSet[] | undefined
  /** PMCD_* bits of changes since the previous fetch. */
  readonly changes: number
  /** Advances and returns the time; synchronous over an archive unless values are derived or traced. Errors as `Context.fetch`. */
  next(options?: CallOptions): Timestamp | Promise<Timestamp>
}

/** Fetches metrics repeatedly into columns, directly from an archive's records where the result is the same. */
export function valueRows(context: Context, descs: readonly MetricDesc[]): ColumnCursor {
  const ids = descs.map(({ pmid }) => pmid)
  if (!hasRecordedRows(context, descs))
    return new FetchedRows(descs, (options) => context.fetchNow(ids, options))
  return { ...context.archive!.valueRows(ids, context.profile), sets: undefined, changes: 0 }
}

/** Reads unchanged records of a metric, and marks, in the archive's direction. */
export function recordRows(archive: ArchiveControl, desc: MetricDesc): ColumnCursor {
  return new FetchedRows([desc], () => archive.fetchRecord([desc.pmid]))
}

/** Returns whether the metrics are distinct recorded numbers whose fetches are not traced. */
function hasRecordedRows({ archive }: Context, descs: readonly MetricDesc[]): boolean {
  return (
    archive !== undefined &&
    descs.length > 0 &&
    !isDebug('fetch,value,profile') &&
    descs.every(isRecordedNumber) &&
    new Set(descs.map(({ pmid }) => pmid)).size === descs.length
  )
}

function isRecordedNumber({ pmid, type }: MetricDesc): boolean {
  return type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE && domainOf(pmid) !== DOMAIN_RESERVED
}

/** Columns of fetched value sets. */
class FetchedRows implements ColumnCursor {
  readonly columns: readonly ValueColumns[]
  sets: readonly ValueSet[] = []
  changes = 0
  readonly #fetch: (options?: CallOptions) => FetchResult | Promise<FetchResult>

  constructor(
    descs: readonly MetricDesc[],
    fetch: (options?: CallOptions) => FetchResult | Promise<FetchResult>,
  ) {
    this.columns = descs.map((desc) => new ValueColumns(desc))
    this.#fetch = fetch
  }

  next(options?: CallOptions): Timestamp | Promise<Timestamp> {
    const result = this.#fetch(options)
    return result instanceof Promise ? result.then((fetched) => this.#take(fetched)) : this.#take(result)
  }

  #take({ timestamp, changes, sets }: FetchResult): Timestamp {
    this.sets = sets
    this.changes = changes
    for (let m = 0; m < this.columns.length; m++) {
      if (m < sets.length) this.columns[m]!.fillFrom(sets[m]!)
      else this.columns[m]!.begin(0)
    }
    return timestamp
  }
}
