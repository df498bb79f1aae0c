/** How an agent is declared: one table from which names, descriptors, help and labels follow. docs/agents.md */
import type { MetricDesc } from '../model/desc.ts'
import type { Outcome } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { Ask, SourceEvent } from '../model/source.ts'
import type { Value } from '../model/values.ts'
import type { DaemonOption, GivenOptions } from './daemon-options.ts'
import type { Refreshable } from './reading.ts'

/** A type as agents write it. */
export type TypeName =
  | '32'
  | 'u32'
  | '64'
  | 'u64'
  | 'float'
  | 'double'
  | 'string'
  | 'aggregate'
  | 'event'
  | 'highres-event'
  | 'nosupport'

/** Semantics as agents write them. */
export type SemName = 'counter' | 'instant' | 'discrete'

/**
 * What a value callback gives: a value, undefined for 'no value now', or an error as data. Numbers stand for integers
 * up to 2^53 of any type; beyond that give a bigint.
 */
export type Sample = Outcome<Value> | undefined

/** JSON a label may hold. */
export type LabelValue =
  | string
  | number
  | boolean
  | null
  | readonly LabelValue[]
  | { readonly [name: string]: LabelValue }

/** Labels as agents write them: names to JSON values. */
export type Labels = { readonly [name: string]: LabelValue }

/** Instances as an agent lists them: two columns of equal length. */
export interface Listing {
  readonly ids: readonly number[]
  /** Names, or what finds them when somebody wants them: a fetch does not. */
  readonly names: readonly string[] | (() => readonly string[])
}

/** An instance domain of an agent. */
export interface IndomSpec {
  readonly serial: number
  /** Static instances (external name to id), or a function that lists them as they are now, for whoever asks. */
  readonly instances: { readonly [name: string]: number } | ((ask: Ask) => Listing)
  /** Not everybody has the same instances: nothing is shared by requesters, not even within one moment. */
  readonly isPerRequester?: true
  /** The name to look for when somebody asks for one: where several ways of writing it are usual. */
  readonly canonicalName?: (given: string) => string
  /** Refreshed before the instances are listed. */
  readonly reading?: Refreshable
  /** One line: what the instances are. */
  readonly help: string
  /** The full help text. Without it `help` serves as both. */
  readonly text?: string
  /** In place of `help` and `text`: what somebody else said of it, or did not (PM_ERR_TEXT). */
  readonly texts?: { readonly oneline?: string; readonly help?: string }
  readonly labels?: Labels
  /** Labels of one instance. */
  readonly instanceLabels?: (inst: number, name: string) => Labels | undefined
  /** Labels of one instance that are annotations, not part of its identity. */
  readonly instanceNotes?: (inst: number, name: string) => Labels | undefined
}

/** One metric: one row. */
export interface MetricSpec {
  /** Default 0. */
  readonly cluster?: number
  readonly item: number
  readonly type: TypeName
  readonly sem: SemName
  /** As pmParseUnitsStr(3) reads them: 'count', 'Kbyte / sec', 'none'. */
  readonly units: string
  /** Absent for a metric with one value. */
  readonly indom?: IndomSpec
  /** One line: what is counted. */
  readonly help: string
  /** The full help text: where it comes from, what to make of it. Without it `help` serves as both. */
  readonly text?: string
  /** In place of `help` and `text`: what somebody else said of it, or did not (PM_ERR_TEXT). */
  readonly texts?: { readonly oneline?: string; readonly help?: string }
  /** A function for labels that change; tell clients with PMCD_LABEL_CHANGE when they do. */
  readonly labels?: Labels | (() => Labels)
  /** Labels that are annotations, not part of the metric's identity. */
  readonly notes?: Labels | (() => Labels)
  /** The descriptor now, for a metric that learns its type or units while it runs. Throws PcpError: it has none. */
  readonly describe?: (desc: MetricDesc) => MetricDesc
  /** Refreshed once a moment, before `value` is called; when it fails the whole metric has its error. */
  readonly reading?: Refreshable
  /** May who asks see values? Others have none, and nothing is read for them. */
  readonly isShown?: (ask: Ask) => boolean
  /**
   * Begins what another thread can do, before anything of a fetch is worked out; `wanted` are the instances. The metric is
   * answered when the promise is resolved, the others meanwhile. It must not reject. Undefined when there is nothing to begin.
   */
  readonly ahead?: (ask: Ask, wanted: () => Int32Array) => Promise<void> | undefined
  /** Called once in each fetch, before `value`: to advance what changes with each fetch. Throws what the whole metric has. */
  readonly begin?: (ask: Ask) => void
  /** The value of one instance (PM_IN_NULL for a metric with one value). Called for the instances the profile wants. */
  readonly value: (inst: number, ask: Ask) => Sample
  /** The number under which the value of an instance is reported, when that is not its own: to test clients with. */
  readonly reportedAs?: (inst: number) => number
  /** Stores a value; throws PcpError (PM_ERR_BADSTORE...) to refuse. Without it the metric refuses with PM_ERR_PERMISSION. */
  readonly store?: (value: Value, inst: number, ask: Ask) => void
  /**
   * What is stored changes what other clients see: only root and the agent's owner may store, over a unix socket or authenticated.
   * Others get PM_ERR_PERMISSION. Without it any client may that the collector's access rules let store.
   */
  readonly isControl?: true
  /** A store to PM_IN_NULL is taken, although the metric has instances: the one of whoever stores is meant. */
  readonly storesToOwn?: boolean
}

