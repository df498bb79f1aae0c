/** Values of metrics, moment after moment, as columns: live, or of an archive. pmFetch(3) */
import type { Timestamp } from '../base/timestamp.ts'
import { isDebug } from '../model/debug.ts'
import type { MetricDesc } from '../model/desc.ts'
import { DOMAIN_RESERVED, domainOf } from '../model/ids.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE } from '../model/types.ts'
import { ValueColumns } from '../model/value-columns.ts'
import type { CallOptions, Context } from './context.ts'

/** Values in columns, moment after moment. */
export interface ContextRows {
  /** One a metric, of the moment that `next` returned last. */
  readonly columns: readonly ValueColumns[]
  /** Changes since the fetch before: PMCD_* bits. */
  readonly changes: number
  /** On to the next moment: immediately over an archive, unless something has to be computed or traced. Errors as of `Context.fetch`. */
  next(options?: CallOptions): Timestamp | Promise<Timestamp>
}

/** Fetches metrics again and again into columns: straight out of an archive's records where that makes no difference. */
export function valueRows(context: Context, descs: readonly MetricDesc[]): ContextRows {
  if (!hasRecordedRows(context, descs)) return new FetchedRows(context, descs)
  const ids = descs.map(({ pmid }) => pmid)
  return { ...context.archive!.valueRows(ids, context.profile), changes: 0 }
}

/** Are these different recorded numbers, whose fetches need not be traced? */
export function hasRecordedRows({ archive }: Context, descs: readonly MetricDesc[]): boolean {
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
  changes = 0
  readonly #context: Context
  readonly #ids: readonly number[]

  constructor(context: Context, descs: readonly MetricDesc[]) {
    this.#context = context
    this.#ids = descs.map(({ pmid }) => pmid)
    this.columns = descs.map((desc) => new ValueColumns(desc))
  }

  async next(options?: CallOptions): Promise<Timestamp> {
    const { timestamp, changes, sets } = await this.#context.fetch(this.#ids, options)
    this.changes = changes
    for (const [i, columns] of this.columns.entries()) columns.take(sets[i]!)
    return timestamp
  }
}
