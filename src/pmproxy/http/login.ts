/** Who a request is from. RFC 7617, RFC 6750, docs/pmproxy.md */
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import type { Services } from '../services.ts'
import { isNamed, type Login, type WebUser } from '../web-user.ts'
import { type Asker, isLocalPage } from './origin.ts'

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i
const BEARER = /^Bearer +([\w.~+/-]{1,256}=*)$/i

/** Reads the user from the Authorization header; null for a malformed header or a wrong key. Other schemes are ignored, as in PCP. */
export function userOf(
  { headers, address: from }: Pick<Asker, 'headers' | 'address'>,
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

/** Reads the user as `userOf`; a page in a browser on this machine is a guest without a login. */
export function pageUserOf(asker: Asker, services: Services): WebUser | null {
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

/** Takes the same time wherever the two differ. */
function isSameKey(given: string, key: string): boolean {
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(key))
}

/**
 * Where requests have to name a user, and before a user of an archive is believed: has this one been let in by the collector, who alone knows passwords?
 * PM_ERR_PERMISSION without one, what the collector refuses with otherwise.
 */
export async function insistOnUser(
  { config, contexts }: Services,
  user: WebUser,
  isOfArchive: boolean,
): Promise<void> {
  if (!config.requiresUser && !(isOfArchive && user.kind === 'login')) return
  if (!isNamed(user)) throw new PcpError('PM_ERR_PERMISSION', 'authentication required')
  const [host = 'local:'] = config.offeredHosts
  await (await contexts.open({ host, user })).close()
}
