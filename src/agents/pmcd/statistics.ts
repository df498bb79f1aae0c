/** What the collector tells its own agent, and lets it change: the agent never sees the collector itself. */

/** One connected client. */
export interface ClientInfo {
  /** Sequence number of the connection: the instance of pmcd.client.*. */
  readonly seq: number
  /** Slot of the client: `Requester.client` of what it asks. */
  readonly slot: number
  /** Peer address, or the path of a unix socket. */
  readonly address: string
  /** What the client said it is; '' when it did not. */
  readonly whoami: string
  /** Container the client looks into; '' for none. */
  readonly container: string
  /** Milliseconds since the epoch when it connected. */
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
}

/** Which features the collector has switched on: pmcd.feature.*. */
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
  /** Seconds an agent may take for a reply; 0 is no limit. */
  timeoutSec: number
  /** Seconds an agent may take for its first PDU. */
  credsTimeoutSec: number
}

/** Diagnostics that are on, as the number older releases used: pmcd.control.debug. */
export interface DebugControl {
  bits: number
}

/** The event trace: pmcd.control.trace*. */
export interface TraceControl {
  recordsConnections: boolean
  recordsPdus: boolean
  /** Is each event written to the log at once? */
  isUnbuffered: boolean
  /** Events it keeps. */
  size: number
  /** Writes what it holds to the log, and empties it. */
  dump(): void
}

/** The statistics and controls of a running collector. */
export interface CollectorStatistics {
  readonly version: string
  readonly build: string
  readonly hostname: string
  /** User the collector runs as; undefined where there are no users. */
  readonly uid: number | undefined
  /** PDUs received, indexed by type - 0x7000. */
  readonly pdusIn: ArrayLike<number>
  /** PDUs sent, indexed by type - 0x7000. */
  readonly pdusOut: ArrayLike<number>
  readonly clients: () => Iterable<ClientInfo>
  readonly agents: () => Iterable<AgentInfo>
  readonly features: () => FeatureFlags
  /** The context labels that come from files, as JSON; '' for none. */
  readonly fileLabels: () => string
  readonly sighups: () => number
  readonly seqnum: () => number
  readonly controls: Controls
  readonly debug: DebugControl
  readonly trace: TraceControl
  /** Most bytes a client's PDU may have, contexts a client may have, metrics a fetch may name. */
  readonly limits: { readonly pduBytes: number; readonly contexts: number; readonly metrics: number }
  /** Does as SIGHUP does. */
  readonly reconfigure: () => void
  readonly advanceSeqnum: () => void
  readonly dumpConnections: () => void
  /** Fences an agent or lifts it. Throws PM_ERR_INST for an unknown domain. */
  readonly fence: (domain: number, on: boolean) => void
  /** Sets what the client in `slot` calls itself. Throws PM_ERR_PERMISSION when `seq` is somebody else. */
  readonly setWhoami: (slot: number, seq: number, text: string) => void
  /** Sets the container of the client in `slot`. Throws PM_ERR_PERMISSION when `seq` is somebody else. */
  readonly setContainer: (slot: number, seq: number, name: string) => void
}
