/** Defines the parts of `npm start`, each a separate process, and their messages to and from the supervisor. docs/decisions/supervision.md */
import type { StartOptions } from './options.ts'
import type { Place } from './place.ts'

/** Names of the parts, as the user reads them. */
export type PartName = 'collector' | 'recorder' | 'charts'

/** What a part is started with. It is sent to a process: plain data only. */
export interface PartSetup {
  readonly options: StartOptions
  /** Names of the agents that can do their work here. */
  readonly agents: readonly string[]
  readonly place: Place
  /** Path of the collector's unix socket; undefined without one. */
  readonly socketPath?: string
  /** Environment and pcp.conf variables. */
  readonly variables: Readonly<Record<string, string>>
  /** Where our commands are: what we ship is beside them. */
  readonly binDir: string
  /** Longest time between two starts of an agent, instead of the default. */
  readonly restartMs?: number
  /** Proves to the charts that a request is from the user. */
  readonly ownerKey?: string
  /** How to reach the collector; the collector itself has none. */
  readonly collector?: CollectorAddress
}

/** Where the running collector listens. */
export interface CollectorAddress {
  readonly port: number
  /** Does its unix socket work? */
  readonly hasSocket: boolean
}

/** What the recorder reports when it has started. */
export interface RecorderReport {
  /** Directory of this host's archives. */
  readonly dir: string
  /** Path of the first archive; undefined when it could not be created, which was printed. */
  readonly archive?: string
}

/** What the web side reports when it has started. */
export interface ChartsReport {
  readonly port: number
}

/** A message to a part. */
export type ToPart = { readonly type: 'start'; readonly setup: PartSetup } | { readonly type: 'stop' }

/** A message of a part. */
export type FromPart =
  /** A line for the user. */
  | { readonly type: 'say'; readonly line: string }
  | { readonly type: 'started'; readonly report: unknown }
  | { readonly type: 'failed'; readonly code: string; readonly message: string }
  /** It received SIGTERM and waits for the supervisor, which may be ending all parts in order. */
  | { readonly type: 'terminated' }
