/** The newest recorded values of a string metric. */
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_TYPE_STRING } from '../model/types.ts'
import { valuesOf } from '../model/value-set.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import type { ArchiveMode, RecordOptions } from './source.ts'

/** The part of an archive that is read. */
export interface NewestRecords {
  readonly start: Timestamp
  end(): Timestamp
  setMode(mode: ArchiveMode, when: Timestamp): void
  fetchRecord(ids: readonly Pmid[], options: RecordOptions): FetchResult
}

/** Most records that are read from the end: two days of records every ten seconds. */
export const MOST_RECORDS = 20_000
/** Records at the start that are read then: recorders begin with the values that they record once. */
const FIRST_RECORDS = 100

/**
 * Returns the values of the last record that has the metric, by instance, if it is among the last `MOST_RECORDS`; otherwise of the first records.
 * Moves the archive. PM_ERR_LOGREC.
 */
export function newestTexts(archive: NewestRecords, id: Pmid): ReadonlyMap<number, string> {
  archive.setMode('backward', archive.end())
  const newest = firstTexts(archive, id, MOST_RECORDS)
  if (newest !== undefined) return newest
  archive.setMode('forward', archive.start)
  return firstTexts(archive, id, FIRST_RECORDS) ?? new Map()
}

/** Returns the values of the next record that has the metric; undefined if it is not among the next `most`. */
function firstTexts(archive: NewestRecords, id: Pmid, most: number): ReadonlyMap<number, string> | undefined {
  try {
    for (let left = most; left > 0; left--) {
      const [set] = archive.fetchRecord([id], { every: true }).sets
      if (set !== undefined) return textsOf(set)
    }
  } catch (error) {
    if (!(error instanceof PcpError) || error.code !== 'PM_ERR_EOL') throw error
  }
  return undefined
}

/** Returns the values of a string metric by instance. */
export function textsOf(set: ValueSet): ReadonlyMap<number, string> {
  return new Map(valuesOf(set, PM_TYPE_STRING).map(({ inst, value }) => [inst, String(value)]))
}
