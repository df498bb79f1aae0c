/** Creates node's HTTP server, which does not listen but gets connections after protocol detection. docs/reference/pmproxy.md, docs/explanation/security.md */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Limits } from '../limits.ts'
import type { LiveSockets } from '../live/socket.ts'
import type { Services } from '../services.ts'
import { afterResponses, handle } from './handler.ts'
import { page, reasonOf } from './reply.ts'
import { MAX_TEXT_BODY } from './request.ts'
import { validateRequest } from './validate.ts'

/** Interval of the check for slow connections, ms. */
const CHECK_MS = 5000
/** How long a connection with an invalid request stays open, ms. */
const LINGER_MS = 1000

/** Creates the server. `close` it, because it has a timer. */
export function httpServer(services: Services, live: LiveSockets, limits: Limits): Server {
  const { headersMs, requestMs, idleMs, stalledMs, headerBytes } = limits
  const server = createServer(
    {
      maxHeaderSize: headerBytes,
      keepAliveTimeout: idleMs,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(CHECK_MS, headersMs),
    },
    (request, response) => void handle(request, response, services),
  )
  // A client that waits for 100 Continue learns immediately that its body is too long.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (Number(request.headers['content-length'] ?? 0) <= MAX_TEXT_BODY) response.writeContinue()
    server.emit('request', request, response)
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    afterResponses(socket, stalledMs, () => refuse(socket, 405, 'CONNECT is not supported')),
  )
  server.timeout = stalledMs
  // Header bytes are limited by node; too many headers get a separate response.
  server.maxHeadersCount = 0
  // Node enforces its timeouts from 'listening' on, but this server never listens.
  server.emit('listening')
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
    afterResponses(socket, stalledMs, () => {
      if (validateRequest(request) !== undefined) refuse(socket, 400, 'malformed request')
      else if (request.headers.upgrade?.toLowerCase() === 'websocket')
        void live.upgrade(request, socket, head).catch(() => socket.destroy())
      else answerPlainly(request, socket, services)
    }),
  )
  const refused = new WeakSet<Socket>()
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') return void socket.destroy()
    // Node reports an error for everything that is sent after the invalid request.
    if (refused.has(socket)) return
    if (!socket.writable) return void socket.destroy()
    refused.add(socket)
    const status =
      error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
    const what = status === 431 ? 'too many headers' : 'malformed request'
    afterResponses(socket, stalledMs, () => refuse(socket, status, what))
  })
  return server
}

/** Answers an unparsable request, and closes the connection. */
function refuse(socket: Socket, status: number, what: string): void {
  const { body } = page(status, 'http', what)
  socket.on('error', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${reasonOf(status)}\r\nConnection: close\r\nContent-Type: text/html\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  // The client may take this long to read the response.
  destroyAfter(socket, LINGER_MS)
}

function destroyAfter(socket: Socket, ms: number): void {
  const timer = setTimeout(() => socket.destroy(), ms)
  socket.once('close', () => clearTimeout(timer))
}

/** Answers a request with an offer to upgrade, e.g. to HTTP/2, as if it had none. RFC 9110 §7.8 */
function answerPlainly(request: IncomingMessage, socket: Socket, services: Services): void {
  // Node applies no timeouts to such a connection.
  destroyAfter(socket, services.limits.stalledMs)
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
  // Node does not read the body of such a request.
  if (length !== '0' || coding !== undefined)
    return void socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
  socket.on('error', () => socket.destroy())
  void handle(request, response, services)
}
