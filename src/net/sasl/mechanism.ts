/** Words both ends of an authentication share. RFC 4422, docs/security.md */
import { PcpError, statusOf } from '../../model/errors.ts'

/** The mechanisms we have, best first. */
export const MECHANISMS = ['SCRAM-SHA-256', 'PLAIN'] as const

/** The name of a mechanism that proves who a client is. */
export type Mechanism = (typeof MECHANISMS)[number]

/**
 * Gives up an identity: on a unix socket a client that speaks for others is some user of this machine from then on, and no longer the user that
 * the kernel names. Our own, so that a collector that does not know it never accepts it and keeps the identity.
 */
export const GUEST_MECHANISM = 'X-LOCAL-GUEST'

/** No common mechanism. */
export const SASL_NOMECH = -4
/** A message that cannot be. */
export const SASL_BADPROT = -5
/** The server could not prove that it knows the password. */
export const SASL_BADSERV = -10
/** Wrong name or password. */
export const SASL_BADAUTH = -13
/** The user may not act for the one asked for. */
export const SASL_NOAUTHZ = -14

/** Longest payload of one message. */
export const MAX_PAYLOAD = 2048

/** The error for a SASL code: its status is the one PCP sends for it. docs/formats/wire.md §9 */
export function saslError(code: number, message: string, cause?: unknown): PcpError {
  return new PcpError('PM_ERR_GENERIC', message, { status: statusOf('PM_ERR_NYI') + code, cause })
}
