/** Requests over a PduConnection and the replies that belong to them. docs/formats/wire.md §10.1 */
import { PcpError } from '../model/errors.ts'
import { decodeError } from '../wire/error.ts'
import { PDU_ERROR, pduName, pduType } from '../wire/pdu.ts'
import type { PduConnection } from './connection.ts'

/** How requests are made. */
export interface RequestQueueOptions {
  /** Requests that may be under way at once; the others wait. Infinity for pipelining. */
  readonly depth: number
  /** Time for each reply in milliseconds; 0 for no limit. */
  readonly timeoutMs: number
  /** What an ERROR without an error as answer means: the agent's odd answer (PM_ERR_GENERIC), or a broken conversation. */
  readonly toleratesOddStatus: boolean
  /** A request was refused with this negative status; called before the next one is sent. */
  readonly onRefusal?: (status: number) => void
  /** A PDU arrived that no request waits for; throws PcpError to end the connection. */
  readonly onUnsolicited: (pdu: Uint8Array) => void
}

/** One request. */
export interface Request<T> {
  /** Sends it; called when its turn comes. */
  readonly start: () => void
  /** Type of the reply; PDU_ERROR for a request that is answered by its status. */
  readonly replyType: number
  /** Takes the reply apart; a throw ends the connection. */
  readonly read: (reply: Uint8Array) => T
  /** What is asked about, for the message of an error. */
  readonly on?: string
  /** Hears an ERROR with state bits, which precedes the reply. */
  readonly onState?: (bits: number) => void
}

interface Pending {
  readonly request: Request<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: PcpError) => void
  /** When it was sent. */
  since: number
}

/** A notice is sent in its turn and not answered. */
type Item = Pending | (() => void)

/**
 * Pairs replies with requests, strictly in order. A reply that is late, of the wrong type or malformed ends the
 * connection, because every later reply would be taken for an earlier one.
 */
export class RequestQueue {
  readonly #connection: PduConnection
  readonly #options: RequestQueueOptions
  readonly #waiting: Item[] = []
  readonly #sent: Pending[] = []
  #timer: NodeJS.Timeout | undefined
  #lastReply = 0
  #heldBy: PcpError | undefined

  constructor(connection: PduConnection, options: RequestQueueOptions) {
    this.#connection = connection
    this.#options = options
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
   * Asks, in turn. Rejects with what the peer answered, with why the connection ended, or with ECANCELED when `signal`
   * is aborted; the reply is then discarded when it comes.
   */
  ask<T>(request: Request<T>, signal?: AbortSignal): Promise<T> {
    const refusal = this.#connection.closedBy ?? this.#heldBy
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = { request, resolve: resolve as (value: unknown) => void, reject, since: 0 }
      if (signal !== undefined && !this.#watchAbort(pending, signal, resolve, reject)) return
      this.#waiting.push(pending)
      this.#startNext()
    })
  }

  /** Sends something that is not answered, in its turn; a held queue keeps it. */
  tell(start: () => void): void {
    if (this.#connection.closedBy !== undefined) return
    this.#waiting.push(start)
    this.#startNext()
  }

  /** Refuses requests with `error`, those waiting as well; notices are kept for `release`. */
  hold(error: PcpError): void {
    this.#heldBy = error
    const notices = this.#waiting.filter((item) => typeof item === 'function')
    for (const item of this.#waiting.splice(0)) if (typeof item !== 'function') item.reject(error)
    this.#waiting.push(...notices)
  }

  /** Takes requests again. */
  release(): void {
    this.#heldBy = undefined
    this.#startNext()
  }

  /** Returns false when there is nothing to do any more. */
  #watchAbort<T>(
    pending: Pending,
    signal: AbortSignal,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): boolean {
    const abort = (): void => {
      const place = this.#waiting.indexOf(pending)
      if (place >= 0) this.#waiting.splice(place, 1)
      reject(
        new PcpError('ECANCELED', `${this.#connection.name}: the request was given up`, {
          cause: signal.reason,
        }),
      )
    }
    if (signal.aborted) {
      abort()
      return false
    }
    signal.addEventListener('abort', abort, { once: true })
    const done = (): void => signal.removeEventListener('abort', abort)
    Object.assign(pending, {
      resolve: (value: T) => {
        done()
        resolve(value)
      },
      reject: (error: PcpError) => {
        done()
        reject(error)
      },
    })
    return true
  }

  #startNext(): void {
    const { depth, timeoutMs } = this.#options
    while (this.#waiting.length > 0 && this.#sent.length < depth && this.#heldBy === undefined) {
      const item = this.#waiting.shift()!
      if (typeof item === 'function') {
        item()
        continue
      }
      item.since = performance.now()
      this.#sent.push(item)
      item.request.start()
      if (timeoutMs > 0 && this.#timer === undefined) this.#arm(timeoutMs)
    }
  }

  /** One timer serves all requests: it looks at the oldest. It does not keep the process alive, the socket does. */
  #arm(ms: number): void {
    this.#timer = setTimeout(() => this.#checkTime(), Math.max(1, ms))
    this.#timer.unref()
  }

  #checkTime(): void {
    this.#timer = undefined
    const oldest = this.#sent[0]
    if (oldest === undefined) return
    const { timeoutMs } = this.#options
    const waited = performance.now() - Math.max(oldest.since, this.#lastReply)
    if (waited + 1 < timeoutMs) {
      this.#arm(timeoutMs - waited)
      return
    }
    const { name } = this.#connection
    const what = pduName(oldest.request.replyType)
    this.#connection.destroy(new PcpError('PM_ERR_TIMEOUT', `${name} sent no ${what} within ${timeoutMs} ms`))
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
    else if (type === request.replyType) this.#settle(pending, request.read(pdu))
    else
      throw new PcpError(
        'PM_ERR_IPC',
        `Unexpected ${pduName(type)} in place of ${pduName(request.replyType)}`,
      )
  }

  #receiveStatus(pending: Pending, status: number, pdu: Uint8Array): void {
    const { request } = pending
    if (status > 0 && request.onState !== undefined && !this.#options.toleratesOddStatus) {
      request.onState(status)
    } else if (status < 0) {
      this.#options.onRefusal?.(status)
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
    this.#lastReply = performance.now()
    if (outcome instanceof PcpError) pending.reject(outcome)
    else pending.resolve(outcome)
    this.#startNext()
  }

  #end(error: PcpError): void {
    clearTimeout(this.#timer)
    for (const pending of this.#sent.splice(0)) pending.reject(error)
    for (const item of this.#waiting.splice(0)) if (typeof item !== 'function') item.reject(error)
  }
}
