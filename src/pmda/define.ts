/** Types of the table that declares an agent: names, descriptors, help and labels follow from it. docs/reference/agent-toolkit.md */
import type { MetricDesc } from '../model/desc.ts'
import type { Outcome } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { Ask, SourceEvent } from '../model/source.ts'
import type { Value } from '../model/values.ts'
import type { DaemonOption, OptionValues } from './daemon-options.ts'
import type { Refreshable } from './reading.ts'

/** A metric type in a table. */
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

/** Metric semantics in a table. */
export type SemName = 'counter' | 'instant' | 'discrete'

/**
 * Result of a value callback: a value, undefined for 'no value now', or an error. Numbers may be used for integers of
 * any type up to 2^53; beyond that use a bigint.
 */
export type Sample = Outcome<Value> | undefined

/** JSON value of a label. */
export type LabelValue =
  | string
  | number
  | boolean
  | null
  | readonly LabelValue[]
  | { readonly [name: string]: LabelValue }

/** Labels in a table: names and JSON values. */
export type Labels = { readonly [name: string]: LabelValue }

/** Instances of an agent: two columns of equal length. */
export interface InstanceList {
  readonly ids: readonly number[]
  /** Names, or a function that returns them; fetches do not need names. */
  readonly names: readonly string[] | (() => readonly string[])
}

/** Fields of a metric with old names. */
export interface DeprecatedMetricFields {
  /** @deprecated Use `prefetch`. */
  readonly ahead?: (ask: Ask, wanted: () => Int32Array) => Promise<void> | undefined
  /** @deprecated Use `optionalLabels`. */
  readonly notes?: Labels | (() => Labels)
  /** @deprecated Use `isVisibleTo`. */
  readonly isShown?: (ask: Ask) => boolean
  /** @deprecated Use `acceptsNullInstance`. */
  readonly storesToOwn?: boolean
}

/** Fields of an instance domain with old names. */
export interface DeprecatedIndomFields {
  /** @deprecated Use `optionalInstanceLabels`. */
  readonly instanceNotes?: (inst: number, name: string) => Labels | undefined
}

/** An instance domain of an agent. */
export interface IndomSpec extends DeprecatedIndomFields {
  readonly serial: number
  /** Static instances (external name to identifier), or a function that lists the current ones for a requester. */
  readonly instances: { readonly [name: string]: number } | ((ask: Ask) => InstanceList)
  /** Instances differ between requesters: nothing is shared by requesters, not even within a batch. */
  readonly isPerRequester?: true
  /** Normalizes a name before it is looked up, where several spellings are usual. */
  readonly canonicalName?: (given: string) => string
  /** Refreshed before the instances are listed. */
  readonly reading?: Refreshable
  /** One line that describes the instances. */
  readonly help: string
  /** The full help text. Without it `help` serves as both. */
  readonly text?: string
  /** Replaces `help` and `text` by texts of another source; a missing one is PM_ERR_TEXT. */
  readonly texts?: { readonly oneline?: string; readonly help?: string }
  readonly labels?: Labels
  /** Labels of one instance. */
  readonly instanceLabels?: (inst: number, name: string) => Labels | undefined
  /** Optional labels of one instance, not part of its identity (pmLookupLabels(3)). */
  readonly optionalInstanceLabels?: (inst: number, name: string) => Labels | undefined
}

/** One metric: one row. */
export interface MetricSpec extends DeprecatedMetricFields {
  /** Default 0. */
  readonly cluster?: number
  readonly item: number
  readonly type: TypeName
  readonly sem: SemName
  /** In the syntax of pmParseUnitsStr(3): 'count', 'Kbyte / sec', 'none'. */
  readonly units: string
  /** Absent for a metric with one value. */
  readonly indom?: IndomSpec
  /** One line that describes the metric. */
  readonly help: string
  /** The full help text: source and interpretation of the value. Without it `help` serves as both. */
  readonly text?: string
  /** Replaces `help` and `text` by texts of another source; a missing one is PM_ERR_TEXT. */
  readonly texts?: { readonly oneline?: string; readonly help?: string }
  /** A function for labels that change; announce PMCD_LABEL_CHANGE when they do. */
  readonly labels?: Labels | (() => Labels)
  /** Optional labels, not part of the metric's identity. */
  readonly optionalLabels?: Labels | (() => Labels)
  /** Returns the current descriptor, for a metric whose type or units are known only at run time. Throws PcpError without one. */
  readonly describe?: (desc: MetricDesc) => MetricDesc
  /** Refreshed once per batch before `value` is called; if that fails, the whole metric has its error. */
  readonly reading?: Refreshable
  /** Returns whether the requester may see values. If not, the metric has none and nothing is read. */
  readonly isVisibleTo?: (ask: Ask) => boolean
  /**
   * Starts work in another thread before the fetch; `wanted` returns the requested instances. The metric is fetched when
   * the promise resolves, other metrics meanwhile. The promise must not reject. Returns undefined without work.
   */
  readonly prefetch?: (ask: Ask, wanted: () => Int32Array) => Promise<void> | undefined
  /** Called once per fetch before `value`, to advance state that changes with each fetch. An exception is the metric's error. */
  readonly begin?: (ask: Ask) => void
  /** Returns the value of one instance (PM_IN_NULL for a metric with one value). Called for the instances in the profile. */
  readonly value: (inst: number, ask: Ask) => Sample
  /** Reports the value under another instance identifier, to test clients. */
  readonly reportedAs?: (inst: number) => number
  /** Stores a value; throws PcpError (PM_ERR_BADSTORE...) to refuse it. Without it, stores fail with PM_ERR_PERMISSION. */
  readonly store?: (value: Value, inst: number, ask: Ask) => void
  /**
   * Stored values affect other clients: only root and the agent's owner may store, over a unix socket or authenticated;
   * other clients get PM_ERR_PERMISSION. Without it, the collector's access rules decide.
   */
  readonly isControl?: true
  /** Accepts a store to PM_IN_NULL although the metric has instances; it applies to the client's own instance. */
  readonly acceptsNullInstance?: boolean
}

