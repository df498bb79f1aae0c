/** What is wrong with a request whatever it is about, where node lets it pass. RFC 9112 §3.2, docs/security.md */
import type { IncomingMessage } from 'node:http'
import { page, type Reply } from './reply.ts'
import { MAX_TEXT_BODY } from './request.ts'

/** Where a request to a proxy leads, and what is behind that. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i

/**
 * Puts the target of a request into its usual form: one of a whole URL, as clients send it to a proxy, is for the host in it, whatever `Host`
 * says. Returns what to answer a request that is none: two hosts may be two things to two readers, and too long a body is not waited for.
 */
export function admit(message: IncomingMessage): Reply | undefined {
  if (hasTwoHosts(message.rawHeaders)) return page(400, 'http', 'there is more than one Host')
  const { headers, url = '/' } = message
  if (Number(headers['content-length'] ?? 0) > MAX_TEXT_BODY)
    return page(400, 'http', `the body has more than ${MAX_TEXT_BODY} bytes`)
  if (url.startsWith('/')) return undefined
  const [whole, host, rest = ''] = ABSOLUTE.exec(url) ?? []
  if (whole === undefined) return undefined
  message.url = rest.startsWith('/') ? rest : `/${rest}`
  headers.host = host
  return undefined
}

/** Names and values in turn. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  return hosts > 1
}
