/** Requests over a PduConnection and the replies that belong to them. docs/formats/wire.md §10.1 */
import { MAX_DELAY_MS } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import { monotonicMs } from '../sys/monotonic.ts'
import { decodeError } from '../wire/error.ts'
import { PDU_ERROR, pduName, pduType } from '../wire/pdu.ts'
import { listLength, REPLY_LIMITS, type ReplyLimits, replyProblem } from '../wire/reply-limits.ts'
import type { PduConnection } from './connection.ts'
import type { Question } from './questions.ts'

/** How requests are made. */
export interface RequestQueueOptions {
  /** Requests that may be under way at once; the others wait. Infinity for pipelining. */
  readonly depth: number
  /** Time for each reply in milliseconds; 0 for no limit. */
  readonly timeoutMs: number
  /** What an ERROR without an error as answer means: the agent's odd answer (PM_ERR_GENERIC), or a broken conversation. */
  readonly toleratesOddStatus: boolean
  /** Is an ERROR with this status news that no request is answered with, whatever is under way? Default: none is. */
  readonly isNews?: (status: number) => boolean
  /** News, or a PDU that no request waits for, arrived; throws PcpError to end the connection. */
  readonly onUnsolicited: (pdu: Uint8Array) => void
  /** Limit on requests without a reply, those waiting included; more fail with EAGAIN. Default 65,536. */
  readonly maxRequests?: number
  /** Limits of each reply; a request with one beyond them fails with PM_ERR_TOOBIG. Default `REPLY_LIMITS`. */
  readonly replyLimits?: ReplyLimits
}

/** Requests without a reply, and their bytes, of one connection. */
const MAX_REQUESTS = 65_536
/** Below what a connection may have to send: too many requests must not end it. */
const MAX_BYTES = 32 * 2 ** 20
/** News of changes before one reply: each makes others ask anew. */
const MAX_STATES = 1000

/** A question and what goes with asking it. */
export interface Request<T> extends Question<T> {
  /** It is under way by itself: what comes after it waits for its reply, as it does for all before it. */
  readonly isAlone?: boolean
  /** Called when its turn comes, before it is sent. */
  readonly prepare?: () => void
  /** Hears an ERROR with state bits, which precedes the reply. */
  readonly onState?: (bits: number) => void
  /** Hears the negative status it is refused with, before the next one is sent; throws PcpError to end the connection. */
  readonly onRefusal?: (status: number) => void
}

/** Something that is sent in its turn, when nothing is under way, and not answered. */
export interface Notice {
  /** The client it is about. */
  readonly client: number
  /** The last one: whoever has not heard the earlier ones about this client need not hear them. */
  readonly isEnd: boolean
  readonly send: () => void
}

interface Pending {
  readonly request: Request<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: PcpError) => void
  /** When it was sent. */
  since: number
  /** Stops listening to the signal that may abort it. */
  unwatch?: () => void
}

type Item = Pending | Notice

/**
 * Pairs replies with requests, strictly in order. A reply that is late, of the wrong type or malformed ends the
 * connection, because every later reply would be taken for an earlier one.
 */
