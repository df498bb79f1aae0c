/** The PMAPI calls of a context, one method each. docs/reference/pmapi-map.md */
import type { DerivedText } from '../derive/definitions.ts'
import type { DerivedOperands } from '../derive/derived-source.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { clusterOf, domainOf, type Indom, PM_INDOM_NULL, type Pmid, pmid } from '../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../model/labels.ts'
import { ALL_INSTANCES, type Profile } from '../model/profile.ts'
import type { Ask, Child, Credentials, Instances } from '../model/source.ts'
import { PM_TYPE_STRING } from '../model/types.ts'
import { extract } from '../model/value-set.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import { EventLoopTurn } from '../sys/event-loop.ts'
import { type ArchiveControl, isNeverRecorded, withForget } from './archive-control.ts'
import type { Lifecycle } from './lifecycle.ts'
import { singleOutcome } from './single-outcome.ts'

/** Options of every call. */
export interface CallOptions {
  /** Cancels the call with ECANCELED. */
  readonly signal?: AbortSignal
}

/** Help text options. */
export interface TextOptions extends CallOptions {
  /** One line or the full help (default). */
  readonly level?: 'oneline' | 'help'
  /** Fail if there is no full help, instead of returning the one-line text. */
  readonly direct?: boolean
}

/** Properties of a context's source and requester that are known without a request. */
export interface CallsOptions {
  /** Name of the source's host if the source does not report it. */
  readonly hostname?: string
  /** Container whose values to report. */
  readonly container?: string
  /** Identity of the requester, for sources in this process. */
  readonly credentials?: Credentials
  /** Archive behind the source. */
  readonly archive?: ArchiveControl
}

/** Errors for a label level that has no agent. */
const UNANSWERED: ReadonlySet<string> = new Set([
  'PM_ERR_NOAGENT',
  'PM_ERR_PMID',
  'PM_ERR_INDOM',
  'PM_ERR_AGAIN',
])

/** Base of `Context`: the PMAPI calls without sampling, which is built on them, and without opening and closing. */
export abstract class ContextCalls {
  readonly #lifecycle: Lifecycle
  readonly #knownHostname: string
  #archive: ArchiveControl | undefined
  #ask: Ask
  #formOf: ((name: string) => string) | undefined
  readonly #turn = new EventLoopTurn()

