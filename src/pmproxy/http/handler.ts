/** HTTP: from node's requests to ours, from replies to bytes. docs/pmproxy.md */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { debug, trace } from '../../model/debug.ts'
import { PcpError } from '../../model/errors.ts'
import type { ProxyConfig } from '../config.ts'
import { apiRoute } from '../routes/pmapi.ts'
import { answer, isShared } from '../routes.ts'
import type { Services } from '../services.ts'
import { chooseCoding, compress } from './encode.ts'
import { failure, page, type Reply } from './reply.ts'
import { MAX_HEADERS, MAX_URL, type WebRequest, webRequest } from './request.ts'

/** Headers that pages of other origins may send without being configured. */
const ALLOWED_HEADERS = ['Accept', 'Accept-Language', 'Content-Language', 'Content-Type']
const READING = 'GET, HEAD, TRACE, OPTIONS'
const WRITING = 'GET, HEAD, POST, TRACE, OPTIONS'

/** Answers one request; never rejects. */
export async function handle(
  message: IncomingMessage,
  response: ServerResponse,
  services: Services,
): Promise<void> {
  const { statistics, log } = services
  statistics.requests++
  const client = clientAt(message.socket)
  const { gone } = client
  if (client.requests >= services.limits.pipelined) return void message.socket.destroy()
  client.requests++
  try {
    const url = message.url ?? ''
    if (url.length >= MAX_URL)
      return await send(message, response, page(414, 'unknown', 'request URL too long'), NO_HEADERS, services)
    // Names and values in turn. Node itself would leave out what is too much.
    if (message.rawHeaders.length >= 2 * MAX_HEADERS)
      return await send(message, response, page(431, 'unknown', 'too many headers'), NO_HEADERS, services)
    const request = webRequest(message, gone)
    if (request.method === 'OPTIONS') return void preflight(request, url, response, services)
    if (request.method === 'TRACE')
      return await send(
        message,
        response,
        page(405, 'unknown', 'TRACE is not answered'),
        NO_HEADERS,
        services,
      )
    const shared = isShared(request.path) ? sharing(services) : OWN_HEADERS
    const reply = await answer(request, services).catch((error: unknown) => {
      const known = PcpError.from(error)
      // A defect of ours, not of the request: told in the log, and to the client without details.
      if (!(error instanceof PcpError))
        log.notice('error', `${request.method} ${request.path}: ${(error as Error).stack ?? error}`)
      return failure(known)
    })
    await send(message, response, reply, shared, services)
  } catch (error) {
    // The client has gone, or sent a body that it did not finish.
    if (!gone.aborted) log.notice('warning', `An answer could not be sent: ${PcpError.from(error).message}`)
    response.destroy()
  } finally {
    client.requests--
  }
}

/** The other end of a connection. */
interface Client {
  /** Aborted when it goes away: one a connection, because one a request costs as much as answering it. */
  readonly gone: AbortSignal
  /** Requests that are being answered. */
  requests: number
}

const clients = new WeakMap<Socket, Client>()

function clientAt(socket: Socket): Client {
  const known = clients.get(socket)
  if (known !== undefined) return known
  const aborter = new AbortController()
  const client = { gone: aborter.signal, requests: 0 }
  clients.set(socket, client)
  socket.once('close', () => aborter.abort())
  return client
}

type Headers = Readonly<Record<string, string>>

const NO_HEADERS: Headers = {}
const BUSY_HEADERS: Headers = { 'Retry-After': '10' }
/** Pages of other origins may not even make an image of it. */
const OWN_HEADERS: Headers = { 'Cross-Origin-Resource-Policy': 'same-origin' }
const sharedHeaders = new WeakMap<ProxyConfig, Headers>()

/** Headers that let pages of other origins read an answer. */
function sharing({ config }: Services): Headers {
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

async function send(
  message: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  shared: Headers,
  services: Services,
): Promise<void> {
  const { status, type, body, headers } = reply
  const { statistics, unread } = services
  if (status >= 400) statistics.failures++
  // Node sends a text together with the headers, bytes by themselves.
  let content = body
  let size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const all: Record<string, string> = {
    ...shared,
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Type': type,
  }
  const coding = chooseCoding(message.headers['accept-encoding'], size)
  if (coding !== undefined) {
    const bytes = await compress(body, coding)
    content = bytes
    size = bytes.length
    all['Content-Encoding'] = coding
    all['Vary'] = 'Accept-Encoding'
    statistics.compressedCount++
    statistics.compressedBytes += size
  } else {
    statistics.uncompressedCount++
    statistics.uncompressedBytes += size
  }
  if (message.method !== 'HEAD' && !unread.admits(size, response))
    return send(message, response, page(503, 'http', 'too much waits to be read'), BUSY_HEADERS, services)
  all['Content-Length'] = String(size)
  // What is left of a body nobody read must not be taken for the next request.
  if (!message.complete) all['Connection'] = 'close'
  if (debug.http) trace('http', `${message.method} ${message.url} ${status}, ${size} bytes`)
  response.writeHead(status, all)
  response.end(message.method === 'HEAD' ? undefined : content)
}

/** What a browser asks before a page of another origin may ask. */
function preflight(request: WebRequest, url: string, response: ServerResponse, services: Services): unknown {
  const { headers, path } = request
  if (url === '*')
    return end(response, 200, { 'Access-Control-Allow-Methods': 'GET, PUT, HEAD, POST, TRACE, OPTIONS' })
  if (!isShared(path)) return end(response, path.startsWith('/ui') ? 403 : 404, {})
  const methods = takesPost(path) ? WRITING : READING
  const wanted = headers['access-control-request-method']
  if (wanted !== undefined && !methods.split(', ').includes(wanted)) return end(response, 405, {})
  const { 'Access-Control-Allow-Headers': allowed, ...rest } = sharing(services)
  const asked =
    headers['access-control-request-headers'] === undefined
      ? {}
      : { 'Access-Control-Allow-Headers': allowed! }
  return end(response, 200, {
    ...rest,
    'Access-Control-Allow-Origin': headers.origin ?? '*',
    'Access-Control-Allow-Methods': methods,
    ...asked,
  })
}

function takesPost(path: string): boolean {
  return apiRoute(path)?.route.takesBody === true || /^\/(?:series|logger)\//.test(path)
}

function end(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, { ...headers, 'Content-Length': '0' })
  response.end()
}
