/** Pairs requests over a PduConnection with their replies. docs/formats/wire.md §10.1 */
import { MAX_DELAY_MS } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import { monotonicMs } from '../sys/monotonic.ts'
import { decodeError } from '../wire/error.ts'
import { PDU_ERROR, pduName, pduType } from '../wire/pdu.ts'
import { listLength, REPLY_LIMITS, type ReplyLimits, replyProblem } from '../wire/reply-limits.ts'
import type { PduConnection } from './connection.ts'
import type { EncodedRequest } from './encoded-requests.ts'

/** Options of `RequestQueue`. */
export interface RequestQueueOptions {
  /** Most requests in flight; others wait. Infinity for pipelining. */
  readonly depth: number
  /** Reply timeout in milliseconds; 0 for none. */
  readonly timeoutMs: number
  /** An ERROR reply with a status that is not an error rejects with PM_ERR_GENERIC (true) or ends the connection (false). */
  readonly toleratesOddStatus: boolean
  /** Returns whether an ERROR with this status is a notification and not a reply. Default: always a reply. */
  readonly isNotification?: (status: number) => boolean
  /** Receives notifications and PDUs without a request; throws PcpError to end the connection. */
  readonly onUnsolicited: (pdu: Uint8Array) => void
  /** Limit on requests without a reply, those waiting included; more fail with EAGAIN. Default 65,536. */
  readonly maxRequests?: number
  /** Limits of each reply; a larger reply fails its request with PM_ERR_TOOBIG. Default `REPLY_LIMITS`. */
  readonly replyLimits?: ReplyLimits
}

/** Limit on requests without a reply, and on their bytes, per connection. */
const MAX_REQUESTS = 65_536
/** Below the connection's output limit, which would close it. */
const MAX_BYTES = 32 * 2 ** 20
/** State changes accepted before one reply; each causes refetching. */
const MAX_STATES = 1000

/** A request with its place in the queue. */
export interface Request<T> extends EncodedRequest<T> {
  /** In flight alone: it waits for all earlier replies, and later requests wait for its reply. */
  readonly isExclusive?: boolean
  /** Called just before it is sent. */
  readonly prepare?: () => void
  /** Receives the state bits of an ERROR that precedes the reply. */
  readonly onState?: (bits: number) => void
  /** Receives the negative status of an error reply before the next request is sent; throws PcpError to end the connection. */
  readonly onRefusal?: (status: number) => void
}

/** A message without a reply, sent in order when no request is in flight. */
export interface Notice {
  /** Client that it concerns. */
  readonly client: number
  /** The client's last notice: earlier ones about it that are still queued can be dropped. */
  readonly isEnd: boolean
  readonly send: () => void
}

interface Pending {
  readonly request: Request<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: PcpError) => void
  /** When it was sent. */
  since: number
  /** Unsubscribes from the abort signal. */
  unwatch?: () => void
}

type Item = Pending | Notice

/**
 * Pairs replies with requests, strictly in order. A late, unexpected or malformed reply ends the connection, because
 * every later reply would be paired with the wrong request.
 */
export class RequestQueue {
  readonly #connection: PduConnection
  readonly #options: RequestQueueOptions
  readonly #maxRequests: number
  #waiting: Item[] = []
  readonly #sent: Pending[] = []
  #timer: NodeJS.Timeout | undefined
  #lastReply = 0
  /** When the timer fires. */
  #timerDue = 0
  #heldBy: PcpError | undefined
  /** State changes since the last reply. */
  #states = 0
  /** Requests in `#waiting` and `#sent`, and bytes of their PDUs. */
  #requests = 0
  #bytes = 0

