/** The user behind a web request, as seen by the collector. docs/reference/pmproxy.md */

/** A name and password. */
export interface Login {
  readonly user: string
  readonly password: string
}

/**
 * The user of a request; never the user this server runs as, unless the request has that user's key:
 *
 *     unknown   an unidentified TCP client
 *     guest     a page of this server in a browser on this machine: sees what every user of the machine may see
 *     login     a user with a password, which the collector checks
 *     owner     the user who started this server
 *
 * Failed logins count for the address `from`.
 */
export type WebUser = { readonly from?: string | undefined } & (
  | { readonly kind: 'unknown' | 'guest' | 'owner' }
  | ({ readonly kind: 'login' } & Login)
)

/** An unidentified TCP client. */
export const UNKNOWN: WebUser = { kind: 'unknown' }

/** Returns a key for sharing resources among requests of the same user. */
export function userKey(user: WebUser): string {
  return user.kind === 'login' ? JSON.stringify([user.user, user.password]) : user.kind
}

/** Checks whether the user has identified; the password may still be wrong. */
export function isNamed(user: WebUser): boolean {
  return user.kind === 'login' || user.kind === 'owner'
}
