/** Counters of a recorder about itself. */
export interface RecorderCounts {
  archiveBegun(): void
  /** A result with `bytes` bytes of values was written. */
  recorded(bytes: number): void
  /** A result could not be written. */
  lost(): void
  /** The collector did not reply or reported an error. */
  fetchFailed(): void
  /** A fetch began `lateMs` after it was due, with `leftOut` due fetches skipped. */
  fetchBegan(lateMs: number, leftOut: number): void
  /** The oldest value not yet synced to disk was written `ms` milliseconds ago; undefined if all are synced. */
  unsyncedAge(ms: number | undefined): void
  /** A sync to disk failed. */
  syncFailed(): void
}

/** Counts nothing. */
export const NO_COUNTS: RecorderCounts = {
  archiveBegun() {},
  recorded() {},
  lost() {},
  fetchFailed() {},
  fetchBegan() {},
  unsyncedAge() {},
  syncFailed() {},
}
