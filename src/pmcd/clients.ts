/** All clients of a collector: accepting and refusing, numbering, access control. pmcd(1) */

import type { Socket } from 'node:net'
import { type BudgetLimits, ByteBudget } from '../base/byte-budget.ts'
import { debug, trace } from '../model/debug.ts'
import { PcpError, statusOf } from '../model/errors.ts'
import { PM_IN_NULL } from '../model/ids.ts'
import type { Credentials, MetricSource } from '../model/source.ts'
import { OP_ALL } from '../net/access/statements.ts'
import type { AccessPeer, AccessTable, Admission } from '../net/access/table.ts'
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
import { ConnectionTracer, type EventTrace } from './event-trace.ts'
import { FetchBatch } from './fetch-batch.ts'
import type { Limits } from './options.ts'
import { RateLimitedLog } from './rate-limited-log.ts'
import type { CollectorSecurity } from './security.ts'
import { WorkQueue } from './work-queue.ts'

const FEATURES: number = PDU_FLAG_CONTAINER | PDU_FLAG_LABELS | PDU_FLAG_HIGHRES | PDU_FLAG_DESCS
const PERMISSION: number = statusOf('PM_ERR_PERMISSION')
const CONNLIMIT: number = statusOf('PM_ERR_CONNLIMIT')

/** The collector, as its clients need it. */
export interface ClientsHost {
  readonly source: MetricSource
  readonly limits: Limits
  /** Memory limits for all clients. */
  readonly memory: BudgetLimits
  readonly log: Log
  readonly counters: PduCounters
  readonly clock: () => number
  /** Milliseconds for the rest of an incomplete PDU; 0 for no limit. Called for each connection. */
  readonly incompleteMs: () => number
  /** Milliseconds for the handshake. */
  readonly handshakeMs: number
  readonly events: EventTrace
  /** Identifies peers of unix sockets; undefined if the platform cannot. */
  readonly peerCredentials: PeerCredentials | undefined
  readonly security: CollectorSecurity
  /** Called when agents need the attributes of a client. */
  readonly introduced: (client: Client) => void
}

/** A client with its connection. */
interface ConnectedClient {
  readonly client: Client
  readonly connection: PduConnection
  peer: AccessPeer
  admission: Admission
}

