/**
 * Restricts requests to pages of this server and of configured origins. A request from any other page, or for a host that is not this machine,
 * gets 403 on every route. docs/security.md
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '../../net/loopback.ts'
import type { ProxyConfig } from '../config.ts'
import type { RefusedHosts } from '../refused-hosts.ts'
import { hostIn, isOwnAddress, isThisMachine } from './own-names.ts'

/** Origin of a request: headers and addresses. */
export interface Asker {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Address of the other end; undefined for a unix socket. */
  readonly address: string | undefined
  /** Our address that the connection came in on; undefined for a unix socket. */
  readonly reached: string | undefined
  /** The port of that address. */
  readonly port: number | undefined
  /** Version of HTTP: 1.1. */
  readonly version: string
}

/** Settings about names and origins. */
export type OriginRules = Pick<ProxyConfig, 'names' | 'origins'>

/** What a check of origins needs of a server. */
export interface OriginServices {
  readonly config: OriginRules
  readonly refusedHosts: Pick<RefusedHosts, 'report'>
}

/** Whose request it is, or why it is refused. */
export type Provenance =
  /** A page of this server, or a client other than a browser. */
  | { readonly kind: 'own' }
  /** A link to this server on a page of others: may open the page. */
  | { readonly kind: 'link' }
  /** A page of a configured origin. */
  | { readonly kind: 'shared'; readonly origin: string }
  /** `host`: a name that is not known to be this machine. */
  | { readonly kind: 'refused'; readonly why: string; readonly host?: string }

const OWN: Provenance = { kind: 'own' }
const LINK: Provenance = { kind: 'link' }

/**
 * Finds out where a request is from. The host it names must be this machine, or one of `names`: otherwise a page could reach us as same-origin
 * by a name that resolves to this machine (DNS rebinding).
 */
export function provenanceOf(asker: Asker, { names, origins }: OriginRules): Provenance {
  const { headers, method, reached } = asker
  const { origin, host: header = '', referer, 'sec-fetch-site': site } = headers
  const host = hostIn(header)
  // Browsers always name one.
  const isNamed = host === '' || isThisMachine(host) || names.includes(host) || isOwnAddress(host, reached)
  if (!isNamed) return refusedName(host)
  if (origin !== undefined && !isSite(origin, header)) {
    if (isListed(origin, origins)) return { kind: 'shared', origin }
    return refused('pages of other origins are refused; origins in [ui] of pmproxy.conf allows them')
  }
  const isForeign =
    site === undefined
      ? origin === undefined && referer !== undefined && !isSite(referer, header)
      : site !== 'same-origin' && site !== 'none'
  if (!isForeign) return OWN
  const isDocument = site === undefined || headers['sec-fetch-dest'] === 'document'
  const isLink = isDocument && (method === 'GET' || method === 'HEAD')
  return isLink ? LINK : refused('requests of pages of other origins are refused')
}

/** Returns the result of `provenanceOf`, and logs each host that is refused: an administrator sees no more of it than a 403 of a client. */
export function reportedProvenance(asker: Asker, { config, refusedHosts }: OriginServices): Provenance {
  const provenance = provenanceOf(asker, config)
  if (provenance.kind !== 'refused' || provenance.host === undefined) return provenance
  const { host } = provenance
  refusedHosts.report(
    host,
    `Requests for "${host}" are refused, which is not known to be this machine: add names = ${host} in [ui] of pmproxy.conf`,
  )
  return provenance
}

/**
 * Checks whether a request that changes something was sent on purpose. Over plain HTTP to another machine browsers send neither `Sec-Fetch-Site`
 * nor an Origin with an image, and a page may leave out Referer. It cannot change User-Agent there, so a browser has to show that one of our
 * pages asks.
 */
export function isDeliberate({ headers }: Pick<Asker, 'headers'>): boolean {
  const { 'user-agent': agent = '', 'sec-fetch-site': site, origin, host = '' } = headers
  if (!/^Mozilla\//i.test(agent)) return true
  return site === 'same-origin' || site === 'none' || (origin !== undefined && isSite(origin, host))
}

function refused(why: string): Provenance {
  return { kind: 'refused', why }
}

/** The name is repeated only where it can be one: the answer is a page. */
function refusedName(name: string): Provenance {
  const host = /^[\w.:-]{1,253}$/.test(name) ? name : 'NAME'
  const why = `the host in this request is not known to be this machine; names = ${host} in [ui] of pmproxy.conf allows it`
  return { kind: 'refused', why, host }
}

/** Is a URL on the host of a Host header, port included? */
function isSite(url: string, host: string): boolean {
  return URL.canParse(url) && new URL(url).host === host.toLowerCase()
}

function isListed(origin: string, origins: readonly string[]): boolean {
  return origins.includes('*') || origins.includes(origin.toLowerCase())
}

/** Headers that forwarders add to the requests they pass on. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

/** Ports that a Host header leaves out. */
const DEFAULT_PORTS: readonly number[] = [80, 443]

/**
 * Checks whether a request of our own pages is from a browser on this machine. It may be from anywhere with another name or port in `Host`, with
 * the headers of a forwarder, or over HTTP/1.0, which no browser uses but forwarders do.
 */
export function isLocalPage({ headers, address, port, version }: Asker): boolean {
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
