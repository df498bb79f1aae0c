/** A running collector: listeners, clients, agents and what the collector says about itself. docs/architecture.md */
import type { Socket } from 'node:net'
import type { AgentInfo, ClientInfo, CollectorStatistics, Controls } from '../agents/pmcd/statistics.ts'
import { VERSION } from '../base/version.ts'
import { PcpError, statusOf } from '../model/errors.ts'
import type { MetricSource } from '../model/source.ts'
import { PMCD_LABEL_CHANGE } from '../model/values.ts'
import { PduConnection, socketStream } from '../net/connection.ts'
import { newPduCounters, type PduCounters } from '../net/counters.ts'
import { type Endpoint, type Listeners, listen } from '../net/listen.ts'
import { Pmns } from '../pmns/tree.ts'
import { ctime } from '../sys/log.ts'
import { PDU_FLAG_CONTAINER, PDU_FLAG_DESCS, PDU_FLAG_HIGHRES, PDU_FLAG_LABELS } from '../wire/creds.ts'
import { encodeChallenge } from '../wire/error.ts'
import { MAX_CLIENT_PDU, pduName, pduType } from '../wire/pdu.ts'
import { AccessTable, type Admission } from './access.ts'
import type { AgentSlot } from './agent-slot.ts'
import { Agents } from './agents.ts'
import { Client, type ClientHost } from './client.ts'
import { OP_ALL } from './config-access.ts'
import { FetchBatch } from './fetch-batch.ts'
import { contextLabels, fileLabelsJson, type HostLabels } from './labels.ts'
import { accessTables, agentTable, clientTable, plainAddress, portTable } from './log-tables.ts'
import type { Collector, CollectorOptions, Limits } from './options.ts'
import { Router } from './router.ts'

const FEATURES: number = PDU_FLAG_CONTAINER | PDU_FLAG_LABELS | PDU_FLAG_HIGHRES | PDU_FLAG_DESCS
const DEFAULT_LIMITS: Limits = { pduBytes: MAX_CLIENT_PDU, contexts: 64, metrics: 32768 }
const NO_LABELS: HostLabels = { files: new Map(), intrinsic: new Map(), problems: [] }
const PERMISSION: number = statusOf('PM_ERR_PERMISSION')
const CONNLIMIT: number = statusOf('PM_ERR_CONNLIMIT')

/**
 * Starts agents, then listens. Agents that fail are logged and tried again later. Rejects, with everything released,
 * when no endpoint could be opened or no agent is configured.
 */
export async function startCollector(options: CollectorOptions): Promise<Collector> {
  const collector = new RunningCollector(options)
  try {
    await collector.start()
  } catch (error) {
    await collector.close()
    throw error
  }
  return collector
}

/** A client and what belongs to its connection. */
interface Connected {
  readonly client: Client
  readonly connection: PduConnection
  admission: Admission
}

