/**
 * Requests that can be understood at a glance, as monitors send them: a GET that came whole and in one piece, without a body, with nothing in its
 * headers that changes how it or the connection is to be read. Everything else is left to node's parser. RFC 9112
 */

/** A request line and headers; names of headers in lower case. */
export interface PlainRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Bytes of a request and headers in it; those with more are rare. */
const MOST_BYTES = 4096
const MOST_HEADERS = 32

const REQUEST_LINE = /^GET (\/[!-~]*) HTTP\/1\.1$/
const HEADER = /^([A-Za-z0-9-]+):[ \t]*([!-~](?:[\t -~]*[!-~])?)$/

/** What says that there is a body, or that something else than the next request follows. */
const SPECIAL: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Understands a request, or returns undefined for one that needs more than a look. */
export function plainRequest(text: string): PlainRequest | undefined {
  if (text.length > MOST_BYTES || !text.endsWith('\r\n\r\n')) return undefined
  const [first = '', ...lines] = text.slice(0, -4).split('\r\n', MOST_HEADERS + 2)
  const url = REQUEST_LINE.exec(first)?.[1]
  if (url === undefined || lines.length > MOST_HEADERS) return undefined
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? []
    const key = name.toLowerCase()
    // No name: an empty line in the middle, where another request begins.
    if (name === '' || key in headers) return undefined
    if (SPECIAL.has(key) && !(key === 'connection' && /^keep-alive$/i.test(value))) return undefined
    headers[key] = value
  }
  return headers['host'] === undefined ? undefined : { url, headers }
}
