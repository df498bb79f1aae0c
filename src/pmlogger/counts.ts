/** What a recorder counts of itself. */
export interface RecorderCounts {
  /** An archive was begun. */
  archiveBegun(): void
  /** A result was written, with so many bytes of values. */
  recorded(bytes: number): void
  /** A result could not be written. */
  lost(): void
  /** The collector did not answer, or with an error. */
  fetchFailed(): void
  /** A fetch began, so many milliseconds after it was due and so many due ones left out. */
  began(lateMs: number, leftOut: number): void
  /** The oldest value that a power cut would cost was written so many milliseconds ago; undefined when there is none. */
  atRisk(ms: number | undefined): void
  /** Waiting for the disk failed. */
  syncFailed(): void
}

/** Counts nothing. */
export const NO_COUNTS: RecorderCounts = {
  archiveBegun() {},
  recorded() {},
  lost() {},
  fetchFailed() {},
  began() {},
  atRisk() {},
  syncFailed() {},
}
