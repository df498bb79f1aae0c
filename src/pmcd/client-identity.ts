/** Who a client of the collector is, as it is kept, told to agents and named in questions. docs/formats/wire.md §7.4 */
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

/** Who a client is, as the collector keeps it. */
export interface ClientIdentity {
  /** Place among the clients: reused. */
  readonly slot: number
  /** Number of the connection: never reused. */
  readonly seq: number
  /** Descriptor of its socket. */
  readonly fd: number
  readonly address: string
  /** What its memory counts for: `originOf`. */
  readonly origin: string
  readonly startMs: number
  readonly credentials?: Credentials
}

/** What agents are told about a client, in PCP's order; that it has left its container as ''. */
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

/** Who asks, when it is this client in one of its contexts; `container` is '' for none. */
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
