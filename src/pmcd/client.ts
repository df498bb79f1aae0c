/**
 * One client of the collector: handshake, contexts, requests in, replies out in request order. docs/formats/wire.md §4, §10
 *
 *     challenge ──► introduction (handshake.ts) ──► requests
 */

import { setMaxListeners } from 'node:events'
import type { ByteAccount, ByteBudget } from '../base/byte-budget.ts'
import { type DebugName, debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { ALL_INSTANCES, type Profile, profileBytes } from '../model/profile.ts'
import type { Ask, Credentials, MetricSource, Requester } from '../model/source.ts'
import { OP_FETCH, OP_STORE } from '../net/access/statements.ts'
import { PduServer, type ServedPeer, type ServerPolicy } from '../net/pdu-server.ts'
import { COLLECTOR_REQUESTS } from '../net/serve-source.ts'
import { encodeChallenge, encodeError } from '../wire/error.ts'
import type { FetchPdu } from '../wire/fetch.ts'
import { PDU_ATTR, PDU_CREDS, PDU_PMNS_TRAVERSE, PDU_PROFILE, PDU_RESULT } from '../wire/pdu.ts'
import { decodeProfile } from '../wire/profile.ts'
import { attributesOf, type ClientIdentity, requesterOf } from './client-identity.ts'
import type { FetchBatch } from './fetch-batch.ts'
import { flagsIn, type Gate, Handshake, OPEN_GATE } from './handshake.ts'
import type { Limits } from './options.ts'
import type { WorkQueue } from './work-queue.ts'

/** The socket, as far as a client needs it. */
export interface ClientConnection extends ServedPeer {
  /** Sends what is queued, then closes; for a time, what still comes is dropped. */
  close(lingerMs?: number): Promise<void>
  /** Ends immediately, dropping what is queued. */
  destroy(error?: PcpError): void
}

/** What the collector is to its clients. */
export interface ClientHost {
  readonly source: MetricSource
  readonly batch: FetchBatch
  /** Work beyond a client's share. */
  readonly work: WorkQueue
  /** Memory that clients make the collector hold. */
  readonly budget: ByteBudget
  readonly limits: Limits
  /** PDU_FLAG_* offered to everybody. */
  readonly features: number
  /** The client's attributes are known, or have changed. */
  readonly introduced: (client: Client) => void
  /** Logs the first refusal of each host. */
  readonly violation: (client: Client) => void
}

/** Work that a client may ask for before all others have a turn: so many small requests, or one large one. */
const WORK_A_TURN = 16
/** Bytes of a request that count as another small one. */
const WORK_BYTES = 1024
/** How long a client may take to read why it is refused. */
export const LINGER_MS: number = 1000
/** Why nothing is read from a client. */
const TURN = 'the others have a turn'
const HANDSHAKE = 'the handshake is at work'
const GONE = new PcpError('PM_ERR_EOF', 'The client has gone')

/** A connected client. */
export class Client {
  #identity: ClientIdentity
  readonly #connection: ClientConnection
  readonly #host: ClientHost
  readonly #contexts = new Map<number, Requester>()
  readonly #server: PduServer<MetricSource, Ask>
  readonly #account: ByteAccount
  /** Bytes of requests and replies, and of what the connection holds. */
  #outstanding = 0
  #held = 0
  /** Aborted when the client goes: its questions that agents have not been asked yet are dropped. */
  readonly #gone = new AbortController()
  /** Undefined when it has introduced itself. */
  #introduction: Handshake | undefined
  #isClosed = false
  /** Work asked for since the others had their turn. */
  #work = 0
  /** Undefined as long as it has named none. */
  #container: string | undefined
  /** Who asks when no context is named. */
  #anybody: Requester
  #whoami = ''
  /** OP_* bits it may not do. */
  denied: number

  /** Sends the challenge; `gate` is what lies between it and the first request. */
  constructor(
    identity: ClientIdentity,
    connection: ClientConnection,
    host: ClientHost,
    denied: number,
    gate: Gate = OPEN_GATE,
  ) {
    this.#identity = identity
    this.#connection = connection
    this.#host = host
    this.#account = host.budget.open({
      name: `Client ${identity.seq} of ${identity.address}`,
      group: identity.origin,
      evict: (reason) => this.#evicted(reason),
    })
    this.denied = denied
    this.#anybody = this.#requester(0, ALL_INSTANCES)
    setMaxListeners(0, this.#gone.signal) // each question that waits for an agent listens
    this.#server = new PduServer(this.#policy(), connection)
    this.#introduction = this.#introduce(gate, host.features | gate.features)
    connection.send(encodeChallenge(host.features | gate.features))
  }

  /** Who it is. */
  get identity(): ClientIdentity {
    return this.#identity
  }

  /** It has proved who it is, before its first request. */
  setCredentials(credentials: Credentials): void {
    this.#identity = { ...this.#identity, credentials }
    this.#anybody = this.#requester(0, ALL_INSTANCES)
  }

  /** Container it looks into; '' for none. */
  get container(): string {
    return this.#container ?? ''
  }

  /** What the client says it is. */
  get whoami(): string {
    return this.#whoami
  }

  set whoami(text: string) {
    this.#account.keep(text.length - this.#whoami.length)
    this.#whoami = text
  }

  /** Has it finished the handshake? */
  get isOpen(): boolean {
    return this.#introduction === undefined && !this.#isClosed
  }

  /** Adds PMCD_* bits to send with the next fetch. */
  addChanges(changes: number): void {
    this.#server.addChanges(changes)
  }

  /** Looks into another container from now on. EINVAL for a name no container can have. */
  setContainer(name: string): void {
    if (!/^[\w.-]*$/.test(name))
      throw new PcpError('EINVAL', `Container name "${name}" has characters it cannot have`)
    this.#account.keep(name.length - this.container.length)
    this.#container = name
    this.#anybody = this.#requester(0, ALL_INSTANCES)
    for (const [context, { profile }] of this.#contexts)
      this.#contexts.set(context, this.#requester(context, profile))
    if (this.isOpen) this.#host.introduced(this)
  }

  /** What agents are told about it, in PCP's order; that it has left its container as ''. */
  get attributes(): readonly (readonly [key: number, value: string])[] {
    return attributesOf(this.#identity, this.#container)
  }

  /** Counts bytes that its connection holds: requests in pieces, replies that it does not read. */
  setHeld(bytes: number): void {
    this.#held = bytes
    this.#weigh()
  }

  /** Tells the client why, and closes. */
  refuse(status: number): void {
    if (this.#isClosed) return
    this.#connection.send(encodeError(status))
    this.ended()
    void this.#connection.close(LINGER_MS)
  }

  /** Stops; replies still to come are dropped. */
  close(): void {
    if (this.#isClosed) return
    this.ended()
    void this.#connection.close()
  }

  /** The connection has ended by itself. */
  ended(): void {
    this.#isClosed = true
    this.#server.close()
    this.#host.budget.close(this.#account)
    this.#introduction?.end()
    this.#gone.abort(GONE) // making an exception for each costs more than all else that ends a client
  }

  /** Takes a PDU from the client. It may borrow the socket's buffer: what is kept is copied by the decoders. */
  receive(pdu: Uint8Array): void {
    if (this.#isClosed) return
    if (this.#introduction === undefined) {
      this.#server.receive(pdu)
      return
    }
    try {
      this.#introduction.receive(pdu)
    } catch (error) {
      this.refuse(PcpError.from(error).status)
    }
  }

  #evicted(reason: string): void {
    this.ended()
    this.#connection.destroy(new PcpError('ENOMEM', `The client is dropped: it ${reason}`))
  }

  #weigh(): void {
    this.#account.setPassing(this.#held + this.#outstanding)
  }

  #introduce(gate: Gate, features: number): Handshake {
    return new Handshake(
      {
        send: (pdu) => this.#connection.send(pdu),
        pause: () => this.#server.hold(HANDSHAKE),
        resume: () => this.#server.release(HANDSHAKE),
        setContainer: (name) => this.setContainer(name),
        done: () => {
          this.#introduction = undefined
          this.#host.introduced(this)
        },
        refuse: (error) => this.refuse(error.status),
        drop: () => this.close(),
      },
      gate,
      features,
    )
  }

  /** A client may say again what it wants, but encryption and users are for once. */
  #credsAgain(pdu: Uint8Array): void {
    const { features } = this.#host
    if (flagsIn(pdu, features) === undefined) return
    this.#introduction = this.#introduce(OPEN_GATE, features)
    this.#introduction.receive(pdu)
  }

  /** How its requests are served: what it may do, who asks, and when others have a turn. */
  #policy(): ServerPolicy<MetricSource, Ask> {
    const { source, batch, work, limits, violation } = this.#host
    const { signal } = this.#gone
    return {
      source,
      requests: COLLECTOR_REQUESTS,
      admit: (type, pdu) => {
        const isIntroduction = type === PDU_CREDS || type === PDU_ATTR
        const operation = isIntroduction ? 0 : type === PDU_RESULT ? OP_STORE : OP_FETCH
        if ((this.denied & operation) !== 0) {
          violation(this)
          throw new PcpError('PM_ERR_PERMISSION')
        }
        this.#count(type, pdu.length)
      },
      notice: (type, pdu) => {
        if (type === PDU_PROFILE) this.#profile(pdu)
        else if (type === PDU_CREDS) this.#credsAgain(pdu)
        else return false
        return true
      },
      // Fetches are asked by one of its contexts, with the profile of that.
      identify: ({ isFetch }, _pdu, query) => {
        if (isFetch !== true) return { requester: this.#anybody, signal, moment: {} }
        const { context, ids } = query as FetchPdu
        const requester = this.#contexts.get(context)
        if (requester === undefined)
          throw new PcpError('PM_ERR_NOPROFILE', `Context ${context} has no profile`)
        if (ids.length > limits.metrics)
          throw new PcpError('PM_ERR_TOOBIG', `${ids.length} metrics in one fetch`)
        return { requester, signal }
      },
      defer: ({ type, isFetch }, query, who, run) => {
        if (isFetch === true) {
          batch.add((query as FetchPdu).ids.length, who, run)
          return true
        }
        // A fetch before it must not see what a store after it changes.
        if (type === PDU_RESULT) batch.flush()
        if (type !== PDU_PMNS_TRAVERSE) return false
        // It may be for all names: all others have a turn before it, and the client's next request waits for its reply.
        this.#server.hold(TURN)
        work.add(() => {
          if (!this.#isClosed) void run(who).then(() => this.#rested())
        })
        return true
      },
      answered: ({ isFetch }) => {
        if (isFetch === true) batch.busyPoll.touch()
      },
      weigh: (bytes) => {
        this.#outstanding = bytes
        this.#account.setPassing(this.#held + bytes)
      },
      trace: (topic, text) => this.#trace(topic, text),
    }
  }

  #profile(pdu: Uint8Array): void {
    const { context, profile } = decodeProfile(pdu)
    if (context < 0) throw new PcpError('PM_ERR_IPC', `Context ${context} cannot be`)
    if (context >= this.#host.limits.contexts)
      throw new PcpError('EAGAIN', `Context ${context} is one too many`)
    if (debug.profile) this.#trace('profile', `context ${context} gets a profile of ${pdu.length} bytes`)
    const before = this.#contexts.get(context)
    this.#account.keep(profileBytes(profile) - (before === undefined ? 0 : profileBytes(before.profile)))
    if (this.#isClosed) return
    this.#contexts.set(context, this.#requester(context, profile))
  }

  #trace(topic: DebugName, text: string): void {
    trace(topic, `client ${this.identity.seq}: ${text}`)
  }

  /** Lets the others have a turn when this client has asked for much: it may send thousands of requests at a time. */
  #count(type: number, bytes: number): void {
    if (this.#server.isIdle) this.#work = 0
    if (type === PDU_PMNS_TRAVERSE) return // it has a turn of its own
    this.#work += 1 + bytes / WORK_BYTES
    if (this.#work < WORK_A_TURN || this.#server.isHeldBy(TURN)) return
    this.#server.hold(TURN)
    this.#host.work.add(() => this.#rested())
  }

  /** Reads on: the others had their turn. */
  #rested(): void {
    this.#work = 0
    this.#server.release(TURN)
  }

  #requester(context: number, profile: Profile): Requester {
    return requesterOf(this.#identity, context, profile, this.container)
  }
}
