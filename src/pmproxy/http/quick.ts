/**
 * Connections on which monitors ask the same again and again, answered without node's HTTP server, which takes half the time of such a request.
 *
 *     chunk ─► plain request? ─yes─► routes ─► one write ─┐
 *       ▲           └─no─► node's server, for good        │
 *       └─────────────────────────────────────────────────┘
 */
import { once } from 'node:events'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { debug, trace } from '../../model/debug.ts'
import { PcpError } from '../../model/errors.ts'
import { isShared } from '../routes.ts'
import type { Services } from '../services.ts'
import { type Outgoing, respond } from './answer.ts'
import { plainRequest } from './plain-request.ts'
import { targetOf, type WebRequest } from './request.ts'

/** Answers plain requests of a connection; with the first other one it is given to `other`. */
export function serveQuickly(socket: Socket, services: Services, other: (socket: Socket) => void): void {
  new QuickConnection(socket, services, other).begin()
}

class QuickConnection {
  readonly #socket: Socket
  readonly #services: Services
  readonly #other: (socket: Socket) => void
  readonly #gone = new AbortController()
  /** The request before, which is often the next one as well. */
  #text = ''
  #request: WebRequest | undefined
  readonly #keepSeconds: number
  #isBusy = false
  /** Came while a request was being answered. */
  #early: Buffer | undefined

  constructor(socket: Socket, services: Services, other: (socket: Socket) => void) {
    this.#socket = socket
    this.#services = services
    this.#other = other
    this.#keepSeconds = Math.floor(services.limits.idleMs / 1000)
  }

  /** Takes over a connection from its first byte on. */
  begin(): void {
    this.#socket.on('data', this.#onData).on('close', this.#onClose).on('timeout', this.#onIdle)
    this.#socket.setTimeout(this.#services.limits.idleMs)
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isBusy) {
      // Whoever does not wait for answers is node's.
      this.#early = this.#early === undefined ? chunk : Buffer.concat([this.#early, chunk])
      this.#socket.pause()
      return
    }
    const request = this.#requestOf(chunk)
    if (request === undefined) this.#leave(chunk)
    else void this.#answer(request)
  }

  readonly #onClose = (): void => this.#gone.abort()

  /** Nothing came and nothing could be sent for long; routes may take their time. */
  readonly #onIdle = (): void => {
    if (!this.#isBusy || this.#socket.writableLength > 0) this.#socket.destroy()
  }

  #requestOf(chunk: Buffer): WebRequest | undefined {
    const text = chunk.toString('latin1')
    if (text === this.#text) return this.#request
    const plain = plainRequest(text)
    if (plain === undefined) return undefined
    const target = targetOf(plain.url)
    // Browsers ask for much else before they come to live values over a stream.
    if (!isShared(target.path)) return undefined
    this.#text = text
    this.#request = {
      method: 'GET',
      ...target,
      headers: plain.headers,
      address: this.#socket.remoteAddress,
      signal: this.#gone.signal,
      body: async () => new Uint8Array(0),
    }
    return this.#request
  }

  async #answer(request: WebRequest): Promise<void> {
    const { statistics, log } = this.#services
    this.#isBusy = true
    statistics.requests++
    try {
      const answer = await respond(request, this.#services)
      if (debug.http) trace('http', `GET ${request.path} ${answer.status}, ${answer.size} bytes`)
      if (!this.#send(answer)) await this.#drained()
    } catch (error) {
      if (!this.#gone.signal.aborted)
        log.notice('warning', `An answer could not be sent: ${PcpError.from(error).message}`)
      this.#socket.destroy()
    }
    this.#isBusy = false
    if (this.#early !== undefined && !this.#socket.destroyed) this.#leave(this.#early)
  }

  /** False when more cannot be sent until what was sent has been read. */
  #send({ status, headers, content, done }: Outgoing): boolean {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
    for (const name in headers) head += `${name}: ${headerValue(headers[name]!)}\r\n`
    head += `Date: ${date()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${this.#keepSeconds}\r\n\r\n`
    if (typeof content === 'string') return this.#socket.write(head + content, done)
    this.#socket.cork()
    this.#socket.write(head, 'latin1')
    const isRead = this.#socket.write(content, done)
    this.#socket.uncork()
    return isRead
  }

  async #drained(): Promise<void> {
    const { signal } = this.#gone
    if (!signal.aborted) await once(this.#socket, 'drain', { signal })
  }

  #leave(chunk: Buffer): void {
    const socket = this.#socket
    socket.off('data', this.#onData).off('close', this.#onClose).off('timeout', this.#onIdle)
    socket.setTimeout(0)
    // Else it would flow on to nobody.
    socket.pause()
    socket.unshift(chunk)
    this.#other(socket)
    socket.resume()
  }
}

/** A value that is one line, so that nobody can add headers. */
function headerValue(value: string): string {
  if (/[^\t -~\x80-\xff]/.test(value)) throw new PcpError('PM_ERR_ARG', 'A header that is no line of text')
  return value
}

let dateText = ''
let dateSec = 0

/** The present second, as headers have it. */
function date(): string {
  const sec = Math.floor(Date.now() / 1000)
  if (sec !== dateSec) {
    dateSec = sec
    dateText = new Date(sec * 1000).toUTCString()
  }
  return dateText
}
