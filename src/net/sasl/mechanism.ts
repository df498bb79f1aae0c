/** Words both ends of an authentication share. RFC 4422, docs/security.md */

/** The mechanisms we have, best first. */
export const MECHANISMS = ['SCRAM-SHA-256', 'PLAIN'] as const

/** The name of a mechanism that proves who a client is. */
export type Mechanism = (typeof MECHANISMS)[number]

/**
 * Gives up an identity: on a unix socket a client that speaks for others is some user of this machine from then on, and no longer the user that
 * the kernel names. Our own, so that a collector that does not know it never accepts it and keeps the identity.
 */
export const GUEST_MECHANISM = 'X-LOCAL-GUEST'

/** Longest payload of one message. */
export const MAX_PAYLOAD = 2048
