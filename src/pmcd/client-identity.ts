/** Identity of a collector's client, for the collector, for agents and as requester. docs/formats/wire.md §7.4 */
import type { Profile } from '../model/profile.ts'
import type { Credentials, Requester } from '../model/source.ts'
import {
  PCP_ATTR_CONTAINER,
  PCP_ATTR_GROUPID,
  PCP_ATTR_LOCAL,
  PCP_ATTR_PROCESSID,
  PCP_ATTR_USERID,
  PCP_ATTR_USERNAME,
} from '../wire/attr.ts'

/** Identity of a client. */
export interface ClientIdentity {
  /** Index among the clients; reused. */
  readonly slot: number
  /** Number of the connection; never reused. */
  readonly seq: number
  /** File descriptor of the socket. */
  readonly fd: number
  readonly address: string
  /** Group that the client's memory counts towards: `originOf`. */
  readonly origin: string
  readonly startMs: number
  readonly credentials?: Credentials
}

/** Returns the attributes sent to agents, in PCP's order; '' as container after leaving one. */
export function attributesOf(
  { credentials = {} }: ClientIdentity,
  container: string | undefined,
): readonly (readonly [key: number, value: string])[] {
  const { pid, gid, uid, user, isGuest } = credentials
  const all: readonly (readonly [number, string | number | undefined])[] = [
    [PCP_ATTR_CONTAINER, container],
    [PCP_ATTR_PROCESSID, pid],
    [PCP_ATTR_GROUPID, gid],
    [PCP_ATTR_USERID, uid],
    [PCP_ATTR_USERNAME, user],
    [PCP_ATTR_LOCAL, isGuest === true ? '' : undefined],
  ]
  return all.flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)] as const]))
}

/** Returns this client as the requester of a context; `container` is '' for none. */
export function requesterOf(
  { slot, credentials }: ClientIdentity,
  context: number,
  profile: Profile,
  container: string,
): Requester {
  return {
    client: slot,
    context,
    profile,
    ...(credentials === undefined ? {} : { credentials }),
    ...(container === '' ? {} : { container }),
  }
}
