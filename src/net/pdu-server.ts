/**
 * PduServer: answers the requests of one peer in order. A table defines the requests and a policy how the peer is
 * treated; agents and a collector's clients differ in nothing else. docs/formats/wire.md §7, §10
 */
import { type DebugName, debug } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { encodeError } from '../wire/error.ts'
import { pduName, pduType } from '../wire/pdu.ts'

/** A request: how to decode it, call `S` on behalf of `W`, and encode the answer. */
export interface RequestHandler<S, W, Q = unknown, A = unknown> {
  readonly type: number
  /** Diagnostic (-D) that traces it. */
  readonly topic?: DebugName
  /** The reply carries the state changes since the last such reply. */
  readonly isFetch?: boolean
  decode(pdu: Uint8Array): Q
  handle(source: S, query: Q, who: W): Promise<A>
  /** `changes` are the PMCD_* bits to send with the reply, 0 for none. */
  encode(answer: A, query: Q, changes: number): Uint8Array | readonly Uint8Array[]
  /** Returns the text for diagnostics; default: the names of both PDUs. */
  describe?(answer: A): string
}

/** Requests by PDU type. */
export type RequestTable<S, W> = ReadonlyMap<number, RequestHandler<S, W>>

/** Builds a table of requests. */
export function requestTable<S, W>(rows: readonly RequestHandler<S, W>[]): RequestTable<S, W> {
  return new Map(rows.map((row) => [row.type, row]))
}

/** How a server treats its peer. */
export interface ServerPolicy<S, W> {
  readonly source: S
  readonly requests: RequestTable<S, W>
  /** Run a request only after the previous one was answered; default: immediately. */
  readonly isSerial?: boolean
  /** Send no error for a PDU outside the table, where any reply would break the order of replies. */
  readonly repliesToRequestsOnly?: boolean
  /** Checks access, readiness and quotas; a PcpError thrown becomes the reply. */
  readonly admit?: (type: number, pdu: Uint8Array) => void
  /** Handles a PDU outside the table; returns false for an unknown type. */
  readonly handleOther?: (type: number, pdu: Uint8Array) => boolean
  /** Returns the requester of a request; a PcpError thrown becomes the reply. */
  readonly identify: (row: RequestHandler<S, W>, pdu: Uint8Array, query: unknown) => W
  /** Takes a request that has to wait and calls `run` later; returns false for a request to run immediately. */
  readonly defer?: (
    row: RequestHandler<S, W>,
    query: unknown,
    who: W,
    run: (who: W) => Promise<void>,
  ) => boolean
  /** Called after a request was answered. */
  readonly answered?: (row: RequestHandler<S, W>) => void
  /** Called with the bytes of pending requests and of replies waiting for earlier ones, whenever they change. */
  readonly onBytes?: (bytes: number) => void
  /** Traces an answered or failed request whose diagnostic is on. */
  readonly trace?: (topic: DebugName, text: string) => void
  /** Called when a PDU failed, after the error reply (if one is due) was sent. */
  readonly failed?: (error: PcpError, type: number) => void
}

/** The parts of a connection that a server needs. */
export interface PduPeer {
  /** Queues a whole PDU. */
  send(pdu: Uint8Array): void
  /** Stops and resumes the arrival of PDUs. */
  pause(): void
  resume(): void
}

/** Pending requests beyond which the server stops reading. */
const MAX_OUTSTANDING = 64
/** Bytes of pending requests and waiting replies beyond which it stops reading. */
const MAX_OUTSTANDING_BYTES = 2 ** 20
/** Estimated memory of a pending request: a base, and a factor for each byte of its PDU once decoded. */
const REQUEST_BYTES = 600
const DECODED_BYTES = 4

/** One reply in the order of replies; without PDUs until it is known. */
interface Reply {
  pdus: readonly Uint8Array[] | undefined
  /** Memory held: first the request's, then the reply's. */
  bytes: number
}

/** Answers the requests of one peer. */
export class PduServer<S, W> {
  readonly #policy: ServerPolicy<S, W>
  readonly #peer: PduPeer
  readonly #replies: Reply[] = []
  /** Serial servers: PDUs waiting, the first being processed. */
  readonly #queue: Uint8Array[] = []
  #bytes = 0
  #changes = 0
  /** Reasons of the owner for not reading. */
  readonly #holds = new Set<string>()
  #isClosed = false

  constructor(policy: ServerPolicy<S, W>, peer: PduPeer) {
    this.#policy = policy
    this.#peer = peer
  }

  /** True when every request has been answered. */
  get isIdle(): boolean {
    return this.#replies.length === 0
  }

  /** Adds PMCD_* bits to send with the next reply to a fetch. */
  addChanges(bits: number): void {
    this.#changes |= bits
  }

  /** Stops reading for the given reason. */
  hold(reason: string): void {
    this.#holds.add(reason)
    this.#peer.pause()
  }

  /** Removes a reason; reads again when none is left. */
  release(reason: string): void {
    this.#holds.delete(reason)
    this.#readOn()
  }

