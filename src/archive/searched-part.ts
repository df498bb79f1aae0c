/** The part of an archive in which interpolation searches values, where reading all of it is too costly. */
import type { OnceRecords } from './once-records.ts'
import type { RecordView } from './record-view.ts'

/** Seconds since the epoch, inclusive. */
export interface SearchedPart {
  readonly from: number
  readonly to: number
  /** Records before it that have the last values of discrete metrics. */
  readonly once: OnceRecords
}

/** Returns whether a record is outside of a part; undefined is all of the archive. */
export function isOutside({ sec, nsec }: RecordView, within: SearchedPart | undefined): boolean {
  if (within === undefined) return false
  const time = sec + nsec / 1e9
  return time < within.from || time > within.to
}
