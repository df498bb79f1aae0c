/** A running collector: listeners, clients, agents and the metrics about itself. docs/architecture.md */
import type { AgentInfo, ClientInfo, CollectorStatistics, Controls } from '../agents/pmcd/statistics.ts'
import { onAbort } from '../base/on-abort.ts'
import { VERSION } from '../base/version.ts'
import {
  debug,
  debugBits,
  debugList,
  debugNamesOfBits,
  parseDebug,
  replaceDebug,
  trace,
} from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import type { MetricSource } from '../model/source.ts'
import { PMCD_LABEL_CHANGE } from '../model/values.ts'
import { AccessTable } from '../net/access/table.ts'
import { newPduCounters, type PduCounters } from '../net/counters.ts'
import { type Endpoint, type Listeners, listen } from '../net/listen.ts'
import { Pmns } from '../pmns/tree.ts'
import type { AgentSlot } from '../routing/agent-slot.ts'
import { contextLabels, fileLabelsJson, type HostLabels } from '../routing/host-labels.ts'
import { Router } from '../routing/router.ts'
import { clientMemory } from '../sys/client-memory.ts'
import { ctime } from '../sys/log.ts'
import { MAX_CLIENT_PDU } from '../wire/pdu.ts'
import { Agents } from './agents.ts'
import type { Client } from './client.ts'
import { Clients } from './clients.ts'
import { EventTrace } from './event-trace.ts'
import { accessTables, agentTable, clientTable, portTable } from './log-tables.ts'
import type { Collector, CollectorOptions, Limits } from './options.ts'
import { CollectorSecurity } from './security.ts'

const DEFAULT_LIMITS: Limits = { pduBytes: MAX_CLIENT_PDU, contexts: 64, metrics: 32768 }
const NO_LABELS: HostLabels = { files: new Map(), intrinsic: new Map(), problems: [] }
const HANDSHAKE_MS = 10_000

/**
 * Listens, then starts agents; clients that connect earlier wait until these are ready. Failing agents are logged and
 * retried later. Rejects, with everything released, when no endpoint could be opened or no agent is configured, and with
 * ECANCELED when `signal` aborts before the start is complete.
 */
export async function startCollector(options: CollectorOptions, signal?: AbortSignal): Promise<Collector> {
  const collector = new RunningCollector(options)
  const unlink = onAbort(signal, () => void collector.close())
  try {
    if (signal?.aborted !== true) await collector.start()
    if (signal?.aborted === true)
      throw new PcpError('ECANCELED', 'The collector was stopped before it had started')
  } catch (error) {
    await collector.close()
    throw error
  } finally {
    unlink()
  }
  return collector
}