  /** Returns whether `hold` is in effect for this reason. */
  isHeldBy(reason: string): boolean {
    return this.#holds.has(reason)
  }

  /** Sends no more replies and drops waiting requests. */
  close(): void {
    this.#isClosed = true
    this.#queue.splice(1)
  }

  /** Processes a PDU. It may borrow the socket's buffer; decoders copy what they keep. */
  receive(pdu: Uint8Array): void {
    if (this.#isClosed) return
    if (this.#policy.isSerial !== true) {
      void this.#take(pdu)
      return
    }
    this.#queue.push(pdu)
    if (this.#isFull) this.#peer.pause()
    if (this.#queue.length === 1) void this.#takeInTurn()
  }

  /** Sends a ready reply after all pending ones. */
  reply(pdu: Uint8Array): void {
    this.#settle(this.#expect(0), [pdu])
  }

  async #takeInTurn(): Promise<void> {
    for (let pdu = this.#queue[0]; pdu !== undefined; pdu = this.#queue[0]) {
      await this.#take(pdu)
      const wasFull = this.#isFull
      this.#queue.shift()
      if (wasFull) this.#readOn()
    }
  }

  /** Never throws: errors become replies. Resolves when the reply is known. */
  #take(pdu: Uint8Array): Promise<void> | undefined {
    const { requests, admit, handleOther, identify, defer } = this.#policy
    const type = pduType(pdu)
    let reply: Reply | undefined
    try {
      admit?.(type, pdu)
      const row = requests.get(type)
      if (row === undefined) {
        if (handleOther?.(type, pdu) === true) return undefined
        throw new PcpError('PM_ERR_IPC', `No request has type ${pduName(type)}`)
      }
      const query = row.decode(pdu)
      const who = identify(row, pdu, query)
      reply = this.#expect(pdu.length)
      const place = reply
      const run = (as: W): Promise<void> => {
        try {
          return row.handle(this.#policy.source, query, as).then(
            (answer) => this.#answered(row, query, answer, place),
            (error: unknown) => this.#failed(type, error, place),
          )
        } catch (error) {
          this.#failed(type, error, place)
          return Promise.resolve()
        }
      }
      if (defer?.(row, query, who, run) !== true) return run(who)
    } catch (error) {
      this.#failed(type, error, reply)
    }
    return undefined
  }

  #answered(row: RequestHandler<S, W>, query: unknown, answer: unknown, reply: Reply): void {
    let pdus: Uint8Array | readonly Uint8Array[]
    try {
      let changes = 0
      if (row.isFetch === true) {
        changes = this.#changes
        this.#changes = 0
      }
      pdus = row.encode(answer, query, changes)
    } catch (error) {
      this.#failed(row.type, error, reply)
      return
    }
    const list = pdus instanceof Uint8Array ? [pdus] : pdus
    if (row.topic !== undefined && debug[row.topic]) {
      const names = (): string => `${pduName(row.type)} is answered by ${pduName(pduType(list.at(-1)!))}`
      this.#policy.trace?.(row.topic, row.describe?.(answer) ?? names())
    }
    this.#settle(reply, list)
    this.#policy.answered?.(row)
  }

  #failed(type: number, cause: unknown, reply: Reply | undefined): void {
    const { requests, repliesToRequestsOnly, trace, failed } = this.#policy
    const error = PcpError.from(cause)
    const row = requests.get(type)
    if (row?.topic !== undefined && row.describe === undefined && debug[row.topic])
      trace?.(row.topic, `${pduName(type)} fails: ${error.message}`)
    if (row !== undefined || repliesToRequestsOnly !== true)
      this.#settle(reply ?? this.#expect(0), [encodeError(error.status)])
    failed?.(error, type)
  }

  #expect(length: number): Reply {
    const reply: Reply = { pdus: undefined, bytes: REQUEST_BYTES + DECODED_BYTES * length }
    this.#replies.push(reply)
    this.#bytes += reply.bytes
    this.#policy.onBytes?.(this.#bytes)
    if (this.#isFull) this.#peer.pause()
    return reply
  }

  #settle(reply: Reply, pdus: readonly Uint8Array[]): void {
    const wasFull = this.#isFull
    reply.pdus = pdus
    let size = 0
    for (const { length } of pdus) size += length
    this.#bytes += size - reply.bytes
    reply.bytes = size
    while (this.#replies[0]?.pdus !== undefined) {
      const { pdus: ready, bytes } = this.#replies.shift()!
      this.#bytes -= bytes
      if (!this.#isClosed) for (const each of ready!) this.#peer.send(each)
    }
    this.#policy.onBytes?.(this.#bytes)
    if (wasFull) this.#readOn()
  }

  get #isFull(): boolean {
    return (
      this.#replies.length >= MAX_OUTSTANDING ||
      this.#bytes >= MAX_OUTSTANDING_BYTES ||
      this.#queue.length >= MAX_OUTSTANDING
    )
  }

  #readOn(): void {
    if (!this.#isFull && this.#holds.size === 0 && !this.#isClosed) this.#peer.resume()
  }
}
