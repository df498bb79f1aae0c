/** Turns requests into responses: runs the route, compresses, adds headers. docs/reference/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import { answer } from '../routes.ts'
import type { Services } from '../services.ts'
import { type Coding, chooseCoding, compress } from './encode.ts'
import { BUSY_HEADERS, failure, page, type Reply } from './reply.ts'
import type { WebRequest } from './request.ts'

/** Headers by name. */
export type Headers = Readonly<Record<string, string>>
/** Alternating names and values, ten times faster than merging objects. docs/decisions/web-server.md */
export type HeaderList = readonly string[]

/** A response, without what its connection adds. */
export interface Outgoing {
  readonly status: number
  /** Includes Content-Length, unless the status is 304. */
  readonly headers: HeaderList
  readonly content: string | Uint8Array
  /** Bytes of the content. */
  readonly size: number
  /** Call it when the client has read the response or disconnected. */
  readonly done: () => void
}

/** Headers that pages of other origins may always send. */
const ALLOWED_HEADERS = ['Accept', 'Accept-Language', 'Content-Language', 'Content-Type']
/** Prevents pages of other origins from embedding the response, even as an image. */
const OWN_HEADERS: HeaderList = ['Cross-Origin-Resource-Policy', 'same-origin']

/** Returns headers that let pages of a configured origin read a response. */
export function corsHeaders(origin: string, { config }: Services): Headers {
  return {
    'Access-Control-Allow-Origin': origin,
    Vary: 'Origin',
    'Access-Control-Allow-Headers': [...ALLOWED_HEADERS, ...config.allowedHeaders].join(', '),
    'Access-Control-Max-Age': String(config.corsMaxAge),
  }
}

const NOT_MODIFIED = 304

function listed(headers: Headers): HeaderList {
  return Object.entries(headers).flat()
}

/** Runs the route of a request and returns the response. */
export async function respond(request: WebRequest, services: Services): Promise<Outgoing> {
  const reply = await answer(request, services).catch((error: unknown) => {
    const known = PcpError.from(error)
    // A defect in the server is logged; the client gets no details.
    if (!(error instanceof PcpError))
      services.log.notice('error', `${request.method} ${request.path}: ${(error as Error).stack ?? error}`)
    return failure(known)
  })
  const { origin } = request
  return outgoing(
    reply,
    request,
    origin === undefined ? OWN_HEADERS : listed(corsHeaders(origin, services)),
    services,
  )
}

/** Turns a reply into a response, with `more` headers. 503 while too many large responses are unread. */
export async function outgoing(
  { status, type, body, headers, coding: known }: Reply,
  request: Pick<WebRequest, 'method' | 'headers'>,
  more: HeaderList,
  services: Services,
): Promise<Outgoing> {
  const { statistics, unread } = services
  if (status >= 400) statistics.failures++
  let content = body
  let size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const all = [...more, 'X-Content-Type-Options', 'nosniff']
  // A response without content has the headers of a file that the client knows.
  if (status !== NOT_MODIFIED) all.push('Content-Type', type)
  if (headers !== undefined) all.push(...listed(headers))
  const coding = known ?? chooseCoding(request.headers['accept-encoding'], size)
  if (coding !== undefined && coding !== 'identity') {
    if (coding !== known) content = await compress(body, coding as Coding)
    size = content.length
    all.push('Content-Encoding', coding)
    if (known === undefined) all.push('Vary', 'Accept-Encoding')
    statistics.compressedCount++
    statistics.compressedBytes += size
  } else {
    statistics.uncompressedCount++
    statistics.uncompressedBytes += size
  }
  const done = unread.admit(request.method === 'HEAD' ? 0 : size)
  if (done === undefined)
    return outgoing(page(503, 'http', 'too many unread responses'), request, listed(BUSY_HEADERS), services)
  if (status !== NOT_MODIFIED) all.push('Content-Length', String(size))
  return { status, headers: all, content, size, done }
}