  constructor(connection: PduConnection, options: RequestQueueOptions) {
    this.#connection = connection
    this.#options = options
    this.#maxRequests = options.maxRequests ?? MAX_REQUESTS
    connection.onPdu((pdu) => this.#receive(pdu))
    connection.onClose((error) => this.#end(error))
    // The caller's constructor has not finished: nothing may arrive yet.
    process.nextTick(() => connection.resume())
  }

  /** Whether a request is in flight. */
  get isBusy(): boolean {
    return this.#sent.length > 0
  }

  /**
   * Sends a request in order. Rejects with the peer's error, with the reason the connection ended, with ECANCELED when
   * `signal` aborts (the reply is then discarded), or with EAGAIN when too many requests have no reply yet.
   */
  send<T>(request: Request<T>, signal?: AbortSignal): Promise<T> {
    const refusal = this.#connection.closedBy ?? this.#heldBy
    if (refusal !== undefined) return Promise.reject(refusal)
    if (signal?.aborted === true) return Promise.reject(this.#canceled(signal))
    if (this.#requests >= this.#maxRequests || this.#bytes + request.pdu.length > MAX_BYTES)
      return Promise.reject(this.#tooMany())
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = { request, resolve: resolve as (value: unknown) => void, reject, since: 0 }
      if (signal !== undefined) this.#watch(pending, signal)
      this.#waiting.push(pending)
      this.#requests++
      this.#bytes += request.pdu.length
      this.#startNext()
    })
  }

  /** Sends a notice in order; a queue on hold keeps it. */
  notify(notice: Notice): void {
    if (this.#connection.closedBy !== undefined) return
    // Otherwise a queue on hold for long would collect notices of every client that ever came and went.
    if (this.#heldBy !== undefined && notice.isEnd)
      this.#waiting = this.#waiting.filter((item) => 'request' in item || item.client !== notice.client)
    this.#waiting.push(notice)
    this.#startNext()
  }

  /** Rejects waiting and new requests with `error`; keeps notices for `release`. */
  hold(error: PcpError): void {
    this.#heldBy = error
    const waiting = this.#waiting
    this.#waiting = waiting.filter((item) => !('request' in item))
    for (const item of waiting) if ('request' in item) this.#finish(item, error)
  }

  /** Accepts requests again. */
  release(): void {
    this.#heldBy = undefined
    this.#startNext()
  }

  #watch(pending: Pending, signal: AbortSignal): void {
    pending.unwatch = onAbort(signal, () => {
      const error = this.#canceled(signal)
      const place = this.#waiting.indexOf(pending)
      // A sent request keeps its place: its reply will arrive.
      if (place < 0) return pending.reject(error)
      this.#waiting.splice(place, 1)
      this.#finish(pending, error)
      // Requests behind one that had to be alone can start now.
      if (place === 0) this.#startNext()
    })
  }

  #tooMany(): PcpError {
    const { name } = this.#connection
    const text = `${name}: ${this.#requests} requests (${this.#bytes} bytes) have no reply yet: await some before sending more`
    return new PcpError('EAGAIN', text)
  }

  #canceled(signal: AbortSignal): PcpError {
    const text = `${this.#connection.name}: the request was canceled`
    return new PcpError('ECANCELED', text, { cause: signal.reason })
  }

  #startNext(): void {
    const { timeoutMs } = this.#options
    while (this.#heldBy === undefined && this.#waiting.length > 0 && this.#mayStart(this.#waiting[0]!)) {
      const item = this.#waiting.shift()!
      if (!('request' in item)) {
        item.send()
        continue
      }
      item.since = monotonicMs()
      this.#sent.push(item)
      if (!this.#isPrepared(item)) continue
      this.#connection.send(item.request.pdu)
      // Sending may have ended the connection. A limit that was lowered meanwhile is due before the timer.
      const isLimited = timeoutMs > 0 && this.#sent.length > 0
      if (isLimited && (this.#timer === undefined || this.#timerDue > item.since + timeoutMs))
        this.#arm(timeoutMs)
    }
  }

  /** Returns false for a request whose preparation failed; it is not sent and expects no reply. */
  #isPrepared(pending: Pending): boolean {
    try {
      pending.request.prepare?.()
      return true
    } catch (error) {
      // Gone already if the connection ended meanwhile.
      if (this.#sent.at(-1) === pending) this.#finish(this.#sent.pop()!, PcpError.from(error))
      return false
    }
  }

  #mayStart(item: Item): boolean {
    const first = this.#sent[0]
    if (first === undefined) return true
    if (first.request.isExclusive === true || !('request' in item) || item.request.isExclusive === true)
      return false
    return this.#sent.length < this.#options.depth
  }

  /** One timer serves all requests and checks the oldest. It does not keep the process alive; the socket does. */
  #arm(ms: number): void {
    clearTimeout(this.#timer)
    this.#timerDue = monotonicMs() + ms
    this.#timer = setTimeout(() => this.#checkTime(false), Math.min(Math.max(1, ms), MAX_DELAY_MS))
    this.#timer.unref()
  }

  #checkTime(hasRead: boolean): void {
    const oldest = this.#sent[0]
    const { timeoutMs } = this.#options
    if (oldest === undefined || timeoutMs === 0) {
      this.#timer = undefined
      return
    }
    const waited = monotonicMs() - Math.max(oldest.since, this.#lastReply)
    if (waited + 1 < timeoutMs) {
      this.#arm(timeoutMs - waited)
    } else if (!hasRead) {
      // Timers run before input: after a stall of this process the reply may be there, unread.
      setImmediate(() => this.#checkTime(true))
    } else {
      const { name } = this.#connection
      const what = pduName(oldest.request.replyType)
      this.#connection.destroy(
        new PcpError('PM_ERR_TIMEOUT', `${name} sent no ${what} within ${timeoutMs} ms`),
      )
    }
  }

  #receive(pdu: Uint8Array): void {
    const pending = this.#sent[0]
    if (pending === undefined) {
      this.#options.onUnsolicited(pdu)
      return
    }
    const { request } = pending
    const type = pduType(pdu)
    if (type === PDU_ERROR) this.#receiveStatus(pending, decodeError(pdu).status, pdu)
    else if (type === request.replyType) this.#settle(pending, this.#read(request, pdu))
    else
      throw new PcpError('PM_ERR_IPC', `Unexpected ${pduName(type)} instead of ${pduName(request.replyType)}`)
  }

  /** Checks the limits before decoding, which is what costs memory and time. */
  #read(request: Request<unknown>, pdu: Uint8Array): unknown {
    const { maxItems } = request
    if (maxItems !== undefined && listLength(pdu) > maxItems)
      throw new PcpError('PM_ERR_IPC', `A reply of ${listLength(pdu)} items to a request of ${maxItems}`)
    const problem = replyProblem(pdu, this.#options.replyLimits ?? REPLY_LIMITS)
    if (problem === undefined) return request.read(pdu)
    return new PcpError('PM_ERR_TOOBIG', `${this.#connection.name}: ${request.subject}: ${problem}`)
  }

  #receiveStatus(pending: Pending, status: number, pdu: Uint8Array): void {
    const { request } = pending
    if (this.#options.isNotification?.(status) === true) {
      this.#options.onUnsolicited(pdu)
    } else if (status > 0 && request.onState !== undefined && !this.#options.toleratesOddStatus) {
      if (++this.#states > MAX_STATES)
        throw new PcpError('PM_ERR_IPC', `${MAX_STATES} changes of state without a reply`)
      request.onState(status)
    } else if (status < 0) {
      request.onRefusal?.(status)
      this.#settle(pending, PcpError.fromStatus(status, request.subject))
    } else if (request.replyType === PDU_ERROR) {
      this.#settle(pending, request.read(pdu))
    } else if (this.#options.toleratesOddStatus) {
      this.#settle(
        pending,
        new PcpError('PM_ERR_GENERIC', `${this.#connection.name} answered status ${status}`),
      )
    } else {
      throw new PcpError('PM_ERR_IPC', `Unexpected status ${status} instead of ${pduName(request.replyType)}`)
    }
  }

  #settle(pending: Pending, outcome: unknown): void {
    this.#sent.shift()
    this.#lastReply = monotonicMs()
    this.#states = 0
    this.#finish(pending, outcome)
    this.#startNext()
  }

  #end(error: PcpError): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const item of [...this.#sent.splice(0), ...this.#waiting.splice(0)])
      if ('request' in item) this.#finish(item, error)
  }

  #finish(pending: Pending, outcome: unknown): void {
    this.#requests--
    this.#bytes -= pending.request.pdu.length
    pending.unwatch?.()
    if (outcome instanceof PcpError) pending.reject(outcome)
    else pending.resolve(outcome)
  }
}
