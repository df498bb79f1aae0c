/**
 * One client of the collector: handshake, contexts, requests in, replies out in request order. docs/formats/wire.md §4, §10
 *
 *     challenge ──► handshake (handshake.ts) ──► requests
 */

import { setMaxListeners } from 'node:events'
import type { ByteAccount, ByteBudget } from '../base/byte-budget.ts'
import { type DebugName, debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { ALL_INSTANCES, type Profile, profileBytes } from '../model/profile.ts'
import type { Ask, Credentials, MetricSource, Requester } from '../model/source.ts'
import { OP_FETCH, OP_STORE } from '../net/access/statements.ts'
import { type PduPeer, PduServer, type ServerPolicy } from '../net/pdu-server.ts'
import { COLLECTOR_REQUESTS } from '../net/serve-source.ts'
import { encodeChallenge, encodeError } from '../wire/error.ts'
import type { FetchPdu } from '../wire/fetch.ts'
import { PDU_ATTR, PDU_CREDS, PDU_PMNS_TRAVERSE, PDU_PROFILE, PDU_RESULT } from '../wire/pdu.ts'
import { decodeProfile } from '../wire/profile.ts'
import { attributesOf, type ClientIdentity, requesterOf } from './client-identity.ts'
import type { FetchBatch } from './fetch-batch.ts'
import { flagsIn, Handshake, type HandshakePolicy, OPEN_HANDSHAKE_POLICY } from './handshake.ts'
import type { Limits } from './options.ts'
import type { WorkQueue } from './work-queue.ts'

/** The connection, as far as a client needs it. */
export interface ClientConnection extends PduPeer {
  /** Sends queued data, then closes; discards input for `lingerMs`. */
  close(lingerMs?: number): Promise<void>
  /** Closes immediately, dropping queued data. */
  destroy(error?: PcpError): void
}

/** The collector, as its clients need it. */
export interface ClientHost {
  readonly source: MetricSource
  readonly batch: FetchBatch
  /** Queue for work beyond a client's share. */
  readonly work: WorkQueue
  /** Memory budget of all clients. */
  readonly budget: ByteBudget
  readonly limits: Limits
  /** PDU_FLAG_* offered to all clients. */
  readonly features: number
  /** Called when the client's attributes are known or have changed. */
  readonly identified: (client: Client) => void
  /** Logs the first refusal of each host. */
  readonly violation: (client: Client) => void
}

/** Work a client may request before other clients get a turn, in units of one small request. */
const WORK_A_TURN = 16
/** Bytes of a request that count as one more unit. */
const WORK_BYTES = 1024
/** Time for a client to read the reason of its refusal. */
export const LINGER_MS: number = 1000
/** Reasons for not reading from a client. */
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
  /** Bytes of pending requests and replies, and bytes held by the connection. */
  #outstanding = 0
  #held = 0
  /** Aborted when the client leaves; requests not yet sent to agents are then dropped. */
  readonly #leaving = new AbortController()
  /** Undefined once the handshake is complete. */
  #handshake: Handshake | undefined
  #isClosed = false
  /** Work units since other clients had a turn. */
  #work = 0
  /** Undefined until the client names one. */
  #container: string | undefined
  /** Requester of requests without a context. */
  #defaultRequester: Requester
  #whoami = ''
  /** OP_* bits it may not do. */
  denied: number

  /** Sends the challenge; `gate` determines the handshake before the first request. */
  constructor(
    identity: ClientIdentity,
    connection: ClientConnection,
    host: ClientHost,
    denied: number,
    gate: HandshakePolicy = OPEN_HANDSHAKE_POLICY,
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
    this.#defaultRequester = this.#requester(0, ALL_INSTANCES)
    setMaxListeners(0, this.#leaving.signal) // each pending request adds a listener
    this.#server = new PduServer(this.#policy(), connection)
    this.#handshake = this.#startHandshake(gate, host.features | gate.features)
    connection.send(encodeChallenge(host.features | gate.features))
  }

  get identity(): ClientIdentity {
    return this.#identity
  }

  /** Sets credentials after authentication, before the first request. */
  setCredentials(credentials: Credentials): void {
    this.#identity = { ...this.#identity, credentials }
    this.#defaultRequester = this.#requester(0, ALL_INSTANCES)
  }

  /** Container whose values the client sees; '' for none. */
  get container(): string {
    return this.#container ?? ''
  }

  /** Description that the client stored in pmcd.client.whoami. */
  get whoami(): string {
    return this.#whoami
  }

  set whoami(text: string) {
    this.#account.keep(text.length - this.#whoami.length)
    this.#whoami = text
  }

  /** True after the handshake. */
  get isOpen(): boolean {
    return this.#handshake === undefined && !this.#isClosed
  }

  /** Adds PMCD_* bits to send with the next fetch. */
  addChanges(changes: number): void {
    this.#server.addChanges(changes)
  }

  /** Selects another container. EINVAL for an invalid name. */
  setContainer(name: string): void {
    if (!/^[\w.-]*$/.test(name))
      throw new PcpError('EINVAL', `Container name "${name}" has invalid characters`)
    this.#account.keep(name.length - this.container.length)
    this.#container = name
    this.#defaultRequester = this.#requester(0, ALL_INSTANCES)
    for (const [context, { profile }] of this.#contexts)
      this.#contexts.set(context, this.#requester(context, profile))
    if (this.isOpen) this.#host.identified(this)
  }

  /** Attributes sent to agents, in PCP's order; '' as container after leaving one. */
  get attributes(): readonly (readonly [key: number, value: string])[] {
    return attributesOf(this.#identity, this.#container)
  }

  /** Counts bytes held by the connection: incomplete requests and replies that the client does not read. */
  setHeld(bytes: number): void {
    this.#held = bytes
    this.#weigh()
  }

  /** Sends the client a reason and closes the connection. */
  refuse(status: number): void {
    if (this.#isClosed) return
    this.#connection.send(encodeError(status))
    this.ended()
    void this.#connection.close(LINGER_MS)
  }

  /** Closes the connection; pending replies are dropped. */
  close(): void {
    if (this.#isClosed) return
    this.ended()
    void this.#connection.close()
  }

  /** Must be called when the connection has ended by itself. */
  ended(): void {
    this.#isClosed = true
    this.#server.close()
    this.#host.budget.close(this.#account)
    this.#handshake?.end()
    this.#leaving.abort(GONE) // a new exception per client would dominate the cost of closing
  }

  /** Processes a PDU from the client. It may borrow the socket's buffer; decoders copy what they keep. */
  receive(pdu: Uint8Array): void {
    if (this.#isClosed) return
    if (this.#handshake === undefined) {
      this.#server.receive(pdu)
      return
    }
    try {
      this.#handshake.receive(pdu)
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

  #startHandshake(gate: HandshakePolicy, features: number): Handshake {
    return new Handshake(
      {
        send: (pdu) => this.#connection.send(pdu),
        pause: () => this.#server.hold(HANDSHAKE),
        resume: () => this.#server.release(HANDSHAKE),
        setContainer: (name) => this.setContainer(name),
        done: () => {
          this.#handshake = undefined
          this.#host.identified(this)
        },
        refuse: (error) => this.refuse(error.status),
        drop: () => this.close(),
      },
      gate,
      features,
    )
  }

  /** A client may send CREDS again, but encryption and authentication are possible only once. */
  #credsAgain(pdu: Uint8Array): void {
    const { features } = this.#host
    if (flagsIn(pdu, features) === undefined) return
    this.#handshake = this.#startHandshake(OPEN_HANDSHAKE_POLICY, features)
    this.#handshake.receive(pdu)
  }

  /** Returns the policy for its requests: permissions, requester, and fair scheduling among clients. */
  #policy(): ServerPolicy<MetricSource, Ask> {
    const { source, batch, work, limits, violation } = this.#host
    const { signal } = this.#leaving
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
      handleOther: (type, pdu) => {
        if (type === PDU_PROFILE) this.#profile(pdu)
        else if (type === PDU_CREDS) this.#credsAgain(pdu)
        else return false
        return true
      },
      // A fetch belongs to a context and uses that context's profile.
      identify: ({ isFetch }, _pdu, query) => {
        if (isFetch !== true) return { requester: this.#defaultRequester, signal, batch: {} }
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
        // An earlier fetch must not see the effects of a later store.
        if (type === PDU_RESULT) batch.flush()
        if (type !== PDU_PMNS_TRAVERSE) return false
        // It may cover all names: other clients get a turn first, and this client's next request waits for the reply.
        this.#server.hold(TURN)
        work.add(() => {
          if (!this.#isClosed) void run(who).then(() => this.#resumeTurn())
        })
        return true
      },
      answered: ({ isFetch }) => {
        if (isFetch === true) batch.busyPoll.touch()
      },
      onBytes: (bytes) => {
        this.#outstanding = bytes
        this.#account.setPassing(this.#held + bytes)
      },
      trace: (topic, text) => this.#trace(topic, text),
    }
  }

  #profile(pdu: Uint8Array): void {
    const { context, profile } = decodeProfile(pdu)
    if (context < 0) throw new PcpError('PM_ERR_IPC', `Context ${context} is not a valid number`)
    if (context >= this.#host.limits.contexts)
      throw new PcpError('EAGAIN', `Context ${context} exceeds the limit of ${this.#host.limits.contexts}`)
    if (debug.profile) this.#trace('profile', `context ${context} gets a profile of ${pdu.length} bytes`)
    const before = this.#contexts.get(context)
    this.#account.keep(profileBytes(profile) - (before === undefined ? 0 : profileBytes(before.profile)))
    if (this.#isClosed) return
    this.#contexts.set(context, this.#requester(context, profile))
  }

  #trace(topic: DebugName, text: string): void {
    trace(topic, `client ${this.identity.seq}: ${text}`)
  }

  /** Yields to other clients after much work: a client may send thousands of requests at once. */
  #count(type: number, bytes: number): void {
    if (this.#server.isIdle) this.#work = 0
    if (type === PDU_PMNS_TRAVERSE) return // it is queued separately
    this.#work += 1 + bytes / WORK_BYTES
    if (this.#work < WORK_A_TURN || this.#server.isHeldBy(TURN)) return
    this.#server.hold(TURN)
    this.#host.work.add(() => this.#resumeTurn())
  }

  /** Resumes reading after the other clients had their turn. */
  #resumeTurn(): void {
    this.#work = 0
    this.#server.release(TURN)
  }

  #requester(context: number, profile: Profile): Requester {
    return requesterOf(this.#identity, context, profile, this.container)
  }
}
