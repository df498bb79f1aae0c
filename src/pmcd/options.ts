/** What a collector is started with: everything it touches is handed in. docs/architecture.md */
import type { MetricSource } from '../model/source.ts'
import type { Pmns } from '../pmns/tree.ts'
import type { Log } from '../sys/log.ts'

/** An agent that the collector opens, keeps and, when it fails, opens again. */
export interface AgentOptions {
  /** Label: what the log and `pmcd.agent.*` call it. */
  readonly name: string
  readonly domain: number
  readonly kind: 'dso' | 'socket' | 'pipe'
  /** For the log: the command, path or port. Two agents of one domain with the same text are the same agent. */
  readonly parameters: string
  /** Starts in the not-ready state. */
  readonly startsNotReady?: boolean
  /** Opens the agent; rejects with why it cannot be. */
  readonly open: (env: AgentOpenEnv) => Promise<OpenedAgent>
}

/** What an agent is opened with. */
export interface AgentOpenEnv {
  /** Milliseconds to wait for a reply; 0 is no limit. Read for each request, so it may change. */
  readonly timeoutMs: () => number
  /** Milliseconds to wait for the first PDU of an agent in its own process. */
  readonly credsTimeoutMs: number
  /** Descriptor for the standard error of processes. */
  readonly errorFd: number
}

/** An agent that is open. */
export interface OpenedAgent {
  readonly source: MetricSource
  /** Process id of an agent in its own process. */
  readonly pid?: number
  /** Resolves to the exit status of the agent's process, once it has ended. */
  readonly exited?: Promise<{ readonly code: number; readonly signal: number }>
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
export interface Endpoints {
  /** TCP ports; 0 lets the kernel choose. */
  readonly ports: readonly number[]
  /** Addresses to listen on; all of IPv4 and IPv6 when absent. */
  readonly addresses?: readonly string[]
  /** Loopback only. */
  readonly isLocal?: boolean
  /** Path of the unix socket; none when absent. */
  readonly socketPath?: string
  /** Connections the kernel may queue. */
  readonly backlog?: number
}

/** What a collector is started with. */
export interface CollectorOptions extends Endpoints {
  readonly agents: readonly AgentOptions[]
  /** The name space; absent: the names of the in-process agents. */
  readonly pmns?: Pmns
  readonly hostname: string
  readonly log: Log
}

/** A TCP or unix endpoint of a running collector. */
export interface Address {
  readonly family: 'unix' | 'inet' | 'ipv6'
  /** Path, or address; '' stands for all addresses. */
  readonly address: string
  /** As bound by the kernel; 0 for a unix socket. */
  readonly port: number
}

/** A running collector. */
export interface Collector {
  /** Endpoints that could be opened. */
  readonly addresses: readonly Address[]
  /** What it serves, for a context in the same process. */
  readonly source: MetricSource
  /** Reads its configuration again. @see pmcd(1) SIGHUP */
  reconfigure(): Promise<void>
  /** Stops listening, drops clients, ends agents; idempotent. */
  close(): Promise<void>
}
