/** Values of metrics, moment after moment, as columns: live, or of an archive. pmFetch(3) */
import type { Timestamp } from '../base/timestamp.ts'
import { isDebug } from '../model/debug.ts'
import type { MetricDesc } from '../model/desc.ts'
import { DOMAIN_RESERVED, domainOf } from '../model/ids.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE } from '../model/types.ts'
import { ValueColumns } from '../model/value-columns.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import type { ArchiveControl } from './archive-control.ts'
import type { CallOptions, Context } from './context.ts'

/** Values in columns, moment after moment. */
export interface ContextRows {
  /** One a metric, of the moment that `next` returned last. */
  readonly columns: readonly ValueColumns[]
  /** The value sets behind the columns, none for a mark; undefined where columns come straight out of records. */
  readonly sets: readonly ValueSet[] | undefined
  /** Changes since the fetch before: PMCD_* bits. */
  readonly changes: number
  /** On to the next moment: immediately over an archive, unless something has to be computed or traced. Errors as of `Context.fetch`. */
  next(options?: CallOptions): Timestamp | Promise<Timestamp>
}

/** Fetches metrics again and again into columns: straight out of an archive's records where that makes no difference. */
export function valueRows(context: Context, descs: readonly MetricDesc[]): ContextRows {
  const ids = descs.map(({ pmid }) => pmid)
  if (!hasRecordedRows(context, descs))
    return new FetchedRows(descs, (options) => context.fetchNow(ids, options))
  return { ...context.archive!.valueRows(ids, context.profile), sets: undefined, changes: 0 }
}

/** Reads the records of a metric unchanged, and marks, in the archive's direction. */
export function recordRows(archive: ArchiveControl, desc: MetricDesc): ContextRows {
  return new FetchedRows([desc], () => archive.fetchRecord([desc.pmid]))
}

/** Are these different recorded numbers, whose fetches need not be traced? */
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

/** Rows out of fetched value sets. */
class FetchedRows implements ContextRows {
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
      if (m < sets.length) this.columns[m]!.take(sets[m]!)
      else this.columns[m]!.begin(0)
    }
    return timestamp
  }
}
