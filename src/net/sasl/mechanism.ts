/** Constants that both ends of an authentication share. RFC 4422, docs/explanation/security.md */

/** Supported mechanisms, best first. */
export const MECHANISMS = ['SCRAM-SHA-256', 'PLAIN'] as const

/** A mechanism that authenticates a user. */
export type Mechanism = (typeof MECHANISMS)[number]

/**
 * Drops the identity of a client that speaks for others on a unix socket; it is then an unspecified local user, no
 * longer the user the kernel reports. A pcp-ts extension: other collectors refuse it instead of keeping the identity.
 */
export const GUEST_MECHANISM = 'X-LOCAL-GUEST'

/** Longest payload of one message. */
export const MAX_PAYLOAD = 2048
