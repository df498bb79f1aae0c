/** Whose page a request comes from. docs/pmproxy.md */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { isLoopback } from '../../net/loopback.ts'

/** What is looked at of a request. */
export interface Asker {
  readonly headers: IncomingHttpHeaders
  /** Who is at the other end; undefined for a unix socket. */
  readonly address: string | undefined
}

/**
 * Does a request come from a page of this server, or from no page at all? One that reaches us over loopback has to name this machine, or one of
 * `names`, when there are any all have to: a name of somebody else's that leads here would make their page one of ours.
 */
export function isOurs({ headers, address }: Asker, names: readonly string[]): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if ((isLoopback(address) || names.length > 0) && !isName(host, names)) return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}

/** Headers that forwarders add to the requests they pass on. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

/**
 * Checks whether a request that `isOurs` accepts is from a browser on this machine. With another name in `Host`, or the headers of a forwarder, it
 * may be from anywhere.
 */
export function isLocalPage({ headers, address }: Asker): boolean {
  return (
    isLoopback(address) &&
    isName(headers.host ?? '', []) &&
    FORWARDED.every((name) => headers[name] === undefined)
  )
}

function isName(host: string, names: readonly string[]): boolean {
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  return (
    name === '' ||
    isIP(name) !== 0 ||
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === hostname().toLowerCase() ||
    names.includes(name)
  )
}
