/** What a pmproxy counts about itself. docs/pmproxy.md */

/** Counts since the start, and what there is now. */
export interface Statistics {
  /** Requests and answers of HTTP. */
  requests: number
  /** Answers with a status of 400 or more. */
  failures: number
  /** Answers that were compressed, and their bytes as sent. */
  compressedCount: number
  compressedBytes: number
  /** The others. */
  uncompressedCount: number
  uncompressedBytes: number
  /** Connections that were accepted, and forwarded to collectors. */
  connections: number
  proxied: number
  /** Connections that spoke to the key server. */
  relayed: number
  /** Live pages now, rows sent to them, and rows that slow ones missed. */
  pages: number
  rows: number
  missedRows: number
  /** Fetches for live pages. */
  liveFetches: number
}

/** All zero. */
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
