/** Identifies the user of a request. RFC 7617, RFC 6750, docs/reference/pmproxy.md */
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import type { Services } from '../services.ts'
import { isNamed, type Login, type WebUser } from '../web-user.ts'
import { isLocalPage, type RequestOrigin } from './origin.ts'

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i
const BEARER = /^Bearer +([\w.~+/-]{1,256}=*)$/i

/** Reads the user from the Authorization header; null for a malformed header or a wrong key. Other schemes are ignored, as in PCP. */
export function userOf(
  { headers, address: from }: Pick<RequestOrigin, 'headers' | 'address'>,
  services: Services,
): WebUser | null {
  const header = headers.authorization
  if (header === undefined) return { kind: 'unknown', from }
  if (/^Basic\b/i.test(header)) {
    const login = loginOf(header)
    return login === undefined ? null : { kind: 'login', ...login, from }
  }
  if (!/^Bearer\b/i.test(header) || services.ownerKey === undefined) return { kind: 'unknown', from }
  const [, key = ''] = BEARER.exec(header) ?? []
  return isSameKey(key, services.ownerKey) ? { kind: 'owner', from } : null
}

/** Like `userOf`, but returns a guest for a page without a login in a browser on this machine. */
export function pageUserOf(asker: RequestOrigin, services: Services): WebUser | null {
  const user = userOf(asker, services)
  return user?.kind === 'unknown' && isLocalPage(asker) ? { kind: 'guest', from: user.from } : user
}

function loginOf(header: string): Login | undefined {
  const [, encoded] = BASIC.exec(header) ?? []
  if (encoded === undefined) return undefined
  const text = decodeText(Buffer.from(encoded, 'base64'))
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** Compares in constant time. */
function isSameKey(given: string, key: string): boolean {
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(key))
}

/**
 * Checks with the collector, which alone knows passwords, that the login is valid: for servers that require a user, and before a user may see
 * processes in archives. PM_ERR_PERMISSION without a login, else the collector's error.
 */
export async function requireUser(
  { config, contexts }: Services,
  user: WebUser,
  isOfArchive: boolean,
): Promise<void> {
  if (!config.requiresUser && !(isOfArchive && user.kind === 'login')) return
  if (!isNamed(user)) throw new PcpError('PM_ERR_PERMISSION', 'authentication required')
  const [host = 'local:'] = config.offeredHosts
  await (await contexts.open({ host, user })).close()
}