/** An additional name of a row or of any PMID, which may belong to another agent or to none. */
export interface AliasSpec {
  readonly alias: string | Pmid
}

/** Kinds of requests to an agent: the methods of a MetricSource, with all requests about names as one kind. */
export type RequestKind = 'names' | 'descs' | 'instances' | 'text' | 'labels' | 'fetch' | 'store'

/** Environment of an open agent. */
export interface AgentEnv {
  /** The agent's domain, which a configuration may change. */
  readonly domain: number
  /** Root of the observed file system: '/' except in tests. */
  readonly root: string
  /** User besides root who may store to controls. Default: the user of the process when the agent is opened. */
  readonly owner?: number
  /** Environment variables and pcp.conf variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Values of the agent's own `options` on the daemon's command line; empty in a collector. */
  readonly options: OptionValues
  /** Writes a line to the agent's log: never to standard output. */
  readonly log: (level: 'info' | 'warning' | 'error', text: string) => void
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Time limit of `prefetch` in milliseconds, after which the metric has PM_ERR_TIMEOUT; 0 for no limit. Default 5000. */
  readonly timeoutMs?: () => number
  /** Announces changed labels or names, or that the agent is not ready or ready again, to its host. */
  readonly announce: (event: SourceEvent) => void
  /**
   * Replaces the tables after metrics were added or removed, and announces PMCD_NAMES_CHANGE. Changes below `dynamicRoots`
   * need no announcement. EINVAL if the tables are wrong; the old ones stay.
   */
  readonly replaceTables: (tables: AgentTables) => void
}

/** The tables of an open agent. */
export interface AgentTables {
  readonly metrics: { readonly [name: string]: MetricSpec | AliasSpec }
  /** Roots of subtrees whose names change: a collector forwards requests about them to the agent. */
  readonly dynamicRoots?: readonly string[]
  /** Looking up an inner node there fails as an unknown name instead of a name that is not a leaf, as in some older agents of PCP. */
  readonly hidesDynamicNodes?: boolean
  /** Labels of the whole domain, `{}` for none. Without them the domain has one label: `{"agent":"NAME"}`. */
  readonly labels?: Labels
  /** Labels of clusters. */
  readonly clusterLabels?: { readonly [cluster: number]: Labels }
  /** Instance domains no metric refers to. */
  readonly indoms?: readonly IndomSpec[]
  /** Called before each request is answered; throws PcpError to refuse it. */
  readonly beforeRequest?: (kind: RequestKind, ask: Ask) => void
  /** Called after each request, successful or not, to release its resources. */
  readonly afterRequest?: (kind: RequestKind, ask: Ask) => void
  /**
   * Returns other tables for values, instances, instance labels and stores of some requesters, for example a client that
   * looks into a container: the same metrics of another place. Return the same object for the same place, undefined for the
   * default tables; throw PcpError to refuse. Hooks of the other tables are not called.
   */
  readonly tablesFor?: (ask: Ask) => Pick<AgentTables, 'metrics' | 'indoms'> | undefined
  /** Called once before each fetch is answered. */
  readonly beforeFetch?: (ask: Ask) => void
  /** Called when a client of the collector disconnects. */
  readonly endClient?: (client: number) => void
  /** Releases files and timers. A promise is awaited, for five seconds at most. */
  readonly close?: () => unknown
}

/** An agent: tables given directly, a function that returns them (to keep state or read files), or both. */
export interface AgentSpec extends Partial<AgentTables> {
  /** Name without 'pmda'; its daemon is bin/pmdaNAME. */
  readonly name: string
  /** Without it, the collector that the agent is added to chooses a free one and keeps it. */
  readonly domain?: number
  /** When root starts its daemon, it switches to the user PCP_USER, or to that of -U. */
  readonly needsNoRoot?: boolean
  /** The agent's own daemon options, whose values are in `env.options`. */
  readonly options?: readonly DaemonOption[]
  /** Called each time the agent is opened. Its tables are joined with those given directly; nothing may be in both. */
  readonly open?: (env: AgentEnv) => AgentTables
}
