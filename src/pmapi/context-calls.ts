/** The calls of the PMAPI on a context: one method each. docs/pmapi-map.md */
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
import { type ArchiveControl, forgetting, isNeverRecorded } from './archive-control.ts'
import type { Lifecycle } from './lifecycle.ts'
import { only } from './only.ts'

/** What every call may carry. */
export interface CallOptions {
  /** Gives up waiting. */
  readonly signal?: AbortSignal
}

/** Help text options. */
export interface TextOptions extends CallOptions {
  /** One line, or the full help, which is the default. */
  readonly level?: 'oneline' | 'help'
  /** Do not fall back to the one line text where there is no full help. */
  readonly direct?: boolean
}

/** What a context knows of its source and of its requester without asking. */
export interface CallsOptions {
  /** Name of the source's host when the source does not report it. */
  readonly hostname?: string
  /** Container to look into. */
  readonly container?: string
  /** The requester, where the source is in this process and cannot know otherwise. */
  readonly credentials?: Credentials
  /** The archive that the source answers from. */
  readonly archive?: ArchiveControl
}

/** Errors of a level of labels without an agent to answer for it. */
const UNANSWERED: ReadonlySet<string> = new Set([
  'PM_ERR_NOAGENT',
  'PM_ERR_PMID',
  'PM_ERR_INDOM',
  'PM_ERR_AGAIN',
])