/** One more name: of another row, or of any PMID, which may be another agent's or nobody's. */
export interface AliasSpec {
  readonly alias: string | Pmid
}

/** What an agent may be asked: as the methods of a MetricSource, with everything about names as one. */
export type RequestKind = 'names' | 'descs' | 'instances' | 'text' | 'labels' | 'fetch' | 'store'

/** What an agent is given when it is opened. */
export interface AgentEnv {
  /** The agent's domain, which a configuration may change. */
  readonly domain: number
  /** Root of the file system to look at: '/' except in tests. */
  readonly root: string
  /** User who may store to controls besides root. Default: who runs the process when the agent is opened. */
  readonly owner?: number
  /** Environment variables and pcp.conf variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** What the daemon's command line said for the `options` of the agent; none in a collector. */
  readonly options: GivenOptions
  /** Writes a line to the agent's log: never to standard output. */
  readonly log: (level: 'info' | 'warning' | 'error', text: string) => void
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Milliseconds that what `ahead` begins may take before the metric has PM_ERR_TIMEOUT; 0 is no limit. Default 5000. */
  readonly timeoutMs?: () => number
  /** Tells whoever uses the agent that its labels or names changed, or that it is not ready or ready again. */
  readonly announce: (event: SourceEvent) => void
  /**
   * Answers with other tables from now on, when metrics came or went, and announces PMCD_NAMES_CHANGE. Collectors notice
   * at once what comes and goes below `dynamicRoots`. PM_ERR_GENERIC when the tables are wrong: the old ones stay.
   */
  readonly replaceTables: (tables: AgentTables) => void
}

/** The tables of an open agent. */
export interface AgentTables {
  readonly metrics: { readonly [name: string]: MetricSpec | AliasSpec }
  /** Roots of the subtrees whose names come and go: a collector asks the agent about them each time. */
  readonly dynamicRoots?: readonly string[]
  /** Whoever looks up an inner node there hears that there is no such name, not that it is no leaf: old agents do that. */
  readonly hidesDynamicNodes?: boolean
  /** Labels of the whole domain, `{}` for none. Without them the domain has one label: `{"agent":"NAME"}`. */
  readonly labels?: Labels
  /** Labels of clusters. */
  readonly clusterLabels?: { readonly [cluster: number]: Labels }
  /** Instance domains no metric refers to. */
  readonly indoms?: readonly IndomSpec[]
  /** Called before each request is answered; throws PcpError to refuse it. */
  readonly beforeRequest?: (kind: RequestKind, ask: Ask) => void
  /** Called after each request was worked out, or failed: to let go what was made for it. */
  readonly afterRequest?: (kind: RequestKind, ask: Ask) => void
  /**
   * Other tables for values, instances, their labels and stores of some requesters: of the same metrics, elsewhere, as for a client that
   * looks into a container. The same object for as long as that is the same place; undefined for these tables here. Throws
   * PcpError to refuse. Its own hooks are not called.
   */
  readonly tablesFor?: (ask: Ask) => Pick<AgentTables, 'metrics' | 'indoms'> | undefined
  /** Called once before each fetch is answered. */
  readonly beforeFetch?: (ask: Ask) => void
  /** A client of the collector went away. */
  readonly endClient?: (client: number) => void
  /** Releases files and timers. A promise is awaited, for five seconds at most. */
  readonly close?: () => unknown
}

/** An agent: tables directly, a function that returns them when it keeps state or reads files, or some of each. */
export interface AgentSpec extends Partial<AgentTables> {
  /** Name without 'pmda': its daemon is bin/pmdaNAME. */
  readonly name: string
  readonly domain: number
  /** It needs no rights of root: its daemon becomes the user of PCP_USER when root starts it, unless -U says another. */
  readonly needsNoRoot?: boolean
  /** Options of its daemon besides those that every daemon has; `env.options` has what was given. */
  readonly options?: readonly DaemonOption[]
  /** Called once each time the agent is opened. Its tables are joined with those given here; nothing may be in both. */
  readonly open?: (env: AgentEnv) => AgentTables
}
