/** Statistics and controls that the collector provides to its own agent, which does not depend on the collector. */

/** One connected client. */
export interface ClientInfo {
  /** Sequence number of the connection: the instance of pmcd.client.*. */
  readonly seq: number
  /** Slot of the client: `Requester.client` of its requests. */
  readonly slot: number
  /** Peer address, or the path of a unix socket. */
  readonly address: string
  /** Description sent by the client (pmcd.client.whoami); '' without one. */
  readonly whoami: string
  /** Container of the client; '' for none. */
  readonly container: string
  /** Time of its connection in milliseconds since the epoch. */
  readonly startMs: number
}

/** One configured agent. */
export interface AgentInfo {
  readonly domain: number
  readonly name: string
  readonly kind: 'dso' | 'socket' | 'pipe'
  readonly isConnected: boolean
  /** pmcd.agent.status: 0 connected, 1 not ready, otherwise why it is gone. */
  readonly status: number
  readonly isFenced: boolean
  /** Reason of its last failure; '' for none. */
  readonly failure: string
}

/** Features enabled in the collector: pmcd.feature.*. */
export interface FeatureFlags {
  readonly secure: boolean
  readonly ipv6: boolean
  readonly authentication: boolean
  readonly credsRequired: boolean
  readonly unixSockets: boolean
  readonly serviceDiscovery: boolean
  readonly containers: boolean
  /** Listens on this host only. */
  readonly local: boolean
  readonly certRequired: boolean
}

/** Settings that may be changed at run time: pmcd.control.*. */
export interface Controls {
  /** Time limit of an agent's reply in seconds; 0 for none. */
  timeoutSec: number
  /** Time limit of an agent's first PDU in seconds. */
  credsTimeoutSec: number
}

/** Enabled diagnostics, as the number used by older releases: pmcd.control.debug. */
export interface DebugControl {
  bits: number
}

/** The event trace: pmcd.control.trace*. */
export interface TraceControl {
  recordsConnections: boolean
  recordsPdus: boolean
  /** Whether each event is logged immediately. */
  isUnbuffered: boolean
  /** Number of events it holds. */
  size: number
  /** Logs all events and empties the trace. */
  dump(): void
}

/** The statistics and controls of a running collector. */
export interface CollectorStatistics {
  readonly version: string
  readonly build: string
  readonly hostname: string
  /** User of the collector; undefined on systems without users. */
  readonly uid: number | undefined
  /** PDUs received, indexed by type - 0x7000. */
  readonly pdusIn: ArrayLike<number>
  /** PDUs sent, indexed by type - 0x7000. */
  readonly pdusOut: ArrayLike<number>
  readonly clients: () => Iterable<ClientInfo>
  readonly agents: () => Iterable<AgentInfo>
  readonly features: () => FeatureFlags
  /** The context labels from files, as JSON; '' for none. */
  readonly fileLabels: () => string
  readonly sighups: () => number
  readonly seqnum: () => number
  readonly controls: Controls
  readonly debug: DebugControl
  readonly trace: TraceControl
  /** Largest PDU of a client, most contexts of a client, most metrics of a fetch. */
  readonly limits: { readonly pduBytes: number; readonly contexts: number; readonly metrics: number }
  /** Same as SIGHUP. */
  readonly reconfigure: () => void
  readonly advanceSeqnum: () => void
  readonly dumpConnections: () => void
  /** Fences an agent or lifts the fence. PM_ERR_INST for an unknown domain. */
  readonly fence: (domain: number, on: boolean) => void
  /** Sets the description of the client in `slot`. PM_ERR_PERMISSION if `seq` belongs to another client. */
  readonly setWhoami: (slot: number, seq: number, text: string) => void
  /** Sets the container of the client in `slot`. PM_ERR_PERMISSION if `seq` belongs to another client. */
  readonly setContainer: (slot: number, seq: number, name: string) => void
}
