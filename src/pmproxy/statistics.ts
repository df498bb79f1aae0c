/** Counters of a pmproxy about itself. docs/reference/pmproxy.md */

/** Counts since the start, and current numbers. */
export interface Statistics {
  /** HTTP requests. */
  requests: number
  /** Responses with a status of 400 or more. */
  failures: number
  /** Compressed responses, and their bytes as sent. */
  compressedCount: number
  compressedBytes: number
  /** Uncompressed responses and their bytes. */
  uncompressedCount: number
  uncompressedBytes: number
  /** Accepted connections, and those forwarded to collectors. */
  connections: number
  proxied: number
  /** Connections relayed to a key server. */
  relayed: number
  /** Current live pages, rows sent to them, and rows dropped for slow ones. */
  pages: number
  rows: number
  missedRows: number
  /** Fetches for live pages. */
  liveFetches: number
}

/** Returns zeroed counters. */
export function newStatistics(): Statistics {
  return {
    requests: 0,
    failures: 0,
    compressedCount: 0,
    compressedBytes: 0,
    uncompressedCount: 0,
    uncompressedBytes: 0,
    connections: 0,
    proxied: 0,
    relayed: 0,
    pages: 0,
    rows: 0,
    missedRows: 0,
    liveFetches: 0,
  }
}
