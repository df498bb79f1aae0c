/** All clients of a collector: let in or refused, numbered, judged anew by new access rules, gone. pmcd(1) */

import type { Socket } from 'node:net'
import { type BudgetLimits, ByteBudget } from '../base/byte-budget.ts'
import { debug, trace } from '../model/debug.ts'
import { PcpError, statusOf } from '../model/errors.ts'
import { PM_IN_NULL } from '../model/ids.ts'
import type { Credentials, MetricSource } from '../model/source.ts'
import { OP_ALL } from '../net/access/statements.ts'
import type { AccessTable, Admission, Peer } from '../net/access/table.ts'
import { originOf } from '../net/client-origin.ts'
import { PduConnection, socketStream } from '../net/connection.ts'
import type { PduCounters } from '../net/counters.ts'
import type { Endpoint } from '../net/listen.ts'
import { deadline } from '../net/wait.ts'
import { descriptorOf } from '../sys/descriptor.ts'
import type { Log } from '../sys/log.ts'
import type { PeerCredentials } from '../sys/native/peer-credentials.ts'
import { PDU_FLAG_CONTAINER, PDU_FLAG_DESCS, PDU_FLAG_HIGHRES, PDU_FLAG_LABELS } from '../wire/creds.ts'
import { encodeChallenge } from '../wire/error.ts'
import { Client, type ClientHost, LINGER_MS } from './client.ts'
import { ConnectionWatch, type EventTrace } from './event-trace.ts'
import { FetchBatch } from './fetch-batch.ts'
import type { Limits } from './options.ts'
import { RateLimitedLog } from './rate-limited-log.ts'
import type { Security } from './security.ts'
import { WorkQueue } from './work-queue.ts'

const FEATURES: number = PDU_FLAG_CONTAINER | PDU_FLAG_LABELS | PDU_FLAG_HIGHRES | PDU_FLAG_DESCS
const PERMISSION: number = statusOf('PM_ERR_PERMISSION')
const CONNLIMIT: number = statusOf('PM_ERR_CONNLIMIT')

/** What clients need of their collector. */
export interface ClientsHost {
  readonly source: MetricSource
  readonly limits: Limits
  /** Memory that clients may make the collector hold. */
  readonly memory: BudgetLimits
  readonly log: Log
  readonly counters: PduCounters
  readonly clock: () => number
  /** Milliseconds for the rest of a PDU that has begun; 0 is no limit. Asked for each connection. */
  readonly incompleteMs: () => number
  /** Milliseconds until a client must have introduced itself. */
  readonly handshakeMs: number
  readonly events: EventTrace
  /** Who is at the other end of unix sockets; absent where nobody can know. */
  readonly peerCredentials: PeerCredentials | undefined
  readonly security: Security
  /** Agents must hear who this is. */
  readonly introduced: (client: Client) => void
}

/** A client and what belongs to its connection. */
interface Connected {
  readonly client: Client
  readonly connection: PduConnection
  peer: Peer
  admission: Admission
}

/** The connected clients. */
export class Clients {
  readonly #host: ClientsHost
  readonly #clientHost: ClientHost
  /** By slot; freed slots are used again. */
  readonly #slots: (Connected | undefined)[] = []
  /** Hosts whose refusal has been logged under the present access rules. */
  readonly #violators = new RateLimitedLog()
  /** Clients that came before there was anything to serve; undefined from then on. */
  #early: Connected[] | undefined = []
  #access: AccessTable
  #nextSeq = 0
  #isClosed = false

