/** Who a request is from. RFC 7617, docs/pmproxy.md */
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import type { Login } from '../hosts.ts'
import type { Services } from '../services.ts'

/** The user and password of a Basic header; null when it is none. */
export function loginOf(header: string | undefined): Login | undefined | null {
  if (header === undefined) return undefined
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? []
  if (encoded === undefined) return /^Basic\b/i.test(header) ? null : undefined
  const text = decodeText(Buffer.from(encoded, 'base64'))
  const colon = text.indexOf(':')
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

/**
 * Where requests have to name a user: has this one been let in by the collector, who alone knows passwords? PM_ERR_PERMISSION without one, what the
 * collector refuses with otherwise.
 */
export async function insistOnUser({ config, contexts }: Services, login: Login | undefined): Promise<void> {
  if (!config.requiresUser) return
  if (login === undefined) throw new PcpError('PM_ERR_PERMISSION', 'authentication required')
  const [host = 'local:'] = config.offeredHosts
  await (await contexts.open({ host, login })).close()
}
