/** The interface of everything that provides metrics. docs/architecture.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from './desc.ts'
import type { Outcome } from './errors.ts'
import type { Indom, Pmid } from './ids.ts'
import type { LabelSet } from './labels.ts'
import { ALL_INSTANCES, type Profile } from './profile.ts'
import type { FetchResult, ValueSet } from './values.ts'

/** Identity of a client, as far as known: from a unix socket's peer or an authenticated user. */
export interface Credentials {
  readonly uid?: number
  readonly gid?: number
  readonly pid?: number
  readonly user?: string
  /** An unidentified user of this machine, with the rights that all users have. */
  readonly isGuest?: boolean
}

/**
 * The client of a request. A collector makes one per client and context, so a source can answer per client without hidden state.
 * Immutable: a new profile means a new requester object with the same numbers.
 */
export interface Requester {
  /** Slot of the client in the collector: the `from` field of PDUs to agents. 0 within one process. */
  readonly client: number
  /** Context number chosen by the client. */
  readonly context: number
  readonly profile: Profile
  readonly credentials?: Credentials
  /** Container whose values the client requested. */
  readonly container?: string
}

/** The default requester. */
export const ANONYMOUS: Requester = { client: 0, context: 0, profile: ALL_INSTANCES }

/** Context of a request. */
export interface Ask {
  readonly requester: Requester
  /** Stops waiting; a late answer is discarded. */
  readonly signal?: AbortSignal
  /** Archives only: the time of the values. */
  readonly at?: Timestamp
  /**
   * Shared by requests that were all waiting when this object was made: one sample of the system may serve them all.
   * Without it every request is sampled separately.
   */
  readonly batch?: object
}

/** A child of a name space node. */
export interface Child {
  /** Relative name. */
  readonly name: string
  readonly isLeaf: boolean
}

/** Instances of a domain, as two columns of equal length in the source's order. */
export interface Instances {
  readonly indom: Indom
  readonly ids: readonly number[]
  /** External names; '' if the query did not request names. */
  readonly names: readonly string[]
}

/** Instances to list: all of them, the name of one id, or the id of one name. */
export type InstanceQuery = { readonly id: number } | { readonly name: string } | undefined

/** Selects a text: of a metric or of an instance domain, one line or the full help. */
export interface TextQuery {
  readonly kind: 'metric' | 'indom'
  readonly id: Pmid | Indom
  readonly level: 'oneline' | 'help'
}

/** Selects labels: `level` is one of LABEL_CONTEXT to LABEL_INSTANCES; `id` is the domain, indom or PMID for that level. */
export interface LabelQuery {
  readonly level: number
  readonly id: number
}

/** Notifications of a source. */
export type SourceEvent =
  /** Names, labels, agents or the host name changed: PMCD_* bits. */
  | { readonly type: 'changed'; readonly changes: number }
  /** The source stopped answering. */
  | { readonly type: 'lost'; readonly error: Error }
  /** It answers again. */
  | { readonly type: 'back' }
  /** The source is not ready for requests (PM_ERR_PMDANOTREADY). */
  | { readonly type: 'notready' }
  | { readonly type: 'ready' }

/**
 * Provides metrics: an in-process agent, an agent behind a pipe or socket, a remote collector, an archive, a layer
 * over another source, or a collector itself. Errors of single items are data (an Outcome, a negative status in a value
 * set); a rejected promise is a PcpError for the whole request.
 */
export interface MetricSource {
  /** Returns the children of a node, '' for the root; none for a leaf. PM_ERR_NAME. @see pmGetChildrenStatus(3) */
  children(name: string, ask: Ask): Promise<readonly Child[]>
  /** Returns the full names of all leaves below a node, in name space order; a leaf returns itself. PM_ERR_NAME. @see pmTraversePMNS(3) */
  traverse(name: string, ask: Ask): Promise<readonly string[]>
  /** Returns the PMID of each name, or its error PM_ERR_NAME, PM_ERR_NONLEAF... @see pmLookupName(3) */
  lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]>
  /** Returns all names of a PMID. PM_ERR_PMID. @see pmNameAll(3) */
  lookupId(id: Pmid, ask: Ask): Promise<readonly string[]>
  /** Returns the descriptor of each PMID, or its error PM_ERR_PMID, PM_ERR_NOAGENT... @see pmLookupDescs(3) */
  descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]>
  /** Returns instances of a domain. PM_ERR_INDOM, PM_ERR_INST. @see pmGetInDom(3), pmLookupInDom(3), pmNameInDom(3) */
  instances(indom: Indom, query: InstanceQuery, ask: Ask): Promise<Instances>
  /** Returns a help text. PM_ERR_TEXT. @see pmLookupText(3), pmLookupInDomText(3) */
  text(query: TextQuery, ask: Ask): Promise<string>
  /** Returns labels of one level: at most one set, except for LABEL_INSTANCES. @see pmLookupLabels(3) */
  labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]>
  /** Returns values of metrics in request order; duplicates are allowed. @see pmFetch(3) */
  fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult>
  /** Stores values. PM_ERR_PERMISSION, PM_ERR_BADSTORE, PM_ERR_PMID... @see pmStore(3) */
  store(sets: readonly ValueSet[], ask: Ask): Promise<void>
  /** Forgets the state of a client that has disconnected. */
  endClient?(client: number): void
  /** Calls a listener for each notification; returns a function that removes it. */
  subscribe(listener: (event: SourceEvent) => void): () => void
  /** Releases all resources; idempotent. */
  close(): Promise<void>
}