  protected constructor(lifecycle: Lifecycle, options: CallsOptions) {
    const { archive, container, credentials, hostname = '' } = options
    this.#lifecycle = lifecycle
    this.#knownHostname = hostname
    this.#archive = archive && withForget(archive, () => lifecycle.derived.forget())
    this.#ask = {
      requester: {
        client: 0,
        context: lifecycle.context,
        profile: ALL_INSTANCES,
        ...(container === undefined ? {} : { container }),
        ...(credentials === undefined ? {} : { credentials }),
      },
    }
  }

  /** Archive-only operations; undefined for other sources. */
  get archive(): ArchiveControl | undefined {
    return this.#archive
  }

  /** Called by every call. Throws if this context is closed, even if others keep its source open. */
  #asking(options: CallOptions | undefined): Ask {
    this.#lifecycle.assertOpen()
    const { signal } = options ?? {}
    return signal === undefined ? this.#ask : { requester: this.#ask.requester, signal }
  }

  /** Applies `form` to instance and host names returned from now on, for reports; arguments still take the original names. */
  formNames(form: (name: string) => string): void {
    this.#formOf = form
    const archive = this.#archive
    if (archive === undefined) return
    this.#archive = Object.assign(Object.create(archive) as ArchiveControl, {
      instances: (indom: Indom) => this.#named(archive.instances(indom)),
      instanceName: (indom: Indom, id: number) => form(archive.instanceName(indom, id)),
    })
  }

  /** The function given to `formNames`, for text shown beside names. */
  get nameForm(): ((name: string) => string) | undefined {
    return this.#formOf
  }

  #named(instances: Instances): Instances {
    const { names } = instances
    return this.#formOf === undefined ? instances : { ...instances, names: names.map(this.#formOf) }
  }

  /** Looks up names; each result is a PMID or an error: PM_ERR_NAME, PM_ERR_NONLEAF. @see pmLookupName(3) */
  async lookupNames(names: readonly string[], options?: CallOptions): Promise<readonly Outcome<Pmid>[]> {
    return names.length === 0 ? [] : this.#lifecycle.source.lookupNames(names, this.#asking(options))
  }

  /** Returns the PMID of a name. PM_ERR_NAME, PM_ERR_NONLEAF. @see pmLookupName(3) */
  async lookupName(name: string, options?: CallOptions): Promise<Pmid> {
    return singleOutcome(await this.lookupNames([name], options), `"${name}"`)
  }

  /** Returns the children of a node of the name space ('' for the root); empty for a leaf. PM_ERR_NAME. @see pmGetChildrenStatus(3) */
  async children(name = '', options?: CallOptions): Promise<readonly Child[]> {
    return this.#lifecycle.source.children(name, this.#asking(options))
  }

  /** Returns the full names of all metrics below a node, in name space order. PM_ERR_NAME. @see pmTraversePMNS(3) */
  async traverse(name = '', options?: CallOptions): Promise<readonly string[]> {
    return this.#lifecycle.source.traverse(name, this.#asking(options))
  }

  /** Returns all names of a PMID. PM_ERR_PMID, PM_ERR_NOAGENT. @see pmNameAll(3) */
  async namesOf(id: Pmid, options?: CallOptions): Promise<readonly string[]> {
    return this.#lifecycle.source.lookupId(id, this.#asking(options))
  }

  /** Looks up descriptors; each result may be an error: PM_ERR_PMID, PM_ERR_NOAGENT. @see pmLookupDescs(3) */
  async descs(ids: readonly Pmid[], options?: CallOptions): Promise<readonly Outcome<MetricDesc>[]> {
    return ids.length === 0 ? [] : this.#lifecycle.source.descs(ids, this.#asking(options))
  }

  /** Returns the descriptor of a PMID. PM_ERR_PMID, PM_ERR_NOAGENT. @see pmLookupDesc(3) */
  async desc(id: Pmid, options?: CallOptions): Promise<MetricDesc> {
    return singleOutcome(await this.descs([id], options))
  }

  /** Returns all instances of a domain, regardless of the profile. PM_ERR_INDOM. @see pmGetInDom(3) */
  async instances(indom: Indom, options?: CallOptions): Promise<Instances> {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM')
    return this.#named(await this.#lifecycle.source.instances(indom, undefined, this.#asking(options)))
  }

  /** Returns the instance with this external name, or with this first word of its name. PM_ERR_INST, PM_ERR_INDOM. @see pmLookupInDom(3) */
  async instanceId(indom: Indom, name: string, options?: CallOptions): Promise<number> {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM')
    const { ids } = await this.#lifecycle.source.instances(indom, { name }, this.#asking(options))
    if (ids.length === 0) throw new PcpError('PM_ERR_INST', `Unknown instance "${name}"`)
    return ids[0]!
  }

  /** Returns the external name of an instance. PM_ERR_INST, PM_ERR_INDOM. @see pmNameInDom(3) */
  async instanceName(indom: Indom, id: number, options?: CallOptions): Promise<string> {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM')
    const { names } = this.#named(
      await this.#lifecycle.source.instances(indom, { id }, this.#asking(options)),
    )
    if (names.length === 0) throw new PcpError('PM_ERR_INST')
    return names[0]!
  }

  /** Returns the help text of a metric. PM_ERR_TEXT, PM_ERR_PMID. @see pmLookupText(3) */
  async text(id: Pmid, options?: TextOptions): Promise<string> {
    return this.#text('metric', id, options)
  }

  /** Returns the help text of an instance domain. PM_ERR_TEXT, PM_ERR_INDOM. @see pmLookupInDomText(3) */
  async indomText(indom: Indom, options?: TextOptions): Promise<string> {
    return this.#text('indom', indom, options)
  }

  async #text(
    kind: 'metric' | 'indom',
    id: number,
    { level = 'help', direct = false, ...options }: TextOptions = {},
  ): Promise<string> {
    const ask = this.#asking(options)
    const textOf = (level: 'oneline' | 'help'): Promise<string> =>
      this.#lifecycle.source.text({ kind, id, level }, ask)
    if (level === 'oneline' || direct) return textOf(level)
    const help = await textOf(level).catch((error: unknown) => {
      if (error instanceof PcpError && error.code === 'PM_ERR_TEXT') return ''
      throw error
    })
    return help === '' ? textOf('oneline') : help
  }

  /** Returns the label sets of one level; `id` is a PMID, indom, cluster or domain, depending on the level. PM_ERR_NOLABELS. @see pmLookupLabels(3) */
  async labels(level: number, id: number, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.#lifecycle.source.labels({ level, id }, this.#asking(options))
  }

  /** Returns the labels of the source as a whole. PM_ERR_NOLABELS. @see pmGetContextLabels(3) */
  async contextLabels(options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_CONTEXT, 0, options)
  }

  /** Returns the labels of an agent's domain. PM_ERR_NOLABELS, PM_ERR_NOAGENT. @see pmGetDomainLabels(3) */
  async domainLabels(domain: number, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_DOMAIN, domain, options)
  }

  /** Returns the labels of an instance domain. PM_ERR_NOLABELS, PM_ERR_INDOM. @see pmGetInDomLabels(3) */
  async indomLabels(indom: Indom, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_INDOM, indom, options)
  }

  /** Returns the labels of the cluster of a PMID. PM_ERR_NOLABELS. @see pmGetClusterLabels(3) */
  async clusterLabels(id: Pmid, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_CLUSTER, pmid(domainOf(id), clusterOf(id), 0), options)
  }

  /** Returns the labels of the metric level only. PM_ERR_NOLABELS, PM_ERR_PMID. @see pmGetItemLabels(3) */
  async itemLabels(id: Pmid, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_ITEM, id, options)
  }

  /** Returns one label set per instance of a domain. PM_ERR_NOLABELS, PM_ERR_INDOM. @see pmGetInstancesLabels(3) */
  async instancesLabels(indom: Indom, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_INSTANCES, indom, options)
  }

  /**
   * Returns all label sets that apply to a metric, weakest first, without those of its instances. Levels without an agent
   * are omitted. PM_ERR_NOLABELS. @see pmLookupLabels(3)
   */
  async labelsFor(id: Pmid, options?: CallOptions): Promise<readonly LabelSet[]> {
    const { indom } = await this.desc(id, options)
    const sets = await Promise.all([
      this.contextLabels(options),
      unlessUnanswered(this.domainLabels(domainOf(id), options)),
      indom === PM_INDOM_NULL ? [] : unlessUnanswered(this.indomLabels(indom, options)),
      unlessUnanswered(this.clusterLabels(id, options)),
      unlessUnanswered(this.itemLabels(id, options)),
    ])
    return sets.flat().filter(({ status, json }) => status >= 0 && json !== '')
  }

  /** Instances that fetches return. A new profile applies from the next fetch on. @see pmAddProfile(3), pmDelProfile(3) */
  get profile(): Profile {
    return this.#ask.requester.profile
  }

  set profile(profile: Profile) {
    this.#ask = { ...this.#ask, requester: { ...this.#ask.requester, profile } }
  }

  /** Fetches the current values of metrics, in the order given. @see pmFetch(3) */
  async fetch(ids: readonly Pmid[], options?: CallOptions): Promise<FetchResult> {
    if (ids.length === 0) throw new PcpError('PM_ERR_TOOSMALL', 'A fetch needs at least one metric')
    const signal = this.#archive && options?.signal
    if (signal !== undefined && (this.#turn.shouldYield() || signal.aborted)) await this.#yield(signal)
    return this.#lifecycle.source.fetch(ids, this.#asking(options))
  }

  /** Fetches from archives never wait; without yielding to the event loop no abort signal would arrive. */
  async #yield(signal: AbortSignal): Promise<void> {
    await this.#turn.yield()
    if (signal.aborted)
      throw new PcpError('ECANCELED', 'Reading the archive was canceled', { cause: signal.reason })
  }

  /**
   * Like `fetch`, but returns recorded metrics of an archive synchronously. For loops over long archives, where a promise
   * costs as much as a fetch.
   */
  fetchNow(ids: readonly Pmid[], options?: CallOptions): FetchResult | Promise<FetchResult> {
    const isTraced = this.#lifecycle.source !== this.#lifecycle.derived
    if (this.#archive === undefined || isTraced || ids.length === 0 || ids.some(isNeverRecorded))
      return this.fetch(ids, options)
    this.#lifecycle.assertOpen()
    if (this.#lifecycle.derived.isFetching(this.#ask.requester)) return this.fetch(ids, options)
    return this.#archive.fetchNow(ids, this.profile)
  }

  /** Stores values. PM_ERR_PERMISSION, PM_ERR_BADSTORE, PM_ERR_VALUE for a set without values. @see pmStore(3) */
  async store(sets: readonly ValueSet[], options?: CallOptions): Promise<void> {
    if (sets.length === 0) throw new PcpError('PM_ERR_TOOSMALL', 'A store needs at least one metric')
    if (sets.some(({ status }) => status < 1)) throw new PcpError('PM_ERR_VALUE')
    return this.#lifecycle.source.store(sets, this.#asking(options))
  }

  /** Returns the name of the host that the values come from, as the source reports it; '' if unknown. @see pmGetContextHostName(3) */
  async hostname(options?: CallOptions): Promise<string> {
    const name = await this.#hostname(options)
    return this.#formOf?.(name) ?? name
  }

  async #hostname(options?: CallOptions): Promise<string> {
    if (this.#archive !== undefined) return this.#archive.label.hostname
    const [id] = await this.lookupNames(['pmcd.hostname'], options)
    if (id !== undefined && !isError(id)) {
      const { sets } = await this.fetch([id], options)
      if (sets[0]!.status > 0) return String(extract(sets[0]!, 0, PM_TYPE_STRING))
    }
    return this.#knownHostname
  }

  /**
   * Defines a derived metric of this context only, effective immediately. PM_ERR_BADDERIVE with a message of several lines
   * that points at the error in the expression, PM_ERR_NAME for an invalid name. @see pmAddDerivedMetric(3)
   */
  async addDerived(name: string, expression: string, options?: CallOptions): Promise<Pmid> {
    return this.#lifecycle.derived.define(name, expression, this.#asking(options))
  }

  /** Returns the metrics that a derived metric is computed from; undefined for other metrics, and before its descriptor was fetched. */
  operandsOf(id: Pmid): DerivedOperands | undefined {
    return this.#lifecycle.derived.operandsOf(id)
  }

  /** Sets the help text of a metric of `addDerived`. PM_ERR_NAME, or PM_ERR_TEXT if it has one. @see pmAddDerivedText(3) */
  addDerivedText(name: string, level: DerivedText, text: string): void {
    this.#lifecycle.derived.own.setText(name, level, text)
  }

  /** Removes a metric of `addDerived`. PM_ERR_NAME. @see pmUnregisterDerived(3) */
  removeDerived(name: string): void {
    if (!this.#lifecycle.derived.own.remove(name))
      throw new PcpError('PM_ERR_NAME', `Unknown derived metric: "${name}"`)
  }

  /** Why the source is currently lost or being reopened; undefined while it is open. */
  get away(): PcpError | undefined {
    return this.#lifecycle.away
  }

  /** Why the source was lost before the most recent reconnect; undefined if it never was. */
  get lastAway(): PcpError | undefined {
    return this.#lifecycle.lastAway
  }

  /** True if the context reconnects automatically. See `ConnectOptions.reconnect`. */
  get reconnectsAutomatically(): boolean {
    return this.#lifecycle.reconnectsItself
  }

  /** Number of times the source was opened: 1, plus 1 for each reconnect. Counters of earlier fetches may have restarted. */
  get openings(): number {
    return this.#lifecycle.openings
  }

  /** Waits until the source is open. Rejects with `away` if nothing reconnects, and with ECANCELED by the signal. */
  async untilOpen(options?: CallOptions): Promise<void> {
    return this.#lifecycle.untilOpen(options?.signal)
  }
}

/** Returns label sets; empty if no agent answers for them. */
async function unlessUnanswered(sets: Promise<readonly LabelSet[]>): Promise<readonly LabelSet[]> {
  try {
    return await sets
  } catch (error) {
    if (error instanceof PcpError && UNANSWERED.has(error.code)) return []
    throw error
  }
}
