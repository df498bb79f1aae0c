/**
 * One client of the collector: handshake, contexts, requests in, replies out in request order. docs/formats/wire.md §4, §10
 *
 *     challenge ──► introduction (handshake.ts) ──► requests
 */
import { setMaxListeners } from 'node:events'
import type { ByteAccount, ByteBudget } from '../base/byte-budget.ts'
import { PcpError, statusOf } from '../model/errors.ts'
import { pmidStr } from '../model/ids.ts'
import { ALL_INSTANCES, type Profile, profileBytes } from '../model/profile.ts'
import type { Credentials, MetricSource, Requester } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'
import { OP_FETCH, OP_STORE } from '../net/access/statements.ts'
import { encodeChallenge, encodeError } from '../wire/error.ts'
import { decodeFetch } from '../wire/fetch.ts'
import {
  PDU_ATTR,
  PDU_CREDS,
  PDU_FETCH,
  PDU_HIGHRES_FETCH,
  PDU_INSTANCE_REQ,
  PDU_LABEL_REQ,
  PDU_PMNS_CHILD,
  PDU_PMNS_IDS,
  PDU_PMNS_NAMES,
  PDU_PMNS_TRAVERSE,
  PDU_PROFILE,
  PDU_RESULT,
  pduName,
  pduType,
} from '../wire/pdu.ts'
import { decodeProfile } from '../wire/profile.ts'
import { encodeHighResResult, encodeResult } from '../wire/result.ts'
import { attributesOf, type ClientIdentity, requesterOf } from './client-identity.ts'
import type { Debug, Topic } from './debug.ts'
import type { FetchBatch } from './fetch-batch.ts'
import { flagsIn, type Gate, Handshake, OPEN_GATE } from './handshake.ts'
import type { Limits } from './options.ts'
import { REQUESTS, type RequestHandler } from './requests.ts'
import type { WorkQueue } from './work-queue.ts'

/** The socket, as far as a client needs it. */
export interface ClientConnection {
  /** Queues a whole PDU. */
  send(pdu: Uint8Array): void
  /** Sends what is queued, then closes; for a time, what still comes is dropped. */
  close(lingerMs?: number): Promise<void>
  /** Ends at once, dropping what is queued. */
  destroy(error?: PcpError): void
  /** Stops and resumes the arrival of PDUs. */
  pause(): void
  resume(): void
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
  readonly debug: Debug
}

/** Replies that may be outstanding before the collector stops reading from a client. */
const MAX_OUTSTANDING = 64
/** Bytes of outstanding requests and of their replies that wait for earlier ones, beyond which it stops as well. */
const MAX_OUTSTANDING_BYTES = 2 ** 20
/** What a request takes until it is answered, and for each byte of its PDU when it is decoded. */
const REQUEST_BYTES = 600
const DECODED_BYTES = 4
/** Work that a client may ask for before all others have a turn: so many small requests, or one large one. */
const WORK_A_TURN = 16
/** Bytes of a request that count as another small one. */
const WORK_BYTES = 1024
/** How long a client may take to read why it is refused. */
export const LINGER_MS: number = 1000
const PERMISSION: number = statusOf('PM_ERR_PERMISSION')
const GONE = new PcpError('PM_ERR_EOF', 'The client has gone')

/** Which diagnostic tells about a request. */
const TOPICS: Readonly<Record<number, Topic>> = {
  [PDU_INSTANCE_REQ]: 'indom',
  [PDU_LABEL_REQ]: 'labels',
  [PDU_PMNS_CHILD]: 'pmns',
  [PDU_PMNS_IDS]: 'pmns',
  [PDU_PMNS_NAMES]: 'pmns',
  [PDU_PMNS_TRAVERSE]: 'pmns',
}

/** The place of one reply in the order of replies; empty until it is known. */
interface Reply {
  pdus: readonly Uint8Array[] | undefined
  /** What it takes: at first its request, then its PDUs. */
  bytes: number
}

