/** /ui/api/live: the stream as a WebSocket. RFC 6455, docs/pmproxy.md */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { every } from '../../base/every.ts'
import { PcpError } from '../../model/errors.ts'
import { insistOnUser, pageUserOf } from '../http/login.ts'
import { type Asker, reportedProvenance } from '../http/origin.ts'
import { askerOf } from '../http/request.ts'
import type { Services } from '../services.ts'
import { PageTime, TIME_MESSAGE } from '../time/page-time.ts'
import type { WebUser } from '../web-user.ts'
import { MOST_KEYS, type PageStream } from './page-stream.ts'

/** Largest message of a page. */
const MOST_BYTES = 256 * 1024
/** Messages of a page that are being dealt with, and their bytes: all its hosts may take long to answer, and each subscription may have replaced others. */
const MOST_QUEUED = 4 * MOST_KEYS
const MOST_QUEUED_BYTES = 32 * 1024 * 1024
/** How often a page has to show that it is there, ms. */
const PING_MS = 30_000

const PATH = '/ui/api/live'

/** A page cannot send an Authorization header here, so its key is in the list of subprotocols, behind the one that is chosen. */
function withKey(asker: Asker): Asker {
  const { headers } = asker
  const [, key] = /^pcp-ts, ?key\.([\w-]{1,256})$/.exec(headers['sec-websocket-protocol'] ?? '') ?? []
  if (key === undefined || headers.authorization !== undefined) return asker
  return { ...asker, headers: { ...headers, authorization: `Bearer ${key}` } }
}

/** Turns connections into streams. */
export class LiveSockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MOST_BYTES, perMessageDeflate: false })
  readonly #services: Services
  readonly #pinger: NodeJS.Timeout
  readonly #silent = new WeakSet<WebSocket>()

  constructor(services: Services) {
    this.#services = services
    this.#pinger = every(
      PING_MS,
      () => this.#ping(),
      (error) => services.log.notice('warning', `Live pages: ${PcpError.from(error).message}`),
    )
    this.#pinger.unref()
  }

  /** A request to speak something else than HTTP from now on. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const path = (request.url ?? '').split('?', 1)[0]
    const asker = withKey(askerOf(request))
    const user = pageUserOf(asker, this.#services) ?? { kind: 'unknown', from: asker.address }
    let status = ''
    if (path !== PATH) status = '404 Not Found'
    else if (reportedProvenance(asker, this.#services).kind !== 'own') status = '403 Forbidden'
    else
      await insistOnUser(this.#services, user, false).catch(() => {
        status = '401 Unauthorized'
      })
    if (status !== '') {
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      return
    }
    this.#server.handleUpgrade(request, socket, head, (page) =>
      this.#serve(page, user, request.socket.remoteAddress),
    )
  }

  /** Ends all streams; idempotent. */
  close(): void {
    clearInterval(this.#pinger)
    for (const page of this.#server.clients) page.terminate()
    this.#server.close()
  }

  #serve(page: WebSocket, user: WebUser, address: string | undefined): void {
    const { feeds, config, limits, budget, time: control } = this.#services
    const account = budget.open({
      name: `A page of ${address ?? 'a unix socket'}`,
      group: address ?? '',
      evict: () => {
        stream?.close()
        if (page.bufferedAmount > 0) page.terminate()
        else page.close(1008)
      },
    })
    const weigh = (): void => account.setPassing(page.bufferedAmount + queuedBytes)
    let queued = 0
    let queuedBytes = 0
    let stream: PageStream | undefined
    const send = (message: string | Buffer, sent?: () => void): void => {
      if (page.bufferedAmount > limits.pageUnreadBytes) page.terminate()
      else {
        page.send(message, { binary: false }, () => {
          weigh()
          sent?.()
        })
        weigh()
      }
    }
    page.once('close', () => budget.close(account))
    try {
      stream = feeds.open(
        { send },
        { defaultHost: config.offeredHosts[0] ?? 'local:', user, keep: (bytes) => account.keep(bytes) },
      )
    } catch (error) {
      page.close(1013, PcpError.from(error).message)
      return
    }
    const opened = stream
    const pageTime = control && new PageTime(control, send)
    page.on('message', (data, isBinary) => {
      if (isBinary) return page.close(1003)
      const text = String(data)
      const size = text.length
      if (queued >= MOST_QUEUED || queuedBytes + size > MOST_QUEUED_BYTES) return page.close(1008)
      if (text.startsWith(TIME_MESSAGE)) {
        if (pageTime?.receive(text) === false) page.close(1008)
        return
      }
      queued++
      queuedBytes += size
      weigh()
      void opened.receive(text).finally(() => {
        queued--
        queuedBytes -= size
        weigh()
      })
    })
    page.on('pong', () => this.#silent.delete(page))
    page.on('error', () => page.terminate())
    page.once('close', () => {
      stream?.close()
      pageTime?.leave()
    })
  }

  /** Who did not answer the last one is gone, whatever its connection says. */
  #ping(): void {
    for (const page of this.#server.clients) {
      if (this.#silent.has(page)) page.terminate()
      else {
        this.#silent.add(page)
        page.ping()
      }
    }
  }
}
