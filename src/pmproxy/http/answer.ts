/** From requests to what is sent: what routes say, compressed where the client wants it, with the headers that go with it. docs/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import type { ProxyConfig } from '../config.ts'
import { answer, isShared } from '../routes.ts'
import type { Services } from '../services.ts'
import { chooseCoding, compress } from './encode.ts'
import { BUSY_HEADERS, failure, page, type Reply } from './reply.ts'
import type { WebRequest } from './request.ts'

/** Headers by name. */
export type Headers = Readonly<Record<string, string>>

/** An answer as it leaves, but for what its connection adds. */
export interface Outgoing {
  readonly status: number
  /** Content-Length is among them. */
  readonly headers: Headers
  readonly content: string | Uint8Array
  /** Bytes of the content. */
  readonly size: number
  /** To be called when it has been read, or its reader is gone. */
  readonly done: () => void
}

/** Headers that pages of other origins may send without being configured. */
const ALLOWED_HEADERS = ['Accept', 'Accept-Language', 'Content-Language', 'Content-Type']
/** Pages of other origins may not even make an image of it. */
const OWN_HEADERS: Headers = { 'Cross-Origin-Resource-Policy': 'same-origin' }
const sharedHeaders = new WeakMap<ProxyConfig, Headers>()

/** Headers that let pages of other origins read an answer. */
export function sharing({ config }: Services): Headers {
  const known = sharedHeaders.get(config)
  if (known !== undefined) return known
  const headers: Headers = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Headers': [...ALLOWED_HEADERS, ...config.allowedHeaders].join(', '),
    'Access-Control-Max-Age': String(config.corsMaxAge),
  }
  sharedHeaders.set(config, headers)
  return headers
}

/** What the routes say to a request, ready to be sent. */
export async function respond(request: WebRequest, services: Services): Promise<Outgoing> {
  const reply = await answer(request, services).catch((error: unknown) => {
    const known = PcpError.from(error)
    // A defect of ours, not of the request: told in the log, and to the client without details.
    if (!(error instanceof PcpError))
      services.log.notice('error', `${request.method} ${request.path}: ${(error as Error).stack ?? error}`)
    return failure(known)
  })
  return outgoing(reply, request, isShared(request.path) ? sharing(services) : OWN_HEADERS, services)
}

/** Makes a reply to a request ready to be sent, with `more` headers. 503 while too many large ones have not been read. */
export async function outgoing(
  { status, type, body, headers }: Reply,
  request: Pick<WebRequest, 'method' | 'headers'>,
  more: Headers,
  services: Services,
): Promise<Outgoing> {
  const { statistics, unread } = services
  if (status >= 400) statistics.failures++
  let content = body
  let size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const all: Record<string, string> = {
    ...more,
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Type': type,
  }
  const coding = chooseCoding(request.headers['accept-encoding'], size)
  if (coding !== undefined) {
    content = await compress(body, coding)
    size = content.length
    all['Content-Encoding'] = coding
    all['Vary'] = 'Accept-Encoding'
    statistics.compressedCount++
    statistics.compressedBytes += size
  } else {
    statistics.uncompressedCount++
    statistics.uncompressedBytes += size
  }
  const done = unread.admit(request.method === 'HEAD' ? 0 : size)
  if (done === undefined)
    return outgoing(page(503, 'http', 'too much waits to be read'), request, BUSY_HEADERS, services)
  all['Content-Length'] = String(size)
  return { status, headers: all, content, size, done }
}
