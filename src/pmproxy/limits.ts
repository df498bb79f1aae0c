/** Limits on what clients may cost. docs/explanation/security.md */

import type { RequestLimiterLimits } from './request-limiter.ts'

/** Limits of one server; times in milliseconds. */
export interface Limits {
  /** Maximum number of connections, and of those of one other machine. */
  readonly connections: number
  readonly ofOneAddress: number
  /** Timeouts for the first byte and the TLS handshake of a connection. */
  readonly firstByteMs: number
  /** Timeouts for the headers of a request, and for all of it. */
  readonly headersMs: number
  readonly requestMs: number
  /** How long a connection may be idle between requests, and make no progress during one. */
  readonly idleMs: number
  readonly stalledMs: number
  readonly headerBytes: number
  /** Maximum number of pipelined requests on a connection. */
  readonly pipelined: number
  /** Maximum bytes of large unread responses, over all connections. */
  readonly unreadBytes: number
  /** Maximum unread bytes of a live page; more than all messages that must not be lost. */
  readonly pageUnreadBytes: number
  /** Limits of page requests that read archives. */
  readonly archives: RequestLimiterLimits
}

/** Default limits. */
export const LIMITS: Limits = {
  connections: 4000,
  ofOneAddress: 1000,
  firstByteMs: 30_000,
  headersMs: 20_000,
  requestMs: 60_000,
  idleMs: 65_000,
  stalledMs: 90_000,
  headerBytes: 32 * 1024,
  pipelined: 8,
  unreadBytes: 256 * 1024 * 1024,
  pageUnreadBytes: 16 * 1024 * 1024,
  archives: { concurrent: 16, queued: 500, waitMs: 20_000 },
}
