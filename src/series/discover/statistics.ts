/** Counts of a discovery. */

/** Counts since the start, and current numbers. */
export interface DiscoveryStatistics {
  /** Archives followed now, and ended ones. */
  monitored: number
  purged: number
  /** Notifications, and those of archives that were waiting already. */
  changes: number
  throttled: number
  /** Metadata records by kind. */
  descs: number
  indoms: number
  labels: number
  texts: number
  /** Turns of reading archives; records, their value sets, marks; records that could not be read. */
  passes: number
  records: number
  sets: number
  marks: number
  errors: number
  /** Volumes begun after the first. */
  volumes: number
  /** Records that were too old to be kept by the key server. */
  skipped: number
  /** Milliseconds between two readings of an archive. */
  throttleMs: number
}

/** Returns zeroed counts. */
export function newDiscoveryStatistics(): DiscoveryStatistics {
  return {
    monitored: 0,
    purged: 0,
    changes: 0,
    throttled: 0,
    descs: 0,
    indoms: 0,
    labels: 0,
    texts: 0,
    passes: 0,
    records: 0,
    sets: 0,
    marks: 0,
    errors: 0,
    volumes: 0,
    skipped: 0,
    throttleMs: 0,
  }
}
