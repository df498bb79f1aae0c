/** Whose page a request comes from. docs/pmproxy.md */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { isLoopback } from '../../net/loopback.ts'

/**
 * Does a request come from a page of this server, or from no page at all? One that reaches us over loopback has to name this machine: a name of
 * somebody else's that leads here would make their page one of ours.
 */
export function isOurs(
  { origin, host = '', 'sec-fetch-site': site }: IncomingHttpHeaders,
  address: string | undefined,
): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (isLoopback(address) && !namesThisMachine(host)) return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}

function namesThisMachine(host: string): boolean {
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  return (
    name === '' ||
    isIP(name) !== 0 ||
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === hostname().toLowerCase()
  )
}
