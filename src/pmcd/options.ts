/** Options of a collector. All its resources are passed in. docs/architecture.md */
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

/** An agent that the collector opens, and reopens after a failure. */
export interface AgentOptions extends SlotOptions {
  /** Opens the agent; rejects with the reason if it cannot. Aborting `signal` kills any process started for it. */
  readonly open: (env: AgentOpenEnv, signal: AbortSignal) => Promise<OpenedAgent>
}

/** Environment for opening an agent. */
export interface AgentOpenEnv {
  /** Reply timeout in milliseconds; 0 for none. Called for each request, because it may change. */
  readonly timeoutMs: () => number
  /** Milliseconds to wait for an agent's module, or for the first PDU of an agent in its own process. */
  readonly credsTimeoutMs: () => number
  readonly log: Log
  /** Working directory of agent processes, where they write their logs; default: this process's. */
  readonly agentDir?: string
  /** Environment and pcp.conf variables. */
  readonly variables: Variables
  /** For the collector's own agent. */
  readonly statistics: CollectorStatistics
  /** Counters of PDUs on all connections. */
  readonly counters: PduCounters
  readonly workers?: WorkerSettings
  readonly events: EventTrace
}

/** Settings of threads for agents. */
export interface WorkerSettings {
  /** Path of the program built from agent-worker.ts; default: agent-worker.cjs beside this program. */
  readonly program?: string
  /** MiB of JavaScript heap each may use; default 256. */
  readonly heapMb?: number
}

/** Limits on requests of clients. */
export interface Limits {
  /** Bytes per PDU. */
  readonly pduBytes: number
  /** Contexts per client. */
  readonly contexts: number
  /** Metrics per fetch. */
  readonly metrics: number
}

/** Endpoints of a collector. */
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

/** The part of the options that can be reloaded. */
export interface Configuration {
  readonly agents: readonly AgentOptions[]
  /** Default: no restrictions. */
  readonly access?: AccessTable
  /** Name space; default: the names that agents report. */
  readonly pmns?: Pmns
}

/** Options of `startCollector`. */
export interface CollectorOptions extends CollectorEndpoints, Configuration {
  /** Name of the monitored host. */
  readonly hostname: string
  readonly log: Log
  /** Working directory of agent processes, where they write their logs; default: this process's. */
  readonly agentDir?: string
  /** Default: this process's environment. */
  readonly variables?: Variables
  readonly limits?: Partial<Limits>
  /** Memory limits for clients; default: `clientMemory()`. */
  readonly memory?: BudgetLimits
  readonly workers?: WorkerSettings
  /** Agents' reply timeout in seconds, 0 for none; default 5. */
  readonly timeoutSec?: number
  /** Time for an agent's first PDU in seconds; default 3. */
  readonly credsTimeoutSec?: number
  /** Time for a client's handshake in milliseconds; default 10 000. */
  readonly handshakeMs?: number
  /** Restart lost agents; default true. */
  readonly restartsAgents?: boolean
  /** Shortest time between automatic restarts in milliseconds; default 60 000. */
  readonly restartIntervalMs?: number
  /** Rereads the configuration; resolves to undefined if unchanged. Rejects for errors; the old configuration then stays in force. */
  readonly reload?: () => Promise<Configuration | undefined>
  /** Returns the name space if its file changed; called after agents were started or reported changed names. */
  readonly reloadNames?: () => Pmns | undefined
  /** Reads the context labels. Default: only the host name. */
  readonly readLabels?: () => HostLabels
  /** Identifies peers of unix sockets; default: unknown. */
  readonly peerCredentials?: PeerCredentials
  /** TLS and authentication; default: neither. */
  readonly security?: SecurityOptions
  /** Records connections and PDUs; by default only after a store turns it on. */
  readonly events?: EventTrace
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
}

/** A running collector. */
export interface Collector {
  /** Endpoints, including those that could not be opened, which have an `error`. */
  readonly endpoints: readonly Endpoint[]
  /** TCP port of the first TCP endpoint, or 0. */
  readonly port: number
  /** The metrics served, for a context in the same process. */
  readonly source: MetricSource
  /** Rereads the configuration and restarts lost agents. @see pmcd(1) SIGHUP */
  reconfigure(): Promise<void>
  /** Stops listening, disconnects clients, closes agents. Idempotent. */
  close(): Promise<void>
}