/** A `Context` as its own parts see it: without sampling, which is built on these calls, and without its beginning and end. */
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
    this.#archive = archive && forgetting(archive, () => lifecycle.derived.forget())
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

  /** Calls for archives alone; undefined over other sources. */
  get archive(): ArchiveControl | undefined {
    return this.#archive
  }

  /** Every call passes here: a closed context has no answers, also where others share its source. */
  #asking(options: CallOptions | undefined): Ask {
    this.#lifecycle.insistOnOpen()
    const { signal } = options ?? {}
    return signal === undefined ? this.#ask : { requester: this.#ask.requester, signal }
  }

  /** Gives names of instances and of the host another form from now on, as a report needs it; questions take names as the source has them. */
  formNames(form: (name: string) => string): void {
    this.#formOf = form
    const archive = this.#archive
    if (archive === undefined) return
    this.#archive = Object.assign(Object.create(archive) as ArchiveControl, {
      instances: (indom: Indom) => this.#named(archive.instances(indom)),
      instanceName: (indom: Indom, id: number) => form(archive.instanceName(indom, id)),
    })
  }

  /** The form of `formNames`, for text that stands beside names. */
  get nameForm(): ((name: string) => string) | undefined {
    return this.#formOf
  }

  #named(instances: Instances): Instances {
    const { names } = instances
    return this.#formOf === undefined ? instances : { ...instances, names: names.map(this.#formOf) }
  }

  /** PMID of each name, or why not: PM_ERR_NAME, PM_ERR_NONLEAF. @see pmLookupName(3) */
  async lookupNames(names: readonly string[], options?: CallOptions): Promise<readonly Outcome<Pmid>[]> {
    return names.length === 0 ? [] : this.#lifecycle.source.lookupNames(names, this.#asking(options))
  }

  /** PMID of a name. PM_ERR_NAME, PM_ERR_NONLEAF. @see pmLookupName(3) */
  async lookupName(name: string, options?: CallOptions): Promise<Pmid> {
    return only(await this.lookupNames([name], options), `"${name}"`)
  }

  /** Children of a node of the name space, '' for the root; none for a leaf. PM_ERR_NAME. @see pmGetChildrenStatus(3) */
  async children(name = '', options?: CallOptions): Promise<readonly Child[]> {
    return this.#lifecycle.source.children(name, this.#asking(options))
  }

  /** Full names of all metrics below a node, in name space order. PM_ERR_NAME. @see pmTraversePMNS(3) */
  async traverse(name = '', options?: CallOptions): Promise<readonly string[]> {
    return this.#lifecycle.source.traverse(name, this.#asking(options))
  }

  /** All names of a PMID. PM_ERR_PMID, PM_ERR_NOAGENT. @see pmNameAll(3) */
  async namesOf(id: Pmid, options?: CallOptions): Promise<readonly string[]> {
    return this.#lifecycle.source.lookupId(id, this.#asking(options))
  }

  /** Descriptor of each PMID, or why not: PM_ERR_PMID, PM_ERR_NOAGENT. @see pmLookupDescs(3) */
  async descs(ids: readonly Pmid[], options?: CallOptions): Promise<readonly Outcome<MetricDesc>[]> {
    return ids.length === 0 ? [] : this.#lifecycle.source.descs(ids, this.#asking(options))
  }

  /** Descriptor of a PMID. PM_ERR_PMID, PM_ERR_NOAGENT. @see pmLookupDesc(3) */
  async desc(id: Pmid, options?: CallOptions): Promise<MetricDesc> {
    return only(await this.descs([id], options))
  }

  /** All instances of a domain, whatever the profile says. PM_ERR_INDOM. @see pmGetInDom(3) */
  async instances(indom: Indom, options?: CallOptions): Promise<Instances> {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM')
    return this.#named(await this.#lifecycle.source.instances(indom, undefined, this.#asking(options)))
  }

  /** Instance of that external name, or of that name up to its first blank. PM_ERR_INST, PM_ERR_INDOM. @see pmLookupInDom(3) */
  async instanceId(indom: Indom, name: string, options?: CallOptions): Promise<number> {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM')
    const { ids } = await this.#lifecycle.source.instances(indom, { name }, this.#asking(options))
    if (ids.length === 0) throw new PcpError('PM_ERR_INST', `Unknown instance "${name}"`)
    return ids[0]!
  }

  /** External name of an instance. PM_ERR_INST, PM_ERR_INDOM. @see pmNameInDom(3) */
  async instanceName(indom: Indom, id: number, options?: CallOptions): Promise<string> {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM')
    const { names } = this.#named(
      await this.#lifecycle.source.instances(indom, { id }, this.#asking(options)),
    )
    if (names.length === 0) throw new PcpError('PM_ERR_INST')
    return names[0]!
  }

  /** Help text of a metric. PM_ERR_TEXT, PM_ERR_PMID. @see pmLookupText(3) */
  async text(id: Pmid, options?: TextOptions): Promise<string> {
    return this.#text('metric', id, options)
  }

  /** Help text of an instance domain. PM_ERR_TEXT, PM_ERR_INDOM. @see pmLookupInDomText(3) */
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

  /** Returns the label sets of one level; `id` is a PMID, an indom, a cluster or a domain, as the level needs. PM_ERR_NOLABELS. @see pmLookupLabels(3) */
  async labels(level: number, id: number, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.#lifecycle.source.labels({ level, id }, this.#asking(options))
  }

  /** Labels of the source as a whole. PM_ERR_NOLABELS. @see pmGetContextLabels(3) */
  async contextLabels(options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_CONTEXT, 0, options)
  }

  /** Labels of an agent's domain. PM_ERR_NOLABELS, PM_ERR_NOAGENT. @see pmGetDomainLabels(3) */
  async domainLabels(domain: number, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_DOMAIN, domain, options)
  }

  /** Labels of an instance domain. PM_ERR_NOLABELS, PM_ERR_INDOM. @see pmGetInDomLabels(3) */
  async indomLabels(indom: Indom, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_INDOM, indom, options)
  }

  /** Labels of the cluster a PMID is in. PM_ERR_NOLABELS. @see pmGetClusterLabels(3) */
  async clusterLabels(id: Pmid, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_CLUSTER, pmid(domainOf(id), clusterOf(id), 0), options)
  }

  /** Labels of a metric alone. PM_ERR_NOLABELS, PM_ERR_PMID. @see pmGetItemLabels(3) */
  async itemLabels(id: Pmid, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_ITEM, id, options)
  }

  /** Labels of each instance of a domain: one set an instance. PM_ERR_NOLABELS, PM_ERR_INDOM. @see pmGetInstancesLabels(3) */
  async instancesLabels(indom: Indom, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.labels(LABEL_INSTANCES, indom, options)
  }

  /**
   * All label sets that hold for a metric, weakest first; those of its instances are separate. A level without an agent
   * to answer for it is left out. PM_ERR_NOLABELS. @see pmLookupLabels(3)
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

  /** Which instances a fetch returns. Setting another one holds from the next fetch on. @see pmAddProfile(3), pmDelProfile(3) */
  get profile(): Profile {
    return this.#ask.requester.profile
  }

  set profile(profile: Profile) {
    this.#ask = { ...this.#ask, requester: { ...this.#ask.requester, profile } }
  }

  /** Values of metrics now, in the order asked for. @see pmFetch(3) */
  async fetch(ids: readonly Pmid[], options?: CallOptions): Promise<FetchResult> {
    if (ids.length === 0) throw new PcpError('PM_ERR_TOOSMALL', 'A fetch needs at least one metric')
    const signal = this.#archive && options?.signal
    if (signal !== undefined && (this.#turn.shouldYield() || signal.aborted)) await this.#yield(signal)
    return this.#lifecycle.source.fetch(ids, this.#asking(options))
  }

  /** Fetches from archives resolve without waiting for anything: without turns of the event loop no signal would ever arrive. */
  async #yield(signal: AbortSignal): Promise<void> {
    await this.#turn.yield()
    if (signal.aborted)
      throw new PcpError('ECANCELED', 'Reading the archive was given up', { cause: signal.reason })
  }

  /**
   * As `fetch`, but without a promise where there is nothing to wait for: from an archive, of what is recorded there. For loops over
   * long archives, where each promise costs as much as a fetch.
   */
  fetchNow(ids: readonly Pmid[], options?: CallOptions): FetchResult | Promise<FetchResult> {
    const isTraced = this.#lifecycle.source !== this.#lifecycle.derived
    if (this.#archive === undefined || isTraced || ids.length === 0 || ids.some(isNeverRecorded))
      return this.fetch(ids, options)
    this.#lifecycle.insistOnOpen()
    if (this.#lifecycle.derived.isFetching(this.#ask.requester)) return this.fetch(ids, options)
    return this.#archive.fetchNow(ids, this.profile)
  }

  /** Stores values. PM_ERR_PERMISSION, PM_ERR_BADSTORE, PM_ERR_VALUE for a set without values. @see pmStore(3) */
  async store(sets: readonly ValueSet[], options?: CallOptions): Promise<void> {
    if (sets.length === 0) throw new PcpError('PM_ERR_TOOSMALL', 'A store needs at least one metric')
    if (sets.some(({ status }) => status < 1)) throw new PcpError('PM_ERR_VALUE')
    return this.#lifecycle.source.store(sets, this.#asking(options))
  }

  /** Name of the host the values come from, as the source reports it; '' when unknown. @see pmGetContextHostName(3) */
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
   * Defines a derived metric of this context, at once. PM_ERR_BADDERIVE with a message of several lines that points at what is
   * wrong with the expression, PM_ERR_NAME for what can be no name. @see pmAddDerivedMetric(3)
   */
  async addDerived(name: string, expression: string, options?: CallOptions): Promise<Pmid> {
    return this.#lifecycle.derived.define(name, expression, this.#asking(options))
  }

  /** Returns the metrics that a derived one is computed from; undefined for any other. Known once it has been described. */
  operandsOf(id: Pmid): DerivedOperands | undefined {
    return this.#lifecycle.derived.operandsOf(id)
  }

  /** Gives a metric of `addDerived` a help text. PM_ERR_NAME, PM_ERR_TEXT when it has one. @see pmAddDerivedText(3) */
  addDerivedText(name: string, level: DerivedText, text: string): void {
    this.#lifecycle.derived.own.setText(name, level, text)
  }

  /** Forgets a metric of `addDerived`. PM_ERR_NAME. @see pmUnregisterDerived(3) */
  removeDerived(name: string): void {
    if (!this.#lifecycle.derived.own.remove(name))
      throw new PcpError('PM_ERR_NAME', `Unknown derived metric: "${name}"`)
  }

  /** Why the source does not answer at present: it was lost, or is being opened again. Undefined while it answers. */
  get away(): PcpError | undefined {
    return this.#lifecycle.away
  }

  /** Why the source did not answer before it was opened again, the last time; undefined while it never was. */
  get lastAway(): PcpError | undefined {
    return this.#lifecycle.lastAway
  }

  /** Does it reconnect by itself? See `ConnectOptions.reconnect`. */
  get reconnectsItself(): boolean {
    return this.#lifecycle.reconnectsItself
  }

  /** How often its source was opened: 1, and one more after each reconnect. Counters of readings before may have restarted. */
  get openings(): number {
    return this.#lifecycle.openings
  }

  /** Waits until the source is open. Rejects with `away` if nothing reconnects, and with ECANCELED by the signal. */
  async untilOpen(options?: CallOptions): Promise<void> {
    return this.#lifecycle.untilOpen(options?.signal)
  }
}

/** Label sets, or none where no agent answers for them. */
async function unlessUnanswered(sets: Promise<readonly LabelSet[]>): Promise<readonly LabelSet[]> {
  try {
    return await sets
  } catch (error) {
    if (error instanceof PcpError && UNANSWERED.has(error.code)) return []
    throw error
  }
}
