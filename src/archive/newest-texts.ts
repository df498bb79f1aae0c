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
  end(): Timestamp
  setMode(mode: ArchiveMode, when: Timestamp): void
  fetchRecord(ids: readonly Pmid[], options: RecordOptions): FetchResult
}

/** Most records that are read: two days of records every ten seconds. */
export const MOST_RECORDS = 20_000

/**
 * Returns the values in the last record that has the metric, by instance; none if it is not in the last `MOST_RECORDS`. Moves the archive.
 * PM_ERR_LOGREC.
 */
export function newestTexts(archive: NewestRecords, id: Pmid): ReadonlyMap<number, string> {
  archive.setMode('backward', archive.end())
  try {
    for (let left = MOST_RECORDS; left > 0; left--) {
      const [set] = archive.fetchRecord([id], { every: true }).sets
      if (set !== undefined) return textsOf(set)
    }
    return new Map()
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_EOL') return new Map()
    throw error
  }
}

/** Returns the values of a string metric by instance. */
export function textsOf(set: ValueSet): ReadonlyMap<number, string> {
  return new Map(valuesOf(set, PM_TYPE_STRING).map(({ inst, value }) => [inst, String(value)]))
}
