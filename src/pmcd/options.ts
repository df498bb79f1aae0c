/** What a collector is started with: everything it touches is handed in. docs/architecture.md */
import type { CollectorStatistics } from '../agents/pmcd/statistics.ts'
import type { BudgetLimits } from '../base/byte-budget.ts'
import type { MetricSource } from '../model/source.ts'
import type { AccessTable } from '../net/access/table.ts'
import type { PduCounters } from '../net/counters.ts'
import type { Endpoint } from '../net/listen.ts'
import type { Pmns } from '../pmns/tree.ts'
import type { OpenedAgent, SlotOptions } from '../routing/agent-slot.ts'
import type { HostLabels } from '../routing/host-labels.ts'
import type { Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import type { PeerCredentials } from '../sys/native/peer-credentials.ts'
import type { EventTrace } from './event-trace.ts'
import type { SecurityOptions } from './security.ts'

/** An agent that the collector opens, keeps and, when it fails, opens again. */
export interface AgentOptions extends SlotOptions {
  /** Opens the agent; rejects with why it cannot be opened. Aborting `signal` kills whatever was started for it. */
  readonly open: (env: AgentOpenEnv, signal: AbortSignal) => Promise<OpenedAgent>
}

/** What an agent is opened with. */
export interface AgentOpenEnv {
  /** Milliseconds to wait for a reply; 0 is no limit. Asked for each request, because it may change. */
  readonly timeoutMs: () => number
  /** Milliseconds to wait for an agent's module, or for the first PDU of an agent in its own process. */
  readonly credsTimeoutMs: () => number
  readonly log: Log
  /** Directory that agents' processes start in, where they write their logs; default: this process's. */
  readonly agentDir?: string
  /** Environment and pcp.conf variables. */
  readonly variables: Variables
  /** For the collector's own agent. */
  readonly statistics: CollectorStatistics
  /** Counts PDUs of all connections. */
  readonly counters: PduCounters
  readonly workers?: WorkerSettings
  readonly events: EventTrace
}

/** How agents run in threads. */
export interface WorkerSettings {
  /** Path of the program that agent-worker.ts is built to; default: agent-worker.cjs beside this program. */
  readonly program?: string
  /** MiB of JavaScript heap each may use; default 256. */
  readonly heapMb?: number
}

/** Limits on what clients may ask. */
export interface Limits {
  /** Bytes of one PDU. */
  readonly pduBytes: number
  /** Contexts of one client. */
  readonly contexts: number
  /** Metrics of one fetch. */
  readonly metrics: number
}

/** Where a collector listens. */
export interface CollectorEndpoints {
  /** TCP ports; 0 lets the kernel choose. */
  readonly ports: readonly number[]
  /** Addresses to listen on; all of IPv4 and IPv6 when absent. */
  readonly addresses?: readonly string[]
  /** Loopback only. */
  readonly localOnly?: boolean
  /** Path of the unix socket; none when absent. */
  readonly socketPath?: string
  /** Connections the kernel may queue. */
  readonly backlog?: number
}

/** What a configuration decides, and a new reading of it may change. */
export interface Configuration {
  readonly agents: readonly AgentOptions[]
  /** Default: everybody may do everything. */
  readonly access?: AccessTable
  /** The name space; absent: the names that the agents tell. */
  readonly pmns?: Pmns
}

/** What a collector is started with. */
export interface CollectorOptions extends CollectorEndpoints, Configuration {
  /** Name of the host the metrics are about. */
  readonly hostname: string
  readonly log: Log
  /** Directory that agents' processes start in, where they write their logs; default: this process's. */
  readonly agentDir?: string
  /** Default: this process's environment. */
  readonly variables?: Variables
  readonly limits?: Partial<Limits>
  /** Memory that clients may make it hold; default: `clientMemory()`. */
  readonly memory?: BudgetLimits
  readonly workers?: WorkerSettings
  /** Seconds an agent may take for a reply, 0 is no limit; default 5. */
  readonly timeoutSec?: number
  /** Seconds an agent may take for its first PDU; default 3. */
  readonly credsTimeoutSec?: number
  /** Milliseconds a client may take to introduce itself before it is dropped; default 10 000. */
  readonly handshakeMs?: number
  /** Start agents again that are gone; default true. */
  readonly restartsAgents?: boolean
  /** Shortest time between two automatic restart rounds in milliseconds; default 60 000. */
  readonly restartIntervalMs?: number
  /** Reads the configuration again; undefined when nothing changed. Rejects when it has errors: the old one stays. */
  readonly reload?: () => Promise<Configuration | undefined>
  /** The name space when its file has changed; looked at when agents were started or say that names are others. */
  readonly reloadNames?: () => Pmns | undefined
  /** Reads the context labels. Default: the host name only. */
  readonly readLabels?: () => HostLabels
  /** Who is at the other end of unix sockets; default: nobody knows. */
  readonly peerCredentials?: PeerCredentials
  /** TLS and authentication; default: neither. */
  readonly security?: SecurityOptions
  /** Records connections and PDUs; default: once stores turn it on. */
  readonly events?: EventTrace
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
}

/** A running collector. */
export interface Collector {
  /** Where it listens; those that could not be opened have an error. */
  readonly endpoints: readonly Endpoint[]
  /** TCP port of the first endpoint that has one; 0 when there is none. */
  readonly port: number
  /** What it serves, for a context in the same process. */
  readonly source: MetricSource
  /** Reads the configuration again and starts agents that are gone. @see pmcd(1) SIGHUP */
  reconfigure(): Promise<void>
  /** Stops listening, drops clients, ends agents; idempotent. */
  close(): Promise<void>
}
