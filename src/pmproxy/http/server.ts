/** Node's HTTP server as pmproxy uses it: it never listens itself, its connections come from the door. docs/pmproxy.md, docs/security.md */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Limits } from '../limits.ts'
import type { LiveSockets } from '../live/socket.ts'
import type { Services } from '../services.ts'
import { admit } from './admit.ts'
import { handle } from './handler.ts'
import { page, reasonOf } from './reply.ts'
import { MAX_TEXT_BODY } from './request.ts'

/** How often connections are looked at for those that take too long, ms. */
const CHECK_MS = 5000
/** How long a connection stays on which something else than a request came, ms. */
const LINGER_MS = 1000

/** Makes one. `close` it: it looks at its connections from time to time. */
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
  // Who asks before sending a body hears at once that it is too long.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (Number(request.headers['content-length'] ?? 0) <= MAX_TEXT_BODY) response.writeContinue()
    server.emit('request', request, response)
  })
  server.on('connect', (_request: IncomingMessage, socket: Duplex) =>
    refuse(socket, 405, 'CONNECT is not answered'),
  )
  server.timeout = stalledMs
  // Their bytes are bounded, and who has too many hears so.
  server.maxHeadersCount = 0
  // Node begins to enforce its times when a server listens, which this one never does.
  server.emit('listening')
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (admit(request) !== undefined) refuse(socket, 400, 'not a request')
    else if (request.headers.upgrade?.toLowerCase() === 'websocket')
      void live.upgrade(request, socket, head).catch(() => socket.destroy())
    else answerPlainly(request, socket as Socket, services)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const status =
      error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
    refuse(socket, status, status === 431 ? 'too many headers' : 'not a request')
  })
  return server
}

/** Answers what node made no request of, and closes the connection. */
function refuse(socket: Duplex, status: number, what: string): void {
  const { body } = page(status, 'http', what)
  socket.on('error', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${reasonOf(status)}\r\nConnection: close\r\nContent-Type: text/html\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  // It may go on sending for as long as it takes to read the answer.
  destroyAfter(socket, LINGER_MS)
}

function destroyAfter(socket: Duplex, ms: number): void {
  const timer = setTimeout(() => socket.destroy(), ms)
  socket.once('close', () => clearTimeout(timer))
}

/** Clients may offer to speak HTTP/2 from here on; who does not want to answers as if they had not. RFC 9110 §7.8 */
function answerPlainly(request: IncomingMessage, socket: Socket, services: Services): void {
  // Node looks after such a connection no more.
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
