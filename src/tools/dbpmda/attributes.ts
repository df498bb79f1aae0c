/** Attributes of clients by PCP's names. docs/formats/wire.md §3.3 */

import type { Credentials, Requester } from '../../model/source.ts'
import {
  PCP_ATTR_CONTAINER,
  PCP_ATTR_GROUPID,
  PCP_ATTR_PROCESSID,
  PCP_ATTR_USERID,
  PCP_ATTR_USERNAME,
} from '../../wire/attr.ts'

export const ATTRIBUTES: ReadonlyMap<string, number> = new Map([
  ['protocol', 1],
  ['secure', 2],
  ['compress', 3],
  ['userauth', 4],
  ['username', PCP_ATTR_USERNAME],
  ['authname', 6],
  ['password', 7],
  ['method', 8],
  ['realm', 9],
  ['unixsock', 10],
  ['userid', PCP_ATTR_USERID],
  ['groupid', PCP_ATTR_GROUPID],
  ['local', 13],
  ['processid', PCP_ATTR_PROCESSID],
  ['container', PCP_ATTR_CONTAINER],
  ['exclusive', 16],
])

/** Returns the name of an attribute. */
export function attributeName(key: number): string {
  for (const [name, each] of ATTRIBUTES) if (each === key) return name
  return String(key)
}

/** Adds an attribute to a requester, for agents in this process. */
export function withAttribute(requester: Requester, key: number, value: string): Requester {
  const is = (credentials: Credentials): Requester => ({
    ...requester,
    credentials: { ...requester.credentials, ...credentials },
  })
  switch (key) {
    case PCP_ATTR_USERNAME:
      return is({ user: value })
    case PCP_ATTR_USERID:
      return is({ uid: Number(value) })
    case PCP_ATTR_GROUPID:
      return is({ gid: Number(value) })
    case PCP_ATTR_PROCESSID:
      return is({ pid: Number(value) })
    case PCP_ATTR_CONTAINER:
      return { ...requester, container: value }
    default:
      return requester
  }
}