/** A connected client. */
export class Client {
  #identity: ClientIdentity
  readonly #connection: ClientConnection
  readonly #host: ClientHost
  readonly #contexts = new Map<number, Requester>()
  readonly #replies: Reply[] = []
  readonly #account: ByteAccount
  /** Bytes of `#replies`, and of what the connection holds. */
  #outstanding = 0
  #held = 0
  /** Aborted when the client goes: its questions that agents have not been asked yet are dropped. */
  readonly #gone = new AbortController()
  /** Undefined when it has introduced itself. */
  #introduction: Handshake | undefined
  #isClosed = false
  /** Work asked for since the others had their turn. */
  #work = 0
  /** Why nothing is read from it: the others have a turn, the handshake is at work. */
  #isTired = false
  #isHeld = false
  #changes = 0
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

  /** PMCD_* bits to tell with the next fetch. */
  addChanges(changes: number): void {
    this.#changes |= changes
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
    this.#host.budget.close(this.#account)
    this.#introduction?.end()
    this.#gone.abort(GONE) // making an exception for each costs more than all else that ends a client
  }

  /** Takes a PDU from the client. It may borrow the socket's buffer: what is kept is copied by the decoders. */
  receive(pdu: Uint8Array): void {
    if (this.#isClosed) return
    if (this.#introduction === undefined) {
      this.#request(pduType(pdu), pdu)
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
        pause: () => {
          this.#isHeld = true
          this.#connection.pause()
        },
        resume: () => {
          this.#isHeld = false
          this.#readOn()
        },
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

  #request(type: number, pdu: Uint8Array): void {
    const operation = type === PDU_CREDS || type === PDU_ATTR ? 0 : type === PDU_RESULT ? OP_STORE : OP_FETCH
    if ((this.denied & operation) !== 0) {
      this.#host.violation(this)
      this.#answer(encodeError(PERMISSION))
      return
    }
    this.#count(type, pdu.length)
    try {
      if (type === PDU_FETCH || type === PDU_HIGHRES_FETCH) this.#fetch(type, pdu)
      else if (type === PDU_PROFILE) this.#profile(pdu)
      else if (type === PDU_CREDS) this.#credsAgain(pdu)
      else this.#ask(type, pdu)
    } catch (error) {
      this.#answer(encodeError(PcpError.from(error).status))
    }
  }

  #profile(pdu: Uint8Array): void {
    const { context, profile } = decodeProfile(pdu)
    if (context < 0) throw new PcpError('PM_ERR_IPC', `Context ${context} cannot be`)
    if (context >= this.#host.limits.contexts)
      throw new PcpError('EAGAIN', `Context ${context} is one too many`)
    if (this.#host.debug.profile)
      this.#say('profile', `context ${context} gets a profile of ${pdu.length} bytes`)
    const before = this.#contexts.get(context)
    this.#account.keep(profileBytes(profile) - (before === undefined ? 0 : profileBytes(before.profile)))
    if (this.#isClosed) return
    this.#contexts.set(context, this.#requester(context, profile))
  }

  #fetch(type: number, pdu: Uint8Array): void {
    const { context, ids } = decodeFetch(pdu)
    const requester = this.#contexts.get(context)
    if (requester === undefined) throw new PcpError('PM_ERR_NOPROFILE', `Context ${context} has no profile`)
    if (ids.length > this.#host.limits.metrics)
      throw new PcpError('PM_ERR_TOOBIG', `${ids.length} metrics in one fetch`)
    const reply = this.#expect(pdu)
    const encode = type === PDU_FETCH ? encodeResult : encodeHighResResult
    this.#host.batch.add(
      ids,
      { requester, signal: this.#gone.signal },
      (result) => this.#resolve(reply, this.#fetchReply(encode, result)),
      (error) => this.#fail(reply, error),
    )
  }

  /** The result, after the state changes when there are any. */
  #fetchReply(encode: typeof encodeResult, result: FetchResult): readonly Uint8Array[] {
    if (this.#host.debug.fetch) this.#say('fetch', fetchText(result))
    const pdu = encode(result.timestamp, result.sets)
    if (this.#changes === 0) return [pdu]
    const changes = encodeError(this.#changes)
    this.#changes = 0
    return [changes, pdu]
  }

  /** Any request but a fetch. */
  #ask(type: number, pdu: Uint8Array): void {
    const request = REQUESTS[type]
    if (request === undefined) throw new PcpError('PM_ERR_IPC', `No request has type ${pduName(type)}`)
    // A fetch before it must not see what a store after it changes.
    if (type === PDU_RESULT) this.#host.batch.flush()
    const reply = this.#expect(pdu)
    if (type !== PDU_PMNS_TRAVERSE) {
      void this.#answerTo(request, type, pdu, reply)
      return
    }
    // It may be for all names: all others have a turn before it, and the client's next request waits for its reply.
    const own = pdu.slice()
    this.#beTired()
    this.#host.work.add(() => {
      if (!this.#isClosed) void this.#answerTo(request, type, own, reply).then(() => this.rested())
    })
  }

  /** Resolves when the reply is known, whatever it is. */
  #answerTo(request: RequestHandler, type: number, pdu: Uint8Array, reply: Reply): Promise<void> {
    const ask = { requester: this.#anybody, signal: this.#gone.signal, moment: {} }
    const topic = TOPICS[type]
    const isTold = topic !== undefined && this.#host.debug[topic]
    return request(this.#host.source, pdu, ask).then(
      (answer) => {
        if (isTold) this.#say(topic, `${pduName(type)} is answered by ${pduName(pduType(answer))}`)
        this.#resolve(reply, [answer])
      },
      (error: unknown) => {
        if (isTold) this.#say(topic, `${pduName(type)} fails: ${PcpError.from(error).message}`)
        this.#fail(reply, error)
      },
    )
  }

  /** A reply that is known already, in its place behind those that are not. */
  #answer(pdu: Uint8Array): void {
    this.#resolve(this.#expect(), [pdu])
  }

  #say(topic: Topic, text: string): void {
    this.#host.debug.say(topic, `client ${this.identity.seq}: ${text}`)
  }

  #expect(pdu?: Uint8Array): Reply {
    const bytes = REQUEST_BYTES + DECODED_BYTES * (pdu?.length ?? 0)
    const reply: Reply = { pdus: undefined, bytes }
    this.#replies.push(reply)
    this.#outstanding += bytes
    this.#weigh()
    if (this.#isFull) this.#connection.pause()
    return reply
  }

  #fail(reply: Reply, error: unknown): void {
    this.#resolve(reply, [encodeError(PcpError.from(error).status)])
  }

  #resolve(reply: Reply, pdus: readonly Uint8Array[]): void {
    const wasFull = this.#isFull
    reply.pdus = pdus
    let size = 0
    for (const { length } of pdus) size += length
    this.#outstanding += size - reply.bytes
    reply.bytes = size
    while (this.#replies[0]?.pdus !== undefined) {
      const { pdus: ready, bytes } = this.#replies.shift()!
      this.#outstanding -= bytes
      if (!this.#isClosed) for (const each of ready!) this.#connection.send(each)
    }
    this.#weigh()
    if (wasFull) this.#readOn()
  }

  get #isFull(): boolean {
    return this.#replies.length >= MAX_OUTSTANDING || this.#outstanding >= MAX_OUTSTANDING_BYTES
  }

