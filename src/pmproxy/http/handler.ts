/** HTTP: from node's requests to ours, from replies to bytes. docs/pmproxy.md */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ByteAccount } from '../../base/byte-budget.ts'
import { debug, trace } from '../../model/debug.ts'
import { PcpError } from '../../model/errors.ts'
import { BusyPoll } from '../../net/busy-poll.ts'
import { apiRoute } from '../routes/pmapi.ts'
import { isOwn, isPageFile, isShared } from '../routes.ts'
import type { Services } from '../services.ts'
import { admit } from './admit.ts'
import { type Outgoing, outgoing, respond, sharing } from './answer.ts'
import { type Provenance, reportedProvenance } from './origin.ts'
import { page, type Reply } from './reply.ts'
import { askerOf, MAX_HEADERS, MAX_URL, type WebRequest, webRequest } from './request.ts'
import { NOT_COUNTED } from './unread.ts'

/** A request takes longer than one of a collector's, and waits for that: docs/decisions/staying-awake.md */
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
  let account: ByteAccount | undefined
  try {
    const misread = admit(message)
    // Nothing that follows can be trusted to be a request.
    if (misread !== undefined) response.shouldKeepAlive = false
    const provenance = reportedProvenance(askerOf(message), services)
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
    // The client has gone, or sent a body that it did not finish.
    if (!gone.aborted) log.notice('warning', `An answer could not be sent: ${PcpError.from(error).message}`)
    response.destroy()
  } finally {
    if (account !== undefined) services.budget.close(account)
    client.requests--
    busyPoll.touch()
  }
}

/** A body is kept in pieces, then as a whole, then as text or what it was decoded to. */
const BODY_COPIES = 3

/** Counts a body until its request is answered. */
function openBody({ socket }: IncomingMessage, { budget }: Services): ByteAccount {
  const { remoteAddress } = socket
  return budget.open({
    name: `A request of ${remoteAddress ?? 'a unix socket'}`,
    group: remoteAddress ?? '',
    evict: () => socket.destroy(),
  })
}

/** The other end of a connection. */
interface Client {
  /** Aborted when it goes away: one a connection, because one a request costs as much as answering it. */
  readonly gone: AbortSignal
  /** Requests that are being answered. */
  requests: number
  /** What to call for answers that it has not read. */
  readonly unread: Set<() => void>
}

const clients = new WeakMap<Socket, Client>()

function clientAt(socket: Socket): Client {
  const known = clients.get(socket)
  if (known !== undefined) return known
  const aborter = new AbortController()
  const client: Client = { gone: aborter.signal, requests: 0, unread: new Set() }
  clients.set(socket, client)
  socket.once('close', () => {
    aborter.abort()
    for (const done of client.unread) done()
    client.unread.clear()
  })
  return client
}

/** What is refused, whatever routes there are. */
function refusalOf(message: IncomingMessage): Reply | undefined {
  if ((message.url ?? '').length >= MAX_URL) return page(414, 'unknown', 'request URL too long')
  // Names and values in turn. Node itself would leave out what is too much.
  if (message.rawHeaders.length >= 2 * MAX_HEADERS) return page(431, 'unknown', 'too many headers')
  return message.method === 'TRACE' ? page(405, 'unknown', 'TRACE is not answered') : undefined
}

/** What a request is refused by because of where it is from, whichever route it is for. */
function refusalTo(provenance: Provenance, path: string): Reply | undefined {
  if (provenance.kind === 'own') return undefined
  if (provenance.kind === 'refused') return page(403, 'http', provenance.why)
  const isAllowed = provenance.kind === 'shared' ? !isOwn(path) : isPageFile(path)
  return isAllowed ? undefined : page(403, 'http', 'this is for pages of this server only')
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
    // Node tells no end of an answer whose turn never came.
    unread.add(done)
    response.once('close', () => {
      if (unread.delete(done)) done()
    })
  }
  // What is left of a body nobody read must not be taken for the next request.
  response.writeHead(status, [...headers, ...(message.complete ? [] : ['Connection', 'close'])])
  // Node sends a text together with the headers, bytes by themselves.
  response.end(message.method === 'HEAD' ? undefined : content)
}

/** What a browser asks before a page of another origin may ask. */
function preflight(request: WebRequest, url: string, response: ServerResponse, services: Services): unknown {
  const { headers, path } = request
  if (url === '*')
    return end(response, 200, { 'Access-Control-Allow-Methods': 'GET, PUT, HEAD, POST, TRACE, OPTIONS' })
  if (!isShared(path)) return end(response, path.startsWith('/ui') ? 403 : 404, {})
  const { origin } = request
  const methods = takesPost(path) ? WRITING : READING
  const wanted = headers['access-control-request-method']
  if (wanted !== undefined && !methods.split(', ').includes(wanted)) return end(response, 405, {})
  if (origin === undefined) return end(response, 200, { 'Access-Control-Allow-Methods': methods })
  const { 'Access-Control-Allow-Headers': allowed, ...rest } = sharing(origin, services)
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
