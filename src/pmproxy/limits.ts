/** What connections may cost, whoever is at the other end. docs/security.md */

import type { GateLimits } from './gate.ts'

/** Limits of one server; times in milliseconds. */
export interface Limits {
  /** Connections at once, and those of them that one other machine may have. */
  readonly connections: number
  readonly ofOneAddress: number
  /** How long a connection may say nothing at first, and take to agree on TLS. */
  readonly firstByteMs: number
  /** How long the headers of a request may take, and all of it. */
  readonly headersMs: number
  readonly requestMs: number
  /** How long a connection may be idle between requests, and not move at all while it is answered. */
  readonly idleMs: number
  readonly stalledMs: number
  readonly headerBytes: number
  /** Requests of one connection that are sent before the answers to those before them. */
  readonly pipelined: number
  /** Bytes of large answers that wait for their readers, of all connections together. */
  readonly unreadBytes: number
  /** Bytes that a live page may leave unread: more than all that may not get lost. */
  readonly pageUnreadBytes: number
  /** Requests of the page that have an archive open, those that wait for them to end, and how long. */
  readonly archives: GateLimits
}

/** Those that hold unless a test has others. */
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
  archives: { inside: 16, waiting: 500, waitMs: 20_000 },
}
