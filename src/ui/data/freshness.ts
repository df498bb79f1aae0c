/** When values are too old to be taken for the present. */

/** Intervals between samples after which one more should have arrived. */
const PATIENCE = 3

/** Checks whether a value of this age, in seconds, has missed the samples that should have followed it. */
export function isOverdue(age: number, every: number): boolean {
  return age > PATIENCE * every
}

/** Up to when a source may have values. */
export interface SourceEnd {
  /** Newest sample of a host, or the end of an archive, in seconds since the epoch. */
  readonly at: number
  /** Seconds since that sample arrived; always 0 for an archive. */
  readonly quietSec: () => number
  /** Seconds between samples; 0 where only the samples show it. */
  readonly every: number
}
