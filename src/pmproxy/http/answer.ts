/** From requests to what is sent: what routes say, compressed where the client wants it, with the headers that go with it. docs/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import { answer } from '../routes.ts'
import type { Services } from '../services.ts'
import { chooseCoding, compress } from './encode.ts'
import { BUSY_HEADERS, failure, page, type Reply } from './reply.ts'
import type { WebRequest } from './request.ts'

/** Headers by name. */
export type Headers = Readonly<Record<string, string>>
/** Names and values in turn, which costs a tenth of an object put together from others. docs/decisions/web-server.md */
export type HeaderList = readonly string[]

/** An answer as it leaves, but for what its connection adds. */
export interface Outgoing {
  readonly status: number
  /** Content-Length is among them. */
  readonly headers: HeaderList
  readonly content: string | Uint8Array
  /** Bytes of the content. */
  readonly size: number
  /** To be called when it has been read, or its reader is gone. */
  readonly done: () => void
}

/** Headers that pages of other origins may send without being configured. */
const ALLOWED_HEADERS = ['Accept', 'Accept-Language', 'Content-Language', 'Content-Type']
/** Pages of other origins may not even make an image of it. */
const OWN_HEADERS: HeaderList = ['Cross-Origin-Resource-Policy', 'same-origin']

/** Headers that let pages of a configured origin read an answer. */
export function sharing(origin: string, { config }: Services): Headers {
  return {
    'Access-Control-Allow-Origin': origin,
    Vary: 'Origin',
    'Access-Control-Allow-Headers': [...ALLOWED_HEADERS, ...config.allowedHeaders].join(', '),
    'Access-Control-Max-Age': String(config.corsMaxAge),
  }
}

function listed(headers: Headers): HeaderList {
  return Object.entries(headers).flat()
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
  const { origin } = request
  return outgoing(
    reply,
    request,
    origin === undefined ? OWN_HEADERS : listed(sharing(origin, services)),
    services,
  )
}

/** Makes a reply to a request ready to be sent, with `more` headers. 503 while too many large ones have not been read. */
export async function outgoing(
  { status, type, body, headers }: Reply,
  request: Pick<WebRequest, 'method' | 'headers'>,
  more: HeaderList,
  services: Services,
): Promise<Outgoing> {
  const { statistics, unread } = services
  if (status >= 400) statistics.failures++
  let content = body
  let size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const all = [...more, 'X-Content-Type-Options', 'nosniff', 'Content-Type', type]
  if (headers !== undefined) all.push(...listed(headers))
  const coding = chooseCoding(request.headers['accept-encoding'], size)
  if (coding !== undefined) {
    content = await compress(body, coding)
    size = content.length
    all.push('Content-Encoding', coding, 'Vary', 'Accept-Encoding')
    statistics.compressedCount++
    statistics.compressedBytes += size
  } else {
    statistics.uncompressedCount++
    statistics.uncompressedBytes += size
  }
  const done = unread.admit(request.method === 'HEAD' ? 0 : size)
  if (done === undefined)
    return outgoing(page(503, 'http', 'too much waits to be read'), request, listed(BUSY_HEADERS), services)
  all.push('Content-Length', String(size))
  return { status, headers: all, content, size, done }
}