class RunningCollector implements Collector {
  readonly #options: CollectorOptions
  readonly #limits: Limits
  readonly #clock: () => number
  readonly #counters: PduCounters = newPduCounters()
  readonly #controls: Controls
  readonly #agents: Agents
  readonly #router: Router
  readonly #clientHost: ClientHost
  /** By slot; freed slots are used again. */
  readonly #clients: (Connected | undefined)[] = []
  /** Hosts whose refusal has been logged since the last configuration. */
  readonly #violators = new Set<string>()
  #listeners: Listeners | undefined
  #labels: HostLabels
  #access: AccessTable
  #pmns: Pmns | undefined
  #nextSeq = 0
  #seqnum = 1
  #sighups = 0
  /** Signals that come while the configuration is being read wait for this. */
  #reconfiguring: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(options: CollectorOptions) {
    this.#options = options
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#clock = options.clock ?? Date.now
    this.#labels = options.readLabels?.() ?? NO_LABELS
    this.#access = options.access ?? new AccessTable()
    this.#pmns = options.pmns
    this.#controls = { timeoutSec: options.timeoutSec ?? 5, credsTimeoutSec: options.credsTimeoutSec ?? 3 }
    this.#agents = new Agents({
      env: {
        timeoutMs: () => this.#controls.timeoutSec * 1000,
        credsTimeoutMs: () => this.#controls.credsTimeoutSec * 1000,
        log: options.log,
        ...(options.agentDir === undefined ? {} : { agentDir: options.agentDir }),
        variables: options.variables ?? process.env,
        statistics: this.#statistics(),
        counters: this.#counters,
      },
      restartsAgents: options.restartsAgents ?? true,
      clock: this.#clock,
      changed: (changes) => this.#changed(changes),
      started: (slot) => {
        for (const { client } of this.#connected()) introduce(client, slot)
      },
      rerouted: () => this.#reroute(),
      advanced: () => {
        this.#seqnum++
      },
    })
    this.#router = new Router(
      { slots: [], pmns: new Pmns() },
      {
        contextLabels: (ask) => contextLabels(this.#labels, ask.requester),
        changed: (changes) => this.#changed(changes),
      },
    )
    this.#clientHost = {
      source: this.#router,
      batch: new FetchBatch(this.#router),
      limits: this.#limits,
      features: FEATURES,
      introduced: (client) => {
        for (const slot of this.#agents.slots) introduce(client, slot)
      },
      violation: (client) => this.#violation(client.identity.address),
    }
  }

  get endpoints(): readonly Endpoint[] {
    return this.#listeners?.endpoints ?? []
  }

  get port(): number {
    return this.endpoints.find((endpoint) => endpoint.error === undefined && endpoint.port > 0)?.port ?? 0
  }

  get source(): MetricSource {
    return this.#router
  }

  async start(): Promise<void> {
    const { log, agents } = this.#options
    for (const problem of this.#labels.problems) log.notice('warning', problem)
    if (agents.length === 0)
      throw new PcpError('PM_ERR_GENERIC', 'No PMDAs found in the configuration: add at least one agent')
    await this.#agents.start(agents)
    await this.#listen()
    log.line(agentTable(this.#agents.slots))
    log.line(accessTables(this.#access))
    log.line(`\npmcd: PID = ${process.pid}, PDU version = 2`)
    log.line(portTable(this.endpoints))
  }

  reconfigure(): Promise<void> {
    this.#sighups++
    this.#reconfiguring = this.#reconfiguring.then(() =>
      this.#closing === undefined ? this.#reconfigureNow() : undefined,
    )
    return this.#reconfiguring
  }

  async #reconfigureNow(): Promise<void> {
    const { log, reload } = this.#options
    log.line(`\npmcd RESTARTED at ${ctime(this.#clock())}`)
    this.#dumpConnections()
    this.#readLabels()
    try {
      const next = await reload?.()
      if (next === undefined) {
        await this.#agents.restart()
      } else {
        this.#pmns = next.pmns
        await this.#agents.replace(next.agents)
        this.#setAccess(next.access ?? new AccessTable())
      }
    } catch (error) {
      log.notice('error', `Configuration left unchanged: ${PcpError.from(error).message}`)
    }
    log.line(agentTable(this.#agents.slots))
    log.line(accessTables(this.#access))
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutdown()
    return this.#closing
  }

  async #shutdown(): Promise<void> {
    await this.#listeners?.close()
    await this.#reconfiguring
    const clients = this.#connected()
    for (const { client } of clients) client.close()
    await this.#agents.close()
    await this.#router.close()
    await Promise.all(clients.map(({ connection }) => connection.close()))
  }

  async #listen(): Promise<void> {
    const { ports, addresses, localOnly, socketPath, backlog, log } = this.#options
    this.#listeners = await listen({
      ports,
      ...(addresses === undefined ? {} : { addresses }),
      ...(localOnly === undefined ? {} : { localOnly }),
      ...(socketPath === undefined ? {} : { socketPath }),
      ...(backlog === undefined ? {} : { backlog }),
      onConnection: (socket, endpoint) => this.#accept(socket, endpoint),
    })
    const failures = this.endpoints.filter((endpoint) => endpoint.error !== undefined)
    for (const { error } of failures) log.notice('error', error!.message)
    if (failures.length === this.endpoints.length)
      throw new PcpError('EADDRNOTAVAIL', 'No port or socket could be opened: see the errors above')
  }

  #accept(socket: Socket, endpoint: Endpoint): void {
    const isUnix = endpoint.family === 'unix'
    const address = isUnix ? endpoint.address : plainAddress(socket.remoteAddress ?? '')
    const credentials = isUnix ? this.#options.peerCredentials?.(socket) : undefined
    const incompleteMs = this.#controls.timeoutSec * 1000
    const connection = new PduConnection(socketStream(socket), {
      name: `client ${address}`,
      limit: this.#limits.pduBytes,
      ...(incompleteMs === 0 ? {} : { incompleteMs }),
      backpressure: true,
      counters: this.#counters,
    })
    const peer = {
      address: isUnix ? undefined : address,
      ...(credentials === undefined ? {} : { credentials }),
    }
    const admission = this.#access.check(peer)
    const isDenied = admission.denied === OP_ALL
    if (this.#closing !== undefined || isDenied || !this.#access.admit(admission)) {
      if (isDenied) this.#violation(address)
      connection.send(encodeChallenge(0, isDenied ? PERMISSION : CONNLIMIT))
      void connection.close()
      return
    }
    const slot = this.#freeSlot()
    const identity = {
      slot,
      seq: this.#nextSeq++,
      address,
      startMs: this.#clock(),
      ...(credentials === undefined ? {} : { credentials }),
    }
    const client = new Client(identity, this.#sink(connection), this.#clientHost, admission.denied)
    this.#clients[slot] = { client, connection, admission }
    connection.onPdu(this.#options.tracesPdus ? this.#traced(client) : (pdu) => client.receive(pdu))
    connection.onClose(() => this.#gone(slot))
  }

  /** What a client sends through: the connection itself, unless PDUs are traced. */
  #sink(connection: PduConnection): ConstructorParameters<typeof Client>[1] {
    if (this.#options.tracesPdus !== true) return connection
    return {
      send: (pdu) => {
        this.#options.log.line(
          `pmcd: xmit ${pduName(pduType(pdu))} ${pdu.length} bytes to ${connection.name}`,
        )
        connection.send(pdu)
      },
      close: () => connection.close(),
      pause: () => connection.pause(),
      resume: () => connection.resume(),
    }
  }

  #traced(client: Client): (pdu: Uint8Array) => void {
    return (pdu) => {
      const { address, seq } = client.identity
      this.#options.log.line(
        `pmcd: recv ${pduName(pduType(pdu))} ${pdu.length} bytes from client ${seq} at ${address}`,
      )
      client.receive(pdu)
    }
  }

  #gone(slot: number): void {
    const connected = this.#clients[slot]
    if (connected === undefined) return
    this.#clients[slot] = undefined
    connected.client.ended()
    this.#access.release(connected.admission)
    this.#router.endClient(slot)
  }

  #freeSlot(): number {
    const free = this.#clients.indexOf(undefined)
    return free < 0 ? this.#clients.length : free
  }

  #connected(): Connected[] {
    return this.#clients.filter((connected) => connected !== undefined)
  }

  #changed(changes: number): void {
    for (const { client } of this.#connected()) client.addChanges(changes)
    this.#router.announce({ type: 'changed', changes })
  }

  async #reroute(): Promise<void> {
    const pmns = this.#pmns ?? (await this.#agents.names())
    this.#router.setTables({ slots: this.#agents.slots, pmns })
  }

  /** Every client is judged anew; one that may do nothing any more is told and dropped. */
  #setAccess(access: AccessTable): void {
    this.#access = access
    this.#violators.clear()
    for (const connected of this.#connected()) {
      const { address, credentials } = connected.client.identity
      const isUnix = this.endpoints.some(
        (endpoint) => endpoint.family === 'unix' && endpoint.address === address,
      )
      const peer = {
        address: isUnix ? undefined : address,
        ...(credentials === undefined ? {} : { credentials }),
      }
      connected.admission = access.check(peer)
      connected.client.denied = connected.admission.denied
      if (connected.admission.denied === OP_ALL) {
        connected.admission = { denied: OP_ALL, counted: [] }
        connected.client.refuse(PERMISSION)
      } else if (!access.admit(connected.admission)) {
        connected.admission = { denied: 0, counted: [] }
        connected.client.refuse(CONNLIMIT)
      }
    }
  }

  #readLabels(): void {
    const next = this.#options.readLabels?.()
    if (next === undefined) return
    for (const problem of next.problems) this.#options.log.notice('warning', problem)
    if (fileLabelsJson(next) !== fileLabelsJson(this.#labels)) this.#changed(PMCD_LABEL_CHANGE)
    this.#labels = next
  }

  #violation(address: string): void {
    if (this.#violators.has(address)) return
    this.#violators.add(address)
    this.#options.log.notice('warning', `access violation from host ${address}`)
  }

  #dumpConnections(): void {
    const clients = this.#connected().map(({ client }) => client)
    this.#options.log.line(clientTable(clients, ctime(this.#clock())))
  }

  #ownClient(slot: number, seq: number): Client {
    const client = this.#clients[slot]?.client
    if (client?.identity.seq !== seq)
      throw new PcpError('PM_ERR_PERMISSION', 'A client may only change what is said about itself')
    return client
  }

  #statistics(): CollectorStatistics {
    const { hostname, log } = this.#options
    return {
      version: VERSION,
      build: '1',
      hostname,
      pdusIn: this.#counters.received,
      pdusOut: this.#counters.sent,
      clients: () => this.#connected().map(({ client }) => clientInfo(client)),
      agents: () => this.#agents.slots.map(agentInfo),
      features: () => {
        const open = this.endpoints.filter((endpoint) => endpoint.error === undefined)
        return {
          secure: false,
          ipv6: open.some((endpoint) => endpoint.family === 'ipv6'),
          authentication: false,
          credsRequired: this.#access.needsCredentials,
          unixSockets: open.some((endpoint) => endpoint.family === 'unix'),
          serviceDiscovery: false,
          containers: true,
          local: this.#options.localOnly ?? false,
          certRequired: false,
        }
      },
      fileLabels: () => fileLabelsJson(this.#labels),
      sighups: () => this.#sighups,
      seqnum: () => this.#seqnum,
      controls: this.#controls,
      limits: this.#limits,
      reconfigure: () => {
        log.notice('info', 'pmcd reset via pmcd.control.sighup')
        void this.reconfigure()
      },
      advanceSeqnum: () => {
        this.#seqnum++
      },
      dumpConnections: () => this.#dumpConnections(),
      fence: (domain, on) => this.#fence(domain, on),
      setWhoami: (slot, seq, text) => {
        this.#ownClient(slot, seq).whoami = text
      },
      setContainer: (slot, seq, name) => this.#ownClient(slot, seq).setContainer(name),
    }
  }

  #fence(domain: number, on: boolean): void {
    const slot = this.#agents.slots.find(({ options }) => options.domain === domain)
    if (slot === undefined) throw new PcpError('PM_ERR_INST', `No agent has domain ${domain}`)
    slot.isFenced = on
  }
}

function introduce(client: Client, slot: AgentSlot): void {
  if (!client.isOpen) return
  for (const [key, value] of client.attributes) slot.attribute(client.identity.slot, key, value)
}

function clientInfo(client: Client): ClientInfo {
  const { slot, seq, address, startMs } = client.identity
  return { slot, seq, address, startMs, whoami: client.whoami, container: client.container }
}

function agentInfo(slot: AgentSlot): AgentInfo {
  const { domain, name, kind } = slot.options
  return {
    domain,
    name,
    kind,
    status: slot.status,
    isConnected: slot.state !== 'failed',
    isFenced: slot.isFenced,
  }
}
