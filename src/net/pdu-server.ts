/**
 * PduServer: requests of one peer in, replies out in the order of the requests. What it serves is a table, how it treats the peer
 * a policy: agents and a collector's clients differ in nothing else. docs/formats/wire.md §7, §10
 */
import { type DebugName, debug } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { encodeError } from '../wire/error.ts'
import { pduName, pduType } from '../wire/pdu.ts'

/** A request: how it is decoded, what it asks of `S` on behalf of `W`, and how its answer is encoded. */
export interface RequestRow<S, W, Q = unknown, A = unknown> {
  readonly type: number
  /** The diagnostic that shows it. */
  readonly topic?: DebugName
  /** It fetches values: its reply carries the state changes since the last such reply. */
  readonly isFetch?: boolean
  decode(pdu: Uint8Array): Q
  ask(source: S, query: Q, who: W): Promise<A>
  /** `changes` are the PMCD_* bits to send with the reply, 0 for none. */
  encode(answer: A, query: Q, changes: number): Uint8Array | readonly Uint8Array[]
  /** Describes the answer for diagnostics; default: the names of both PDUs. */
  describe?(answer: A): string
}

/** Requests by PDU type. */
export type RequestTable<S, W> = ReadonlyMap<number, RequestRow<S, W>>

/** Builds a table of requests. */
export function requestTable<S, W>(rows: readonly RequestRow<S, W>[]): RequestTable<S, W> {
  return new Map(rows.map((row) => [row.type, row]))
}

/** How a server treats its peer. */
export interface ServerPolicy<S, W> {
  readonly source: S
  readonly requests: RequestTable<S, W>
  /** A request is asked when the one before it has its reply; default: immediately. */
  readonly isSerial?: boolean
  /** Sends no error for a PDU outside the table: any reply would put the conversation out of step. */
  readonly repliesToRequestsOnly?: boolean
  /** Access, readiness, shares of work: throws PcpError, which is the reply. */
  readonly admit?: (type: number, pdu: Uint8Array) => void
  /** Takes a PDU outside the table; returns false if there is no such PDU. */
  readonly notice?: (type: number, pdu: Uint8Array) => boolean
  /** Identity and limits: on whose behalf a request is asked. Throws PcpError, which is the reply. */
  readonly identify: (row: RequestRow<S, W>, pdu: Uint8Array, query: unknown) => W
  /** Takes a request that has to wait, to `run` it in its turn; returns false for one to ask immediately. */
  readonly defer?: (row: RequestRow<S, W>, query: unknown, who: W, run: (who: W) => Promise<void>) => boolean
  /** A request has been answered. */
  readonly answered?: (row: RequestRow<S, W>) => void
  /** Bytes of requests and of replies that wait for earlier ones, whenever they change. */
  readonly weigh?: (bytes: number) => void
  /** Traces an answered or failed request, where its diagnostic is on. */
  readonly trace?: (topic: DebugName, text: string) => void
  /** A PDU failed; an error reply has been sent if one is due. */
  readonly failed?: (error: PcpError, type: number) => void
}

/** The connection, as far as a server needs it. */
export interface ServedPeer {
  /** Queues a whole PDU. */
  send(pdu: Uint8Array): void
  /** Stops and resumes the arrival of PDUs. */
  pause(): void
  resume(): void
}

/** Requests without a reply beyond which the server stops reading. */
const MAX_OUTSTANDING = 64
/** Bytes of such requests, and of replies that wait for earlier ones, beyond which it stops as well. */
const MAX_OUTSTANDING_BYTES = 2 ** 20
/** What a request takes until it is answered, and for each byte of its PDU when it is decoded. */
const REQUEST_BYTES = 600
const DECODED_BYTES = 4

/** The place of one reply in the order of replies; empty until it is known. */
interface Reply {
  pdus: readonly Uint8Array[] | undefined
  /** What it takes: at first its request, then its PDUs. */
  bytes: number
}

/** Answers the requests of one peer. */
export class PduServer<S, W> {
  readonly #policy: ServerPolicy<S, W>
  readonly #peer: ServedPeer
  readonly #replies: Reply[] = []
  /** Of a serial server: PDUs that wait for their turn, the first being answered. */
  readonly #queue: Uint8Array[] = []
  #bytes = 0
  #changes = 0
  /** Reasons of the owner not to read. */
  readonly #holds = new Set<string>()
  #isClosed = false

  constructor(policy: ServerPolicy<S, W>, peer: ServedPeer) {
    this.#policy = policy
    this.#peer = peer
  }

  /** Is every request answered? */
  get isIdle(): boolean {
    return this.#replies.length === 0
  }

  /** Adds PMCD_* bits to send with the next reply to a fetch. */
  addChanges(bits: number): void {
    this.#changes |= bits
  }

  /** Stops reading for a reason of the owner's. */
  hold(reason: string): void {
    this.#holds.add(reason)
    this.#peer.pause()
  }

  /** Reads again, unless there are other reasons not to. */
  release(reason: string): void {
    this.#holds.delete(reason)
    this.#readOn()
  }

  /** Is it held for this reason? */
  isHeldBy(reason: string): boolean {
    return this.#holds.has(reason)
  }

  /** Sends no more replies; requests that wait for their turn are dropped. */
  close(): void {
    this.#isClosed = true
    this.#queue.splice(1)
  }

  /** Takes a PDU. It may borrow the socket's buffer: what is kept is copied by the decoders. */
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

  /** Sends a reply that is known already, behind those that are not. */
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

  /** Never throws: an error is the reply. Resolves when the reply is known. */
  #take(pdu: Uint8Array): Promise<void> | undefined {
    const { requests, admit, notice, identify, defer } = this.#policy
    const type = pduType(pdu)
    let reply: Reply | undefined
    try {
      admit?.(type, pdu)
      const row = requests.get(type)
      if (row === undefined) {
        if (notice?.(type, pdu) === true) return undefined
        throw new PcpError('PM_ERR_IPC', `No request has type ${pduName(type)}`)
      }
      const query = row.decode(pdu)
      const who = identify(row, pdu, query)
      reply = this.#expect(pdu.length)
      const place = reply
      const run = (as: W): Promise<void> => {
        try {
          return row.ask(this.#policy.source, query, as).then(
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

  #answered(row: RequestRow<S, W>, query: unknown, answer: unknown, reply: Reply): void {
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
    this.#policy.weigh?.(this.#bytes)
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
    this.#policy.weigh?.(this.#bytes)
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