  constructor(host: ClientsHost, access: AccessTable) {
    this.#host = host
    this.#access = access
    this.#clientHost = {
      source: host.source,
      batch: new FetchBatch(),
      work: new WorkQueue(),
      budget: new ByteBudget(host.memory, (text) => host.log.notice('warning', text)),
      limits: host.limits,
      features: FEATURES,
      introduced: host.introduced,
      violation: (client) => this.#violation(client.identity.address),
    }
    this.#warnOfUnknowns()
  }

  /** The access rules in force. */
  get access(): AccessTable {
    return this.#access
  }

  /** Those connected now, by slot. */
  all(): Client[] {
    return this.#connected().map(({ client }) => client)
  }

  /** The client in a slot. PM_ERR_PERMISSION when it is not connection number `seq`; PM_IN_NULL stands for any. */
  own(slot: number, seq: number): Client {
    const client = this.#slots[slot]?.client
    if (client === undefined || (seq !== PM_IN_NULL && client.identity.seq !== seq))
      throw new PcpError('PM_ERR_PERMISSION', 'A client may only change what is said about itself')
    return client
  }

  /** Takes a new connection; a client that may do nothing, or is one too many, is told and dropped. */
  accept(socket: Socket, endpoint: Endpoint): void {
    if (endpoint.family !== 'unix' && socket.remoteAddress === undefined) {
      // It has been reset already. What it sent can still be read, and rules for hosts would not match it.
      socket.destroy()
      return
    }
    const { address, peer } = this.#peerOf(socket, endpoint)
    const incompleteMs = this.#host.incompleteMs()
    const seq = this.#nextSeq
    const fd = descriptorOf(socket)
    const { events } = this.#host
    let client: Client | undefined
    const connection = new PduConnection(socketStream(socket), {
      name: `client ${address}`,
      limit: this.#host.limits.pduBytes,
      ...(incompleteMs === 0 ? {} : { incompleteMs }),
      backpressure: true,
      onHeld: (bytes) => client?.setHeld(bytes),
      counters: this.#host.counters,
      watch: new ConnectionWatch(events, `client ${seq}`, fd),
    })
    const isUnknown = peer.credentials === undefined
    const { hasUsers, demands } = this.#host.security
    const admission = this.#access.check({ ...peer, isPending: isUnknown && hasUsers })
    const isLost = isUnknown && !hasUsers && demands.requiresUser === true
    const isDenied = admission.denied === OP_ALL || isLost
    if (debug.access)
      trace(
        'access',
        `${address} fd=${fd}: denied ${admission.denied}, ${admission.counted.length} rules count it`,
      )
    if (isDenied) this.#violation(address)
    if (this.#isClosed || isDenied || !this.#access.admit(admission)) {
      connection.send(encodeChallenge(0, isDenied ? PERMISSION : CONNLIMIT))
      void connection.close(LINGER_MS)
      return
    }
    const free = this.#slots.indexOf(undefined)
    const slot = free < 0 ? this.#slots.length : free
    const identity = {
      slot,
      seq,
      fd,
      address,
      origin: originOf({ address: peer.address, uid: peer.credentials?.uid }),
      startMs: this.#host.clock(),
      ...(peer.credentials === undefined ? {} : { credentials: peer.credentials }),
    }
    this.#nextSeq++
    events.clientAdded(slot, address, fd, seq)
    if (debug.context) trace('context', `client ${seq} comes from ${address}, slot ${slot}, fd=${fd}`)
    if (debug.auth) trace('auth', `client ${seq} is ${JSON.stringify(peer.credentials ?? 'unknown')}`)
    const gate = this.#host.security.gateFor({
      connection,
      address: peer.address,
      credentials: peer.credentials,
      isJudgedByUser: this.#access.needsCredentials,
      loggedIn: (credentials) => this.#loggedIn(connected, credentials),
    })
    client = new Client(identity, connection, this.#clientHost, admission.denied, gate)
    const connected: Connected = { client, connection, peer, admission }
    this.#slots[slot] = connected
    connection.onClose((error) => this.#gone(connected, error))
    if (this.#early === undefined) this.#hear(connected)
    else this.#early.push(connected)
  }

  /** Refuses a connection for want of a descriptor. */
  refuse(socket: Socket): void {
    const connection = new PduConnection(socketStream(socket), { name: 'a client that is refused' })
    connection.send(encodeChallenge(0, CONNLIMIT))
    void connection.close(LINGER_MS)
  }

  /** A client has proved who it is: it is judged by that now. */
  #loggedIn(connected: Connected, credentials: Credentials): void {
    const { client, admission } = connected
    connected.peer = { ...connected.peer, credentials }
    this.#access.release(admission)
    this.#judge(connected)
    if (debug.auth) trace('auth', `client ${client.identity.seq} is ${JSON.stringify(credentials)}`)
    client.setCredentials(credentials)
  }

  /** Asks the present rules about a client that is not counted. Throws why it may not stay. */
  #judge(connected: Connected): void {
    const { client, peer } = connected
    const admission = this.#access.check(peer)
    const isDenied = admission.denied === OP_ALL
    const isIn = !isDenied && this.#access.admit(admission)
    connected.admission = isIn ? admission : { ...admission, counted: [] }
    client.denied = admission.denied
    if (isDenied) this.#violation(client.identity.address)
    if (!isIn) throw new PcpError(isDenied ? 'PM_ERR_PERMISSION' : 'PM_ERR_CONNLIMIT')
  }

  /** From now on requests are answered, those that came before as well. */
  serve(): void {
    const early = this.#early
    this.#early = undefined
    for (const connected of early ?? []) this.#hear(connected)
  }

  /** PMCD_* bits to tell each client with its next fetch. */
  addChanges(changes: number): void {
    for (const { client } of this.#connected()) client.addChanges(changes)
  }

  /** Judges every client anew; one that may do nothing any more, or is one too many, is told and dropped. */
  setAccess(access: AccessTable): void {
    this.#access = access
    this.#violators.clear()
    this.#warnOfUnknowns()
    for (const connected of this.#connected()) {
      try {
        this.#judge(connected)
      } catch (error) {
        connected.client.refuse(PcpError.from(error).status)
      }
    }
  }

  /** Drops all clients, and those that still come; resolves when their connections are closed. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(
      this.#connected().map(({ client, connection }) => {
        client.close()
        return connection.close()
      }),
    )
  }

  #connected(): Connected[] {
    return this.#slots.filter((connected) => connected !== undefined)
  }

  #peerOf(socket: Socket, endpoint: Endpoint): { address: string; peer: Peer } {
    if (endpoint.family !== 'unix') {
      const address = socket.remoteAddress!
      return { address, peer: { address } }
    }
    const credentials = this.#host.peerCredentials?.of(socket)
    const peer = { address: undefined, ...(credentials === undefined ? {} : { credentials }) }
    return { address: endpoint.address, peer }
  }

  /** Takes its PDUs, and drops it when it does not introduce itself in time. */
  #hear({ client, connection }: Connected): void {
    connection.onPdu((pdu) => client.receive(pdu))
    const cancel = deadline(this.#host.handshakeMs, () => {
      if (!client.isOpen) connection.destroy()
    })
    connection.onClose(cancel)
  }

  #gone({ client, admission }: Connected, error: PcpError): void {
    const { slot, seq, fd } = client.identity
    const { events } = this.#host
    events.clientEnded(slot, fd, error.code === 'PM_ERR_EOF' ? undefined : error)
    if (debug.context) trace('context', `client ${seq} ends: ${error.message}`)
    this.#slots[slot] = undefined
    client.ended()
    this.#access.release(admission)
    this.#host.source.endClient?.(slot)
  }

  #violation(address: string): void {
    if (this.#violators.isNew(address))
      this.#host.log.notice('warning', `access violation from host ${address}`)
  }

  /** Rules that nobody can satisfy are no reason to let everybody in, but one to say so. */
  #warnOfUnknowns(): void {
    if (!this.#access.needsCredentials) return
    const { peerCredentials, log } = this.#host
    const problem = peerCredentials === undefined ? 'nobody can be asked' : peerCredentials.problem()
    const fate = this.#host.security.hasUsers ? 'must authenticate' : 'is refused'
    const who =
      problem === undefined
        ? `users of clients are known on the unix socket only, so every other client ${fate}`
        : `users of clients cannot be known here (${problem}), so every client ${fate}`
    log.notice(
      'warning',
      `Access rules name users or groups: ${who}; to let clients in, remove these rules and allow hosts ("local:*" is this host)`,
    )
  }
}
