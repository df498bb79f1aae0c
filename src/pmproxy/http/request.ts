/** Requests as routes see them. docs/reference/pmproxy.md */
import type { IncomingMessage } from 'node:http'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import type { RequestOrigin } from './origin.ts'
import { decodePercent, Query } from './query.ts'

/** A request. */
export interface WebRequest extends RequestOrigin {
  /** Decoded, without the query. */
  readonly path: string
  readonly query: Query
  /** The configured origin of the page; undefined for this server's pages and other clients. */
  readonly origin: string | undefined
  /** Aborted when the client disconnects; requests of one connection share it. */
  readonly signal: AbortSignal
  /** Reads the body, once. E2BIG beyond `limit` bytes. */
  readonly body: (limit: number) => Promise<Uint8Array>
}

/** Maximum length of a URL; longer queries use POST. */
export const MAX_URL = 8192
/** Requests must have fewer headers than this. */
export const MAX_HEADERS = 128
/** Maximum size of a body with parameters or definitions. */
export const MAX_TEXT_BODY: number = 1024 * 1024

/** Converts a node request. `onBody` gets the number of body bytes in memory. */
export function webRequest(
  message: IncomingMessage,
  signal: AbortSignal,
  origin: string | undefined,
  onBody: (bytes: number) => void,
): WebRequest {
  const { path, query } = targetOf(message.url ?? '/')
  // Not `...requestOriginOf(message)`, because adding members to a copy is slow in V8.
  const { method, headers, address, reached, port, version } = requestOriginOf(message)
  return {
    method,
    headers,
    address,
    reached,
    port,
    version,
    path,
    query,
    origin,
    signal,
    body: (limit) => readBody(message, limit, onBody),
  }
}

/** Returns headers and addresses of a message. */
export function requestOriginOf({
  method = 'GET',
  headers,
  socket,
  httpVersion: version,
}: IncomingMessage): RequestOrigin {
  const { remoteAddress: address, localAddress: reached, localPort: port } = socket
  return { method, headers, address, reached, port, version }
}

/** Splits a URL into path and parameters. */
export function targetOf(url: string): Pick<WebRequest, 'path' | 'query'> {
  const question = url.indexOf('?')
  return {
    path: decodePercent(question < 0 ? url : url.slice(0, question)),
    query: new Query(question < 0 ? '' : url.slice(question + 1)),
  }
}

/** Reads the body as text; '' without one. E2BIG beyond a megabyte. */
export async function textBody(request: WebRequest): Promise<string> {
  return request.method === 'POST' ? decodeText(await request.body(MAX_TEXT_BODY)) : ''
}

/** Returns the parameters of a URL or of a form body, for long queries. E2BIG beyond a megabyte. */
export async function formQuery(request: WebRequest): Promise<Query> {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')
  return isForm && request.method === 'POST' ? new Query(await textBody(request)) : request.query
}

async function readBody(
  message: IncomingMessage,
  limit: number,
  onBody: (bytes: number) => void,
): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of message) {
      size += (chunk as Buffer).length
      if (size > limit) throw new PcpError('E2BIG', `The body has more than ${limit} bytes`)
      onBody(size)
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    if (error instanceof PcpError) throw error
    throw new PcpError('PM_ERR_IPC', 'The client disconnected before the end of the body', { cause: error })
  }
  const [only] = chunks
  return chunks.length === 1 ? only! : Buffer.concat(chunks, size)
}
