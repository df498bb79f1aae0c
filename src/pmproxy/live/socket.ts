/** /ui/api/live: the live stream as a WebSocket. RFC 6455, docs/reference/pmproxy.md */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { every } from '../../base/every.ts'
import { PcpError } from '../../model/errors.ts'
import { pageUserOf, requireUser } from '../http/login.ts'
import { checkOriginAndLog, type RequestOrigin } from '../http/origin.ts'
import { requestOriginOf } from '../http/request.ts'
import type { Services } from '../services.ts'
import { PageTime, TIME_MESSAGE } from '../time/page-time.ts'
import type { WebUser } from '../web-user.ts'
import { MOST_KEYS, type PageStream } from './page-stream.ts'

/** Maximum size of a page's message. */
const MOST_BYTES = 256 * 1024
/** Maximum number of a page's unfinished messages, and their bytes. Hosts may be slow, and subscriptions may have been replaced several times. */
const MOST_QUEUED = 4 * MOST_KEYS
const MOST_QUEUED_BYTES = 32 * 1024 * 1024
/** Interval at which a page must answer pings, ms. */
const PING_MS = 30_000

const PATH = '/ui/api/live'

/** Reads the key from the subprotocols, because a page cannot send an Authorization header with a WebSocket. */
function withKey(asker: RequestOrigin): RequestOrigin {
  const { headers } = asker
  const [, key] = /^pcp-ts, ?key\.([\w-]{1,256})$/.exec(headers['sec-websocket-protocol'] ?? '') ?? []
  if (key === undefined || headers.authorization !== undefined) return asker
  return { ...asker, headers: { ...headers, authorization: `Bearer ${key}` } }
}

/** Upgrades connections to live streams. */
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

  /** Handles a request to switch to the WebSocket protocol. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const path = (request.url ?? '').split('?', 1)[0]
    const asker = withKey(requestOriginOf(request))
    const user = pageUserOf(asker, this.#services) ?? { kind: 'unknown', from: asker.address }
    let status = ''
    if (path !== PATH) status = '404 Not Found'
    else if (checkOriginAndLog(asker, this.#services).kind !== 'own') status = '403 Forbidden'
    else
      await requireUser(this.#services, user, false).catch(() => {
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

  /** Closes streams whose page has not answered the previous ping. */
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