class RunningCollector implements Collector {
  readonly #options: CollectorOptions
  readonly #limits: Limits
  readonly #clock: () => number
  readonly #counters: PduCounters = newPduCounters()
  readonly #controls: Controls
  readonly #events: EventTrace
  readonly #agents: Agents
  readonly #router: Router
  readonly #clients: Clients
  readonly #security: CollectorSecurity
  #listeners: Listeners | undefined
  #labels: HostLabels
  #pmns: Pmns | undefined
  #seqnum = 1
  #sighups = 0
  /** Resolves when the current reconfiguration is done; later signals wait for it. */
  #reconfiguring: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(options: CollectorOptions) {
    this.#options = options
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#clock = options.clock ?? Date.now
    this.#labels = options.readLabels?.() ?? NO_LABELS
    this.#pmns = options.pmns
    this.#controls = { timeoutSec: options.timeoutSec ?? 5, credsTimeoutSec: options.credsTimeoutSec ?? 3 }
    this.#security = new CollectorSecurity(options.security ?? {}, options.log)
    this.#events = options.events ?? new EventTrace((line) => options.log.line(line), this.#clock)
    this.#agents = new Agents({
      env: {
        timeoutMs: () => this.#controls.timeoutSec * 1000,
        credsTimeoutMs: () => this.#controls.credsTimeoutSec * 1000,
        log: options.log,
        ...(options.agentDir === undefined ? {} : { agentDir: options.agentDir }),
        variables: options.variables ?? process.env,
        statistics: this.#statistics(),
        counters: this.#counters,
        ...(options.workers === undefined ? {} : { workers: options.workers }),
        events: this.#events,
      },
      restartsAgents: options.restartsAgents ?? true,
      ...(options.restartIntervalMs === undefined ? {} : { restartIntervalMs: options.restartIntervalMs }),
      clock: this.#clock,
      changed: (changes) => this.#changed(changes),
      started: (slot) => {
        for (const client of this.#clients.all()) this.#introduce(client, slot)
      },
      rerouted: () => this.#reroute(),
      roundStarted: () => {
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
    this.#clients = new Clients(
      {
        source: this.#router,
        limits: this.#limits,
        memory: options.memory ?? clientMemory(),
        log: options.log,
        counters: this.#counters,
        clock: this.#clock,
        incompleteMs: () => this.#controls.timeoutSec * 1000,
        handshakeMs: options.handshakeMs ?? HANDSHAKE_MS,
        events: this.#events,
        peerCredentials: options.peerCredentials,
        security: this.#security,
        introduced: (client) => {
          for (const slot of this.#agents.slots) this.#introduce(client, slot)
        },
      },
      options.access ?? new AccessTable(),
    )
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
    this.#security.start()
    await this.#listen()
    await this.#agents.start(agents)
    if (this.#closing !== undefined) return
    this.#clients.serve()
    log.line(agentTable(this.#agents.slots))
    log.line(accessTables(this.#clients.access))
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
    log.line(`\npmcd RESTARTED at ${ctime(this.#clock())}\n\n`)
    log.line(`${clientTable(this.#clients.all(), 'Current PMCD clients ...')}\n`)
    this.#readLabels()
    this.#security.reload()
    try {
      const next = await reload?.()
      if (next === undefined) {
        await this.#agents.restart()
      } else {
        this.#pmns = next.pmns
        await this.#agents.replace(next.agents)
        this.#clients.setAccess(next.access ?? new AccessTable())
      }
    } catch (error) {
      log.notice('error', `Configuration left unchanged: ${PcpError.from(error).message}`)
    }
    log.line(agentTable(this.#agents.slots))
    log.line(accessTables(this.#clients.access))
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutdown()
    return this.#closing
  }

  async #shutdown(): Promise<void> {
    await this.#listeners?.close()
    const clients = this.#clients.close()
    await this.#agents.close()
    await this.#reconfiguring
    await this.#router.close()
    await clients
  }

  async #listen(): Promise<void> {
    const { ports, addresses, localOnly, socketPath, backlog, log } = this.#options
    this.#listeners = await listen({
      ports,
      ...(addresses === undefined ? {} : { addresses }),
      ...(localOnly === undefined ? {} : { localOnly }),
      ...(socketPath === undefined ? {} : { socketPath }),
      ...(backlog === undefined ? {} : { backlog }),
      onConnection: (socket, endpoint) => this.#clients.accept(socket, endpoint),
      refuse: (socket) => this.#clients.refuse(socket),
      log: (text) => log.notice('warning', text),
    })
    const failures = this.endpoints.filter((endpoint) => endpoint.error !== undefined)
    for (const { error } of failures) log.notice('error', error!.message)
    if (failures.length === this.endpoints.length)
      throw new PcpError('EADDRNOTAVAIL', 'No port or socket could be opened: see the errors above')
  }

  #changed(changes: number): void {
    this.#clients.addChanges(changes)
    this.#router.announce({ type: 'changed', changes })
  }

  async #reroute(): Promise<void> {
    this.#reloadNames()
    const pmns = this.#pmns ?? (await this.#agents.names())
    if (debug.pmns) trace('pmns', `name space of ${pmns.size} names`)
    this.#router.setTables({ slots: this.#agents.slots, pmns })
  }

  #reloadNames(): void {
    try {
      this.#pmns = this.#options.reloadNames?.() ?? this.#pmns
    } catch (error) {
      this.#options.log.notice('error', `PMNS left unchanged: ${PcpError.from(error).message}`)
    }
  }

  /** Sends an agent the attributes of a client. */
  #introduce(client: Client, slot: AgentSlot): void {
    if (!client.isOpen) return
    for (const [key, value] of client.attributes) {
      if (debug.attr)
        trace('attr', `client ${client.identity.seq}, ${key}="${value}" to "${slot.options.name}"`)
      slot.attribute(client.identity.slot, key, value)
    }
  }

  #readLabels(): void {
    const next = this.#options.readLabels?.()
    if (next === undefined) return
    for (const problem of next.problems) this.#options.log.notice('warning', problem)
    if (debug.labels) trace('labels', `labels from files: ${fileLabelsJson(next)}`)
    if (fileLabelsJson(next) !== fileLabelsJson(this.#labels)) this.#changed(PMCD_LABEL_CHANGE)
    this.#labels = next
  }

  #dumpConnections(): void {
    const heading = `\n->Current PMCD clients at ${ctime(this.#clock())}`
    this.#options.log.line(`${clientTable(this.#clients.all(), heading)}\n`)
  }

  #statistics(): CollectorStatistics {
    const { hostname, log } = this.#options
    return {
      version: VERSION,
      build: '1',
      hostname,
      uid: process.geteuid?.(),
      pdusIn: this.#counters.received,
      pdusOut: this.#counters.sent,
      clients: () => this.#clients.all().map(clientInfo),
      agents: () => this.#agents.slots.map(agentInfo),
      features: () => {
        const open = this.endpoints.filter((endpoint) => endpoint.error === undefined)
        const { requiresUser = false, requiresCertificate = false } = this.#security.demands
        return {
          secure: this.#security.isSecure,
          ipv6: open.some((endpoint) => endpoint.family === 'ipv6'),
          authentication: this.#security.hasUsers,
          credsRequired: this.#clients.access.needsCredentials || requiresUser,
          unixSockets: open.some((endpoint) => endpoint.family === 'unix'),
          serviceDiscovery: false,
          containers: true,
          local: this.#options.localOnly ?? false,
          certRequired: requiresCertificate,
        }
      },
      fileLabels: () => fileLabelsJson(this.#labels),
      sighups: () => this.#sighups,
      seqnum: () => this.#seqnum,
      controls: this.#controls,
      debug: {
        get bits() {
          return debugBits(parseDebug(debugList())!)
        },
        set bits(bits) {
          replaceDebug(debugNamesOfBits(bits), (line) => log.line(line))
        },
      },
      trace: this.#events,
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
        this.#clients.clientOf(slot, seq).whoami = text
      },
      setContainer: (slot, seq, name) => this.#clients.clientOf(slot, seq).setContainer(name),
    }
  }

  #fence(domain: number, on: boolean): void {
    const slot = this.#agents.slots.find(({ options }) => options.domain === domain)
    if (slot === undefined) throw new PcpError('PM_ERR_INST', `No agent has domain ${domain}`)
    slot.isFenced = on
  }
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
    kind: kind === 'worker' ? 'dso' : kind, // PCP has no number for threads
    status: slot.status,
    isConnected: slot.state !== 'failed',
    isFenced: slot.isFenced,
    failure: slot.failure,
  }
}
