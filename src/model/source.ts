/** The one interface: everything that can answer for metrics. docs/architecture.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from './desc.ts'
import type { Outcome } from './errors.ts'
import type { Indom, Pmid } from './ids.ts'
import type { LabelSet } from './labels.ts'
import { ALL_INSTANCES, type Profile } from './profile.ts'
import type { FetchResult, ValueSet } from './values.ts'

/** Who somebody is, as far as is known: from a unix socket's peer or an authenticated user. */
export interface Credentials {
  readonly uid?: number
  readonly gid?: number
  readonly pid?: number
  readonly user?: string
  /** An unidentified user of this machine: may see what every user may. */
  readonly isGuest?: boolean
}

/**
 * Who asks. A collector makes one per client and context, so a source can answer per client without hidden state.
 * Immutable apart from being replaced: a new profile means a new requester object with the same numbers.
 */
export interface Requester {
  /** Slot of the client in the collector: the `from` field of PDUs to agents. 0 in one's own process. */
  readonly client: number
  /** Context number chosen by the client. */
  readonly context: number
  readonly profile: Profile
  readonly credentials?: Credentials
  /** Container the client asks to look into. */
  readonly container?: string
}

/** Who asks when nobody in particular does. */
export const ANONYMOUS: Requester = { client: 0, context: 0, profile: ALL_INSTANCES }

/** What any question may carry besides its arguments. */
export interface Ask {
  readonly requester: Requester
  /** Gives up waiting; the answer, when it still comes, is discarded. */
  readonly signal?: AbortSignal
  /** Archives only: the moment to answer for. */
  readonly at?: Timestamp
  /**
   * Shared by questions that were all waiting when this object was made: one reading of the system may serve them all.
   * Without it every question gets a reading of its own.
   */
  readonly moment?: object
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
  /** External names; '' where the query did not ask for names. */
  readonly names: readonly string[]
}

/** Which instances to list: all of them, the name of one id, or the id of one name. */
export type InstanceQuery = { readonly id: number } | { readonly name: string } | undefined

/** Which text: of a metric or of an instance domain, one line or the full help. */
export interface TextQuery {
  readonly kind: 'metric' | 'indom'
  readonly id: Pmid | Indom
  readonly level: 'oneline' | 'help'
}

/** Which labels: level is one of LABEL_CONTEXT to LABEL_INSTANCES; id is what that level wants (domain, indom or PMID). */
export interface LabelQuery {
  readonly level: number
  readonly id: number
}

/** What a source announces by itself. */
export type SourceEvent =
  /** Names, labels, agents or the host name changed: PMCD_* bits. */
  | { readonly type: 'changed'; readonly changes: number }
  /** The source stopped answering. */
  | { readonly type: 'lost'; readonly error: Error }
  /** It answers again. */
  | { readonly type: 'back' }
  /** It asks not to be asked (PM_ERR_PMDANOTREADY), or may be asked again. */
  | { readonly type: 'notready' }
  | { readonly type: 'ready' }

/**
 * Answers for metrics: an in-process agent, an agent behind a pipe or socket, a remote collector, an archive, a layer
 * over another source, or a collector itself. Errors about one item are data (an Outcome, a negative status in a value
 * set); a rejected promise is a PcpError about the whole question.
 */
export interface MetricSource {
  /** Children of a node, '' for the root; none for a leaf. PM_ERR_NAME. @see pmGetChildrenStatus(3) */
  children(name: string, ask: Ask): Promise<readonly Child[]>
  /** Full names of all leaves below a node, in name space order; a leaf gives itself. PM_ERR_NAME. @see pmTraversePMNS(3) */
  traverse(name: string, ask: Ask): Promise<readonly string[]>
  /** PMID of each name, or PM_ERR_NAME, PM_ERR_NONLEAF... in its place. @see pmLookupName(3) */
  lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]>
  /** All names of a PMID. PM_ERR_PMID. @see pmNameAll(3) */
  lookupId(id: Pmid, ask: Ask): Promise<readonly string[]>
  /** Descriptor of each PMID, or PM_ERR_PMID, PM_ERR_NOAGENT... in its place. @see pmLookupDescs(3) */
  descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]>
  /** Instances of a domain. PM_ERR_INDOM, PM_ERR_INST. @see pmGetInDom(3), pmLookupInDom(3), pmNameInDom(3) */
  instances(indom: Indom, query: InstanceQuery, ask: Ask): Promise<Instances>
  /** Help text. PM_ERR_TEXT. @see pmLookupText(3), pmLookupInDomText(3) */
  text(query: TextQuery, ask: Ask): Promise<string>
  /** Labels of one level: at most one set, except for LABEL_INSTANCES. @see pmLookupLabels(3) */
  labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]>
  /** Values of metrics, in request order, duplicates allowed. @see pmFetch(3) */
  fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult>
  /** Stores values. PM_ERR_PERMISSION, PM_ERR_BADSTORE, PM_ERR_PMID... @see pmStore(3) */
  store(sets: readonly ValueSet[], ask: Ask): Promise<void>
  /** The client in this slot is gone: forget what was kept for it. */
  endClient?(client: number): void
  /** Hears what the source announces; returns how to stop. */
  subscribe(listener: (event: SourceEvent) => void): () => void
  /** Releases what the source holds; idempotent. */
  close(): Promise<void>
}
