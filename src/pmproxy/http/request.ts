/** A request as routes see it. docs/pmproxy.md */
import type { IncomingMessage } from 'node:http'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import type { Asker } from './origin.ts'
import { decodePercent, Query } from './query.ts'

/** What the server was asked. */
export interface WebRequest extends Asker {
  /** Decoded, without the query. */
  readonly path: string
  readonly query: Query
  /** The configured origin of the page; undefined for our own pages and other clients. */
  readonly origin: string | undefined
  /** Aborted when the client goes away; requests of one connection share it. */
  readonly signal: AbortSignal
  /** The body, once. E2BIG beyond `limit` bytes. */
  readonly body: (limit: number) => Promise<Uint8Array>
}

/** Longest URL; clients with more to say use POST. */
export const MAX_URL = 8192
/** Headers of a request, of which there have to be fewer. */
export const MAX_HEADERS = 128
/** Bytes of a body that carries parameters or definitions. */
export const MAX_TEXT_BODY: number = 1024 * 1024

/** Takes a request of node's server apart. `onBody` hears how many bytes of its body are kept. */
export function webRequest(
  message: IncomingMessage,
  signal: AbortSignal,
  origin: string | undefined,
  onBody: (bytes: number) => void,
): WebRequest {
  const { path, query } = targetOf(message.url ?? '/')
  // Not `...askerOf(message)`: V8 takes long to add members to a copy.
  const { method, headers, address, reached, port, version } = askerOf(message)
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
export function askerOf({ method = 'GET', headers, socket, httpVersion: version }: IncomingMessage): Asker {
  const { remoteAddress: address, localAddress: reached, localPort: port } = socket
  return { method, headers, address, reached, port, version }
}

/** Path and parameters of a URL. */
export function targetOf(url: string): Pick<WebRequest, 'path' | 'query'> {
  const question = url.indexOf('?')
  return {
    path: decodePercent(question < 0 ? url : url.slice(0, question)),
    query: new Query(question < 0 ? '' : url.slice(question + 1)),
  }
}

/** The body as text; '' without one. E2BIG beyond a megabyte. */
export async function textBody(request: WebRequest): Promise<string> {
  return request.method === 'POST' ? decodeText(await request.body(MAX_TEXT_BODY)) : ''
}

async function readBody(
  message: IncomingMessage,
  limit: number,
  onBody: (bytes: number) => void,
): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message) {
    size += (chunk as Buffer).length
    if (size > limit) throw new PcpError('E2BIG', `The body has more than ${limit} bytes`)
    onBody(size)
    chunks.push(chunk as Buffer)
  }
  const [only] = chunks
  return chunks.length === 1 ? only! : Buffer.concat(chunks, size)
}
