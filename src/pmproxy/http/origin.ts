/**
 * Restricts requests to pages of this server and of configured origins. A request from any other page, or for a host that is not this machine,
 * gets 403 on every route. docs/explanation/security.md
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '../../net/loopback.ts'
import type { ProxyConfig } from '../config.ts'
import type { RefusedHosts } from '../refused-hosts.ts'
import { hostIn, isLocalAddress, isThisMachine } from './machine-names.ts'

/** Where a request comes from: headers and addresses. */
export interface RequestOrigin {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Remote address; undefined for a unix socket. */
  readonly address: string | undefined
  /** Local address of the connection; undefined for a unix socket. */
  readonly reached: string | undefined
  /** Local port. */
  readonly port: number | undefined
  /** HTTP version: 1.1. */
  readonly version: string
}

/** Settings about names and origins. */
export type OriginRules = Pick<ProxyConfig, 'names' | 'origins'>

/** Services that origin checks need. */
export interface OriginServices {
  readonly config: OriginRules
  readonly refusedHosts: Pick<RefusedHosts, 'report'>
}

/** Kind of origin, or why the request is refused. */
export type OriginCheck =
  /** A page of this server, or a client other than a browser. */
  | { readonly kind: 'own' }
  /** A page of another origin links to this server, which may only open the page. */
  | { readonly kind: 'link' }
  /** A page of a configured origin. */
  | { readonly kind: 'shared'; readonly origin: string }
  /** `host`: a name not known to be this machine. */
  | { readonly kind: 'refused'; readonly why: string; readonly host?: string }

const OWN: OriginCheck = { kind: 'own' }
const LINK: OriginCheck = { kind: 'link' }

/**
 * Classifies a request. Its host must be this machine or one of `names`; otherwise a page could pass as same-origin by a name that resolves to
 * this machine (DNS rebinding).
 */
export function checkOrigin(asker: RequestOrigin, { names, origins }: OriginRules): OriginCheck {
  const { headers, method, reached } = asker
  const { origin, host: header = '', referer, 'sec-fetch-site': site } = headers
  const host = hostIn(header)
  // Browsers always send a Host header.
  const isNamed = host === '' || isThisMachine(host) || names.includes(host) || isLocalAddress(host, reached)
  if (!isNamed) return refusedName(host)
  if (origin !== undefined && !isSite(origin, header)) {
    if (isListed(origin, origins)) return { kind: 'shared', origin }
    return refused(
      'requests from pages of other origins are refused; allow them with origins in [ui] of pmproxy.conf',
    )
  }
  const isForeign =
    site === undefined
      ? origin === undefined && referer !== undefined && !isSite(referer, header)
      : site !== 'same-origin' && site !== 'none'
  if (!isForeign) return OWN
  const isDocument = site === undefined || headers['sec-fetch-dest'] === 'document'
  const isLink = isDocument && (method === 'GET' || method === 'HEAD')
  return isLink ? LINK : refused('requests from pages of other origins are refused')
}

/** Like `checkOrigin`, but logs each refused host, because an administrator otherwise only sees a client's 403. */
export function checkOriginAndLog(
  asker: RequestOrigin,
  { config, refusedHosts }: OriginServices,
): OriginCheck {
  const provenance = checkOrigin(asker, config)
  if (provenance.kind !== 'refused' || provenance.host === undefined) return provenance
  const { host } = provenance
  refusedHosts.report(
    host,
    `Refused requests for "${host}", which is not known to be this machine; to allow them, add names = ${host} in [ui] of pmproxy.conf`,
  )
  return provenance
}

/**
 * Checks whether a modifying request was sent on purpose. Over plain HTTP to another machine, browsers send neither `Sec-Fetch-Site` nor an
 * Origin with an image, and a page may suppress Referer, but it cannot change User-Agent. So a browser must prove that the request is
 * from one of this server's pages.
 */
export function isDeliberate({ headers }: Pick<RequestOrigin, 'headers'>): boolean {
  const { 'user-agent': agent = '', 'sec-fetch-site': site, origin, host = '' } = headers
  if (!/^Mozilla\//i.test(agent)) return true
  return site === 'same-origin' || site === 'none' || (origin !== undefined && isSite(origin, host))
}

function refused(why: string): OriginCheck {
  return { kind: 'refused', why }
}

/** Returns a refusal. The name is only repeated if it is a valid host name, because the response is an HTML page. */
function refusedName(name: string): OriginCheck {
  const host = /^[\w.:-]{1,253}$/.test(name) ? name : 'NAME'
  const why = `the host in this request is not known to be this machine; allow it with names = ${host} in [ui] of pmproxy.conf`
  return { kind: 'refused', why, host }
}

/** Checks whether a URL has the host and port of a Host header. */
function isSite(url: string, host: string): boolean {
  return URL.canParse(url) && new URL(url).host === host.toLowerCase()
}

function isListed(origin: string, origins: readonly string[]): boolean {
  return origins.includes('*') || origins.includes(origin.toLowerCase())
}

/** Headers added by forwarders. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

/** Ports that a Host header may omit. */
const DEFAULT_PORTS: readonly number[] = [80, 443]

/**
 * Checks whether a request of this server's pages is from a browser on this machine. Another name or port in `Host`, headers of a forwarder,
 * or HTTP/1.0, which forwarders use but browsers do not, mean that it may be from anywhere.
 */
export function isLocalPage({ headers, address, port, version }: RequestOrigin): boolean {
  const { host = '' } = headers
  return (
    isLoopback(address) &&
    version === '1.1' &&
    isThisMachine(hostIn(host)) &&
    hasPort(host, port) &&
    FORWARDED.every((name) => headers[name] === undefined)
  )
}

/** Checks whether a Host header names this port. */
function hasPort(host: string, port: number | undefined): boolean {
  const [, named] = /:(\d+)$/.exec(host.replace(/^\[.*\]/, '')) ?? []
  return port !== undefined && (named === undefined ? DEFAULT_PORTS.includes(port) : Number(named) === port)
}