export class RequestQueue {
  readonly #connection: PduConnection
  readonly #options: RequestQueueOptions
  readonly #maxRequests: number
  #waiting: Item[] = []
  readonly #sent: Pending[] = []
  #timer: NodeJS.Timeout | undefined
  #lastReply = 0
  /** When the timer looks at the oldest request. */
  #timerDue = 0
  #heldBy: PcpError | undefined
  /** News of changes since the last reply. */
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
    // Whoever makes the queue is not complete yet: nothing may arrive now.
    process.nextTick(() => connection.resume())
  }

  /** Is a request under way? */
  get isBusy(): boolean {
    return this.#sent.length > 0
  }

  /**
   * Asks, in turn. Rejects with what the peer answered, with why the connection ended, with ECANCELED when `signal` is
   * aborted (the reply is then discarded when it comes), or with EAGAIN when too many requests have no reply yet.
   */
  ask<T>(request: Request<T>, signal?: AbortSignal): Promise<T> {
    const refusal = this.#connection.closedBy ?? this.#heldBy
    if (refusal !== undefined) return Promise.reject(refusal)
    if (signal?.aborted === true) return Promise.reject(this.#givenUp(signal))
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

  /** Sends something that is not answered, in its turn; a held queue keeps it. */
  tell(notice: Notice): void {
    if (this.#connection.closedBy !== undefined) return
    // Else a queue that is held for long would keep something of every client that ever came and went.
    if (this.#heldBy !== undefined && notice.isEnd)
      this.#waiting = this.#waiting.filter((item) => 'request' in item || item.client !== notice.client)
    this.#waiting.push(notice)
    this.#startNext()
  }

  /** Refuses requests with `error`, those waiting as well; notices are kept for `release`. */
  hold(error: PcpError): void {
    this.#heldBy = error
    const waiting = this.#waiting
    this.#waiting = waiting.filter((item) => !('request' in item))
    for (const item of waiting) if ('request' in item) this.#finish(item, error)
  }

  /** Takes requests again. */
  release(): void {
    this.#heldBy = undefined
    this.#startNext()
  }

  #watch(pending: Pending, signal: AbortSignal): void {
    pending.unwatch = onAbort(signal, () => {
      const error = this.#givenUp(signal)
      const place = this.#waiting.indexOf(pending)
      // A sent request keeps its place: its reply will arrive.
      if (place < 0) return pending.reject(error)
      this.#waiting.splice(place, 1)
      this.#finish(pending, error)
      // What waited behind a request that had to be alone need not wait any more.
      if (place === 0) this.#startNext()
    })
  }

  #tooMany(): PcpError {
    const { name } = this.#connection
    const text = `${name}: ${this.#requests} requests (${this.#bytes} bytes) have no reply yet: await some before asking more`
    return new PcpError('EAGAIN', text)
  }

  #givenUp(signal: AbortSignal): PcpError {
    const text = `${this.#connection.name}: the request was given up`
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

  /** What cannot be prepared is not sent, so that no reply is waited for. */
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
    if (first.request.isAlone === true || !('request' in item) || item.request.isAlone === true) return false
    return this.#sent.length < this.#options.depth
  }

  /** One timer serves all requests: it looks at the oldest. It does not keep the process alive, the socket does. */
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
      // Timers come before input: after this process stood still the reply may be there, unread.
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
      throw new PcpError(
        'PM_ERR_IPC',
        `Unexpected ${pduName(type)} in place of ${pduName(request.replyType)}`,
      )
  }

  /** Nothing is decoded of a reply that is too large: to decode it is what costs memory and time. */
  #read(request: Request<unknown>, pdu: Uint8Array): unknown {
    const { most } = request
    if (most !== undefined && listLength(pdu) > most)
      throw new PcpError('PM_ERR_IPC', `A reply of ${listLength(pdu)} items to a request of ${most}`)
    const problem = replyProblem(pdu, this.#options.replyLimits ?? REPLY_LIMITS)
    if (problem === undefined) return request.read(pdu)
    return new PcpError('PM_ERR_TOOBIG', `${this.#connection.name}: ${request.on}: ${problem}`)
  }

  #receiveStatus(pending: Pending, status: number, pdu: Uint8Array): void {
    const { request } = pending
    if (this.#options.isNews?.(status) === true) {
      this.#options.onUnsolicited(pdu)
    } else if (status > 0 && request.onState !== undefined && !this.#options.toleratesOddStatus) {
      if (++this.#states > MAX_STATES)
        throw new PcpError('PM_ERR_IPC', `${MAX_STATES} changes of state without a reply`)
      request.onState(status)
    } else if (status < 0) {
      request.onRefusal?.(status)
      this.#settle(pending, PcpError.fromStatus(status, request.on))
    } else if (request.replyType === PDU_ERROR) {
      this.#settle(pending, request.read(pdu))
    } else if (this.#options.toleratesOddStatus) {
      this.#settle(
        pending,
        new PcpError('PM_ERR_GENERIC', `${this.#connection.name} answered status ${status}`),
      )
    } else {
      throw new PcpError(
        'PM_ERR_IPC',
        `Unexpected status ${status} in place of ${pduName(request.replyType)}`,
      )
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
