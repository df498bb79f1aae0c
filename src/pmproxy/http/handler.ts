/** Connects node's HTTP requests to routes. docs/reference/pmproxy.md */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ByteAccount } from '../../base/byte-budget.ts'
import { debug, trace } from '../../model/debug.ts'
import { PcpError } from '../../model/errors.ts'
import { BusyPoll } from '../../net/busy-poll.ts'
import { apiRoute } from '../routes/pmapi.ts'
import { isCorsPath, isPageFile, isPagePath } from '../routes.ts'
import type { Services } from '../services.ts'
import { corsHeaders, type Outgoing, outgoing, respond } from './answer.ts'
import { checkOriginAndLog, type OriginCheck } from './origin.ts'
import { page, type Reply } from './reply.ts'
import { MAX_HEADERS, MAX_URL, requestOriginOf, type WebRequest, webRequest } from './request.ts'
import { NOT_COUNTED } from './unread.ts'
import { validateRequest } from './validate.ts'

/** Web requests take longer than requests to a collector, and wait for those: docs/decisions/staying-awake.md */
const busyPoll = new BusyPoll({ closeMs: 2, awakeMs: 0.4 })

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
  busyPoll.touch()
  const client = clientAt(message.socket)
  const { gone } = client
  if (client.requests >= services.limits.pipelined) return void message.socket.destroy()
  client.requests++
  client.earlier = client.last
  client.last = response
  let account: ByteAccount | undefined
  try {
    const misread = validateRequest(message)
    // The rest of the connection cannot be trusted to be a request.
    if (misread !== undefined) response.shouldKeepAlive = false
    const provenance = checkOriginAndLog(requestOriginOf(message), services)
    const origin = provenance.kind === 'shared' ? provenance.origin : undefined
    const request = webRequest(message, gone, origin, (bytes) => {
      account ??= openBody(message, services)
      account.setPassing(BODY_COPIES * bytes)
    })
    const refusal = misread ?? refusalOf(message) ?? refusalTo(provenance, request.path)
    if (refusal === undefined && request.method === 'OPTIONS')
      return void preflight(request, message.url ?? '', response, services)
    const answer = await (refusal === undefined
      ? respond(request, services)
      : outgoing(refusal, request, [], services))
    send(message, response, answer, client)
  } catch (error) {
    // The client has disconnected, or sent an incomplete body.
    if (!gone.aborted) log.notice('warning', `A response could not be sent: ${PcpError.from(error).message}`)
    response.destroy()
  } finally {
    if (account !== undefined) services.budget.close(account)
    client.requests--
    busyPoll.touch()
  }
}

/** Copies of a body in memory: its chunks, the whole, and the decoded text. */
const BODY_COPIES = 3

/** Accounts for a body until its request is answered. */
function openBody({ socket }: IncomingMessage, { budget }: Services): ByteAccount {
  const { remoteAddress } = socket
  return budget.open({
    name: `A request of ${remoteAddress ?? 'a unix socket'}`,
    group: remoteAddress ?? '',
    evict: () => socket.destroy(),
  })
}

/** State of a client's connection. */
interface Client {
  /** Aborted when it disconnects. One per connection, because one per request would cost as much as answering it. */
  readonly gone: AbortSignal
  /** Requests being answered. */
  requests: number
  /** The latest response, and the one before it. */
  last: ServerResponse | undefined
  earlier: ServerResponse | undefined
  /** Callbacks of unread responses. */
  readonly unread: Set<() => void>
}

const clients = new WeakMap<Socket, Client>()

function clientAt(socket: Socket): Client {
  const known = clients.get(socket)
  if (known !== undefined) return known
  const aborter = new AbortController()
  const client: Client = {
    ...{ gone: aborter.signal, requests: 0, unread: new Set() },
    ...{ last: undefined, earlier: undefined },
  }
  clients.set(socket, client)
  socket.once('close', () => {
    aborter.abort()
    for (const done of client.unread) done()
    client.unread.clear()
  })
  return client
}