/** The connected clients. */
export class Clients {
  readonly #host: ClientsHost
  readonly #clientHost: ClientHost
  /** By slot; freed slots are reused. */
  readonly #slots: (ConnectedClient | undefined)[] = []
  /** Hosts whose refusal was logged under the current access rules. */
  readonly #violators = new RateLimitedLog()
  /** Clients that connected before the collector was ready; undefined afterwards. */
  #waitingForStart: ConnectedClient[] | undefined = []
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
      identified: host.introduced,
      violation: (client) => this.#violation(client.identity.address),
    }
    this.#warnOfUnknowns()
  }

  /** The access rules in force. */
  get access(): AccessTable {
    return this.#access
  }

  /** Returns connected clients by slot. */
  all(): Client[] {
    return this.#connected().map(({ client }) => client)
  }

  /** Returns the client in a slot. PM_ERR_PERMISSION if it is not connection `seq`; PM_IN_NULL accepts any. */
  clientOf(slot: number, seq: number): Client {
    const client = this.#slots[slot]?.client
    if (client === undefined || (seq !== PM_IN_NULL && client.identity.seq !== seq))
      throw new PcpError('PM_ERR_PERMISSION', 'A client may change only its own values')
    return client
  }

  /** Accepts a connection. A client without any permission, or above a limit, receives the reason and is disconnected. */
  accept(socket: Socket, endpoint: Endpoint): void {
    if (endpoint.family !== 'unix' && socket.remoteAddress === undefined) {
      // Reset already. Input may still be readable, but host rules would not match without an address.
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
      watch: new ConnectionTracer(events, `client ${seq}`, fd),
    })
    const isUnknown = peer.credentials === undefined
    const { hasUsers, demands } = this.#host.security
    const admission = this.#access.check({ ...peer, isPending: isUnknown && hasUsers })
    const isLost = isUnknown && !hasUsers && demands.requiresUser === true
    const isDenied = admission.denied === OP_ALL || isLost
    if (debug.access)
      trace(
        'access',
        `${address} fd=${fd}: denied ${admission.denied}, ${admission.matching.length} rules count it`,
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
    const gate = this.#host.security.handshakePolicyFor({
      connection,
      address: peer.address,
      credentials: peer.credentials,
      isJudgedByUser: this.#access.needsCredentials,
      loggedIn: (credentials) => this.#loggedIn(connected, credentials),
    })
    client = new Client(identity, connection, this.#clientHost, admission.denied, gate)
    const connected: ConnectedClient = { client, connection, peer, admission }
    this.#slots[slot] = connected
    connection.onClose((error) => this.#gone(connected, error))
    if (this.#waitingForStart === undefined) this.#receive(connected)
    else this.#waitingForStart.push(connected)
  }

  /** Refuses a connection for lack of file descriptors. */
  refuse(socket: Socket): void {
    const connection = new PduConnection(socketStream(socket), { name: 'a client that is refused' })
    connection.send(encodeChallenge(0, CONNLIMIT))
    void connection.close(LINGER_MS)
  }

  /** Applies the access rules again after authentication. */
  #loggedIn(connected: ConnectedClient, credentials: Credentials): void {
    const { client, admission } = connected
    connected.peer = { ...connected.peer, credentials }
    this.#access.release(admission)
    this.#checkAccess(connected)
    if (debug.auth) trace('auth', `client ${client.identity.seq} is ${JSON.stringify(credentials)}`)
    client.setCredentials(credentials)
  }

  /** Applies the access rules to a client that is not counted. Throws the reason if it must leave. */
  #checkAccess(connected: ConnectedClient): void {
    const { client, peer } = connected
    const admission = this.#access.check(peer)
    const isDenied = admission.denied === OP_ALL
    const isIn = !isDenied && this.#access.admit(admission)
    connected.admission = isIn ? admission : { ...admission, matching: [] }
    client.denied = admission.denied
    if (isDenied) this.#violation(client.identity.address)
    if (!isIn) throw new PcpError(isDenied ? 'PM_ERR_PERMISSION' : 'PM_ERR_CONNLIMIT')
  }

  /** Starts answering requests, including those received before. */
  serve(): void {
    const early = this.#waitingForStart
    this.#waitingForStart = undefined
    for (const connected of early ?? []) this.#receive(connected)
  }

  /** Adds PMCD_* bits to send to each client with its next fetch. */
  addChanges(changes: number): void {
    for (const { client } of this.#connected()) client.addChanges(changes)
  }

  /** Applies new access rules to all clients. A client without any permission, or above a limit, receives the reason and is disconnected. */
  setAccess(access: AccessTable): void {
    this.#access = access
    this.#violators.clear()
    this.#warnOfUnknowns()
    for (const connected of this.#connected()) {
      try {
        this.#checkAccess(connected)
      } catch (error) {
        connected.client.refuse(PcpError.from(error).status)
      }
    }
  }

  /** Disconnects all clients, present and future; resolves when the connections are closed. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(
      this.#connected().map(({ client, connection }) => {
        client.close()
        return connection.close()
      }),
    )
  }

  #connected(): ConnectedClient[] {
    return this.#slots.filter((connected) => connected !== undefined)
  }

  #peerOf(socket: Socket, endpoint: Endpoint): { address: string; peer: AccessPeer } {
    if (endpoint.family !== 'unix') {
      const address = socket.remoteAddress!
      return { address, peer: { address } }
    }
    const credentials = this.#host.peerCredentials?.of(socket)
    const peer = { address: undefined, ...(credentials === undefined ? {} : { credentials }) }
    return { address: endpoint.address, peer }
  }

  /** Receives PDUs, and disconnects the client if its handshake takes too long. */
  #receive({ client, connection }: ConnectedClient): void {
    connection.onPdu((pdu) => client.receive(pdu))
    const cancel = deadline(this.#host.handshakeMs, () => {
      if (!client.isOpen) connection.destroy()
    })
    connection.onClose(cancel)
  }

  #gone({ client, admission }: ConnectedClient, error: PcpError): void {
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

  /** Warns about user rules that clients cannot satisfy. Such rules deny access; they are not ignored. */
  #warnOfUnknowns(): void {
    if (!this.#access.needsCredentials) return
    const { peerCredentials, log } = this.#host
    const problem =
      peerCredentials === undefined ? 'unix sockets do not identify their users' : peerCredentials.problem()
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
