/** Checks of requests that node does not make. RFC 9112 §3.2, docs/explanation/security.md */
import type { IncomingMessage } from 'node:http'
import { page, type Reply } from './reply.ts'
import { MAX_TEXT_BODY } from './request.ts'

/** Parts of pushed archives, whose route has a larger limit. */
const PUSHED = /^\/logger\/(?:meta|index|volume)\//
/** Splits a request target in absolute form into host and path. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i

/**
 * Rewrites a target in absolute form, as sent to proxies, to a path; its host replaces `Host`. Returns an error response for a request with
 * two hosts, which readers could interpret differently, or with a body that is too long.
 */
export function validateRequest(message: IncomingMessage): Reply | undefined {
  if (hasTwoHosts(message.rawHeaders)) return page(400, 'http', 'more than one Host header')
  const { headers, url = '/' } = message
  if (Number(headers['content-length'] ?? 0) > MAX_TEXT_BODY && !PUSHED.test(url))
    return page(400, 'http', `the body has more than ${MAX_TEXT_BODY} bytes`)
  if (url.startsWith('/')) return undefined
  const [whole, host, rest = ''] = ABSOLUTE.exec(url) ?? []
  if (whole === undefined) return undefined
  message.url = rest.startsWith('/') ? rest : `/${rest}`
  headers.host = host
  return undefined
}

/** `rawHeaders` alternates names and values. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  return hosts > 1
}