/**
 * Runs `act` when the responses to all earlier requests of a connection were sent. Responses that node does not queue would otherwise
 * overtake those. Node applies no timeouts meanwhile; the connection is closed after `limitMs`.
 */
export function afterResponses(socket: Socket, limitMs: number, act: () => void): void {
  const { last, earlier } = clientAt(socket)
  // A request that is incomplete for good gets no other response.
  const previous = last === undefined || last.req.complete || last.writableEnded ? last : earlier
  if (previous === undefined || previous.writableFinished) {
    act()
    return
  }
  const timer = setTimeout(() => socket.destroy(), limitMs)
  socket.once('close', () => clearTimeout(timer))
  previous.once('finish', () => {
    clearTimeout(timer)
    if (socket.writable) act()
  })
}

/** Returns the error for a request that is invalid for any route. */
function refusalOf(message: IncomingMessage): Reply | undefined {
  if ((message.url ?? '').length >= MAX_URL) return page(414, 'unknown', 'request URL too long')
  // Node itself would silently drop excess headers.
  if (message.rawHeaders.length >= 2 * MAX_HEADERS) return page(431, 'unknown', 'too many headers')
  return message.method === 'TRACE' ? page(405, 'unknown', 'TRACE is not supported') : undefined
}

/** Returns the error for a request from an origin that may not use this path. */
function refusalTo(provenance: OriginCheck, path: string): Reply | undefined {
  if (provenance.kind === 'own') return undefined
  if (provenance.kind === 'refused') return page(403, 'http', provenance.why)
  const isAllowed = provenance.kind === 'shared' ? !isPagePath(path) : isPageFile(path)
  return isAllowed ? undefined : page(403, 'http', 'only pages of this server may use this')
}

function send(
  message: IncomingMessage,
  response: ServerResponse,
  { status, headers, content, size, done }: Outgoing,
  { gone, unread }: Client,
): void {
  if (debug.http) trace('http', `${message.method} ${message.url} ${status}, ${size} bytes`)
  if (gone.aborted) {
    done()
    return
  }
  if (done !== NOT_COUNTED) {
    // Node emits no event for a pipelined response that was never sent.
    unread.add(done)
    response.once('close', () => {
      if (unread.delete(done)) done()
    })
  }
  // The connection cannot be reused if part of the body was not read.
  response.writeHead(status, [...headers, ...(message.complete ? [] : ['Connection', 'close'])])
  // Node sends strings together with the headers, but bytes separately.
  response.end(message.method === 'HEAD' ? undefined : content)
}

/** Answers a CORS preflight request. */
function preflight(request: WebRequest, url: string, response: ServerResponse, services: Services): unknown {
  const { headers, path } = request
  if (url === '*')
    return end(response, 200, { 'Access-Control-Allow-Methods': 'GET, PUT, HEAD, POST, TRACE, OPTIONS' })
  if (!isCorsPath(path)) return end(response, path.startsWith('/ui') ? 403 : 404, {})
  const { origin } = request
  const methods = takesPost(path) ? WRITING : READING
  const wanted = headers['access-control-request-method']
  if (wanted !== undefined && !methods.split(', ').includes(wanted)) return end(response, 405, {})
  if (origin === undefined) return end(response, 200, { 'Access-Control-Allow-Methods': methods })
  const { 'Access-Control-Allow-Headers': allowed, ...rest } = corsHeaders(origin, services)
  const asked = headers['access-control-request-headers'] !== undefined
  return end(response, 200, {
    ...rest,
    'Access-Control-Allow-Methods': methods,
    ...(asked ? { 'Access-Control-Allow-Headers': allowed! } : {}),
  })
}

function takesPost(path: string): boolean {
  return apiRoute(path)?.route.takesBody === true || /^\/(?:series|logger)\//.test(path)
}

function end(response: ServerResponse, status: number, headers: Record<string, string>): void {
  response.writeHead(status, { ...headers, 'Content-Length': '0' })
  response.end()
}