  /** Lets the others have a turn when this client has asked for much: it may send thousands of requests at a time. */
  #count(type: number, bytes: number): void {
    if (this.#replies.length === 0) this.#work = 0
    if (type === PDU_PMNS_TRAVERSE) return // it has a turn of its own
    this.#work += 1 + bytes / WORK_BYTES
    if (this.#work < WORK_A_TURN || this.#isTired) return
    this.#beTired()
    this.#host.work.add(() => this.rested())
  }

  #beTired(): void {
    this.#isTired = true
    this.#connection.pause()
  }

  /** The others had their turn. */
  rested(): void {
    this.#isTired = false
    this.#work = 0
    this.#readOn()
  }

  #readOn(): void {
    if (!this.#isFull && !this.#isTired && !this.#isHeld && !this.#isClosed) this.#connection.resume()
  }

  #requester(context: number, profile: Profile): Requester {
    return requesterOf(this.#identity, context, profile, this.container)
  }
}

/** Metrics and how many values each has, or its error. */
function fetchText({ timestamp, sets }: FetchResult): string {
  const counts = sets.map(({ pmid, status }) => `${pmidStr(pmid)}=${status}`)
  return `${sets.length} metrics at ${timestamp.sec}.${String(timestamp.nsec).padStart(9, '0')}: ${counts.join(' ')}`
}
