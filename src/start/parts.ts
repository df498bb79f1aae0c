/** Defines the parts of `npm start`, each a separate process, and their messages to and from the supervisor. docs/decisions/supervision.md */

import type { StartDirectories } from './directories.ts'
import type { StartOptions } from './settings.ts'

/** Names of the parts, as the user reads them. */
export type PartName = 'collector' | 'recorder' | 'charts' | 'alerts'

/** Setup of a part, sent to its process: plain data only. */
export interface PartSetup {
  readonly options: StartOptions
  /** Agents that work on this platform. */
  readonly agents: readonly string[]
  readonly place: StartDirectories
  /** Path of the collector's unix socket; undefined without one. */
  readonly socketPath?: string
  /** Environment and pcp.conf variables. */
  readonly variables: Readonly<Record<string, string>>
  /** Directory of our commands; data files are beside it. */
  readonly binDir: string
  /** Longest time between restarts of an agent, instead of the default. */
  readonly restartMs?: number
  /** Key that authenticates the user's requests to the charts. */
  readonly ownerKey?: string
  /** Address of the collector; undefined for the collector itself. */
  readonly collector?: CollectorAddress
}

/** Address of the running collector. */
export interface CollectorAddress {
  readonly port: number
  /** True if its unix socket works. */
  readonly hasSocket: boolean
}

/** Report of the recorder after its start. */
export interface RecorderReport {
  /** Directory of this host's archives. */
  readonly dir: string
  /** Path of the first archive; undefined if it could not be created, which was printed. */
  readonly archive?: string
}

/** Report of the web side after its start. */
export interface ChartsReport {
  readonly port: number
}

/** Reports of the parts of a running instance. */
export interface PartReports {
  readonly collector: CollectorAddress
  /** Undefined without recording. */
  readonly recorder: RecorderReport | undefined
  /** Undefined without charts. */
  readonly charts: ChartsReport | undefined
}

/** Report of the part that evaluates rules after its start. */
export interface AlertsReport {
  /** Number of rules. */
  readonly rules: number
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
