/** A context: one metric source seen by one client, with its instance profile. pmNewContext(3), docs/pmapi.md */
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
import type { Ask, Child, Instances, MetricSource, SourceEvent } from '../model/source.ts'
import { PM_TYPE_STRING } from '../model/types.ts'
import { extract } from '../model/value-set.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import type { PduCounters } from '../net/counters.ts'
import { type ArchiveControl, forgetting, isNeverRecorded } from './archive-control.ts'
import { type Clock, SYSTEM_CLOCK } from './clock.ts'
import { ContextLink } from './context-link.ts'
import type { ContextOptions, TextOptions } from './context-options.ts'
import { EventLoopTurn } from './event-loop-turn.ts'
import { helpText } from './help-text.ts'
import { labelsOf } from './label-levels.ts'
import { only } from './only.ts'
import type { Row } from './row.ts'
import { type SampleOptions, sampleRows, type ValuesOptions, valuesOnce } from './sample.ts'
import { SharedSource } from './shared-source.ts'
import { type Columns, sampleTable, type TableOptions, type TableRow } from './table.ts'

/** What every question may carry. */
export interface CallOptions {
  /** Gives up waiting. */
  readonly signal?: AbortSignal
}

/**
 * A metric source as one client sees it. Questions may be asked while others are being answered. Errors about one item
 * are returned in its place by the plural calls; the singular ones throw them.
 */
export class Context {
  readonly #link: ContextLink
  #archive: ArchiveControl | undefined
  #ask: Ask
  readonly #options: ContextOptions
  readonly #clock: Clock
  #formOf: ((name: string) => string) | undefined
  readonly #turn = new EventLoopTurn()

  private constructor(shared: SharedSource, options: ContextOptions) {
    this.#options = options
    this.#clock = options.clock ?? SYSTEM_CLOCK
    const link = new ContextLink(shared, options, this.#clock)
    this.#link = link
    this.#archive = options.archive && forgetting(options.archive, () => link.derived.forget())
    const { container, credentials } = options
    this.#ask = {
      requester: {
        client: 0,
        context: link.context,
        profile: ALL_INSTANCES,
        ...(container === undefined ? {} : { container }),
        ...(credentials === undefined ? {} : { credentials }),
      },
    }
  }

  /** A context on any source: a connection, agents in this process, a fake in a test. `close` closes the source. */
  static over(source: MetricSource, options: ContextOptions = {}): Context {
    try {
      return new Context(new SharedSource(source), options)
    } catch (error) {
      void source.close().catch(() => {})
      throw error
    }
  }

  /** PDUs exchanged with the source so far; undefined when it is in this process. */
  get counters(): PduCounters | undefined {
    return this.#options.counters
  }

  /** What is special about an archive; undefined when the source is none. */
  get archive(): ArchiveControl | undefined {
    return this.#archive
  }

  /** Every question passes here: a context that was closed has no answers, also where others share its source. */
  #asking(options: CallOptions | undefined): Ask {
    this.#link.insistOnOpen()
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
    return names.length === 0 ? [] : this.#link.source.lookupNames(names, this.#asking(options))
  }

  /** PMID of a name. PM_ERR_NAME, PM_ERR_NONLEAF. @see pmLookupName(3) */
  async lookupName(name: string, options?: CallOptions): Promise<Pmid> {
    return only(await this.lookupNames([name], options), `"${name}"`)
  }

  /** Children of a node of the name space, '' for the root; none for a leaf. PM_ERR_NAME. @see pmGetChildrenStatus(3) */
  async children(name = '', options?: CallOptions): Promise<readonly Child[]> {
    return this.#link.source.children(name, this.#asking(options))
  }

  /** Full names of all metrics below a node, in name space order. PM_ERR_NAME. @see pmTraversePMNS(3) */
  async traverse(name = '', options?: CallOptions): Promise<readonly string[]> {
    return this.#link.source.traverse(name, this.#asking(options))
  }

  /** All names of a PMID. PM_ERR_PMID, PM_ERR_NOAGENT. @see pmNameAll(3) */
  async namesOf(id: Pmid, options?: CallOptions): Promise<readonly string[]> {
    return this.#link.source.lookupId(id, this.#asking(options))
  }

  /** Descriptor of each PMID, or why not: PM_ERR_PMID, PM_ERR_NOAGENT. @see pmLookupDescs(3) */
  async descs(ids: readonly Pmid[], options?: CallOptions): Promise<readonly Outcome<MetricDesc>[]> {
    return ids.length === 0 ? [] : this.#link.source.descs(ids, this.#asking(options))
  }

  /** Descriptor of a PMID. PM_ERR_PMID, PM_ERR_NOAGENT. @see pmLookupDesc(3) */
  async desc(id: Pmid, options?: CallOptions): Promise<MetricDesc> {
    return only(await this.descs([id], options))
  }

  /** All instances of a domain, whatever the profile says. PM_ERR_INDOM. @see pmGetInDom(3) */
  async instances(indom: Indom, options?: CallOptions): Promise<Instances> {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM')
    return this.#named(await this.#link.source.instances(indom, undefined, this.#asking(options)))
  }

  /** Instance of that external name, or of that name up to its first blank. PM_ERR_INST, PM_ERR_INDOM. @see pmLookupInDom(3) */
  async instanceId(indom: Indom, name: string, options?: CallOptions): Promise<number> {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM')
    const { ids } = await this.#link.source.instances(indom, { name }, this.#asking(options))
    if (ids.length === 0) throw new PcpError('PM_ERR_INST', `Unknown instance "${name}"`)
    return ids[0]!
  }

  /** External name of an instance. PM_ERR_INST, PM_ERR_INDOM. @see pmNameInDom(3) */
  async instanceName(indom: Indom, id: number, options?: CallOptions): Promise<string> {
    if (indom === PM_INDOM_NULL) throw new PcpError('PM_ERR_INDOM')
    const { names } = this.#named(await this.#link.source.instances(indom, { id }, this.#asking(options)))
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

  async #text(kind: 'metric' | 'indom', id: number, options: TextOptions = {}): Promise<string> {
    const ask = this.#asking(options)
    return helpText((level) => this.#link.source.text({ kind, id, level }, ask), options)
  }

  /** Label sets of one level; `id` is what that level wants. PM_ERR_NOLABELS. @see pmLookupLabels(3) */
  async labels(level: number, id: number, options?: CallOptions): Promise<readonly LabelSet[]> {
    return this.#link.source.labels({ level, id }, this.#asking(options))
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
   * All label sets that hold for a metric, weakest first; those of its instances are separate. A level nobody answers
   * for is left out. PM_ERR_NOLABELS. @see pmLookupLabels(3)
   */
  async labelsFor(id: Pmid, options?: CallOptions): Promise<readonly LabelSet[]> {
    return labelsOf(this, id, options)
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
    if (this.#archive !== undefined && options?.signal !== undefined)
      await this.#turn.yieldIfDue(options.signal)
    return this.#link.source.fetch(ids, this.#asking(options))
  }

  /**
   * As `fetch`, but without a promise where there is nothing to wait for: from an archive, of what is recorded there. For loops over
   * long archives, where each promise costs as much as a fetch.
   */
  fetchNow(ids: readonly Pmid[], options?: CallOptions): FetchResult | Promise<FetchResult> {
    const isTraced = this.#link.source !== this.#link.derived
    if (this.#archive === undefined || isTraced || ids.length === 0 || ids.some(isNeverRecorded))
      return this.fetch(ids, options)
    this.#link.insistOnOpen()
    if (this.#link.derived.isFetching(this.#ask.requester)) return this.fetch(ids, options)
    return this.#archive.fetchNow(ids, this.profile)
  }

  /** Stores values. PM_ERR_PERMISSION, PM_ERR_BADSTORE, PM_ERR_VALUE for a set without values. @see pmStore(3) */
  async store(sets: readonly ValueSet[], options?: CallOptions): Promise<void> {
    if (sets.length === 0) throw new PcpError('PM_ERR_TOOSMALL', 'A store needs at least one metric')
    if (sets.some(({ status }) => status < 1)) throw new PcpError('PM_ERR_VALUE')
    return this.#link.source.store(sets, this.#asking(options))
  }

  /**
   * Rows of values at an interval that does not drift. A name with others below it stands for all of them. Ends after
   * `count` rows or when the loop is left. PM_ERR_NAME for an unknown metric, ECANCELED when the signal is aborted.
   *
   * @example
   * for await (const row of pcp.sample(['kernel.all.load', 'disk.dev.read'], { every: '5s', rates: true })) {
   *   console.log(row.value('kernel.all.load', '1 minute'))
   *   for (const [disk, reads] of row.get('disk.dev.read').instances) console.log(disk, reads)
   * }
   */
  sample<N extends string>(names: readonly N[], options: SampleOptions = {}): AsyncGenerator<Row<N>> {
    return sampleRows(this, names, options, this.#clock)
  }

  /**
   * Typed rows at an interval that does not drift, or through an archive: each column says which metric, which instances, in
   * which units. Counters are change a second, discrete values hold until there is another one. Errors as for `sample`;
   * PM_ERR_INDOM, PM_ERR_INST for instances that do not fit, PM_ERR_CONV for units that do not.
   *
   * @example
   * const columns = {
   *   load: 'kernel.all.load[1 minute]',
   *   read: { metric: 'disk.dev.read_bytes', instances: 'all', scale: 'Mbyte/sec' },
   * } as const
   * for await (const { time, values } of pcp.table(columns, { every: '10s' })) {
   *   console.log(time.sec, values.load?.toFixed(2), values.read.get('sda'))
   * }
   */
  table<const C extends Columns>(columns: C, options: TableOptions = {}): AsyncGenerator<TableRow<C>> {
    return sampleTable(this, columns, options, this.#clock)
  }

  /** The values of metrics now, named. A name with others below it stands for all of them. PM_ERR_NAME. */
  async values<N extends string>(names: readonly N[], options: ValuesOptions = {}): Promise<Row<N>> {
    return valuesOnce(this, names, options)
  }

  /** Name of the host the values come from, as the source tells it; '' when nobody knows. @see pmGetContextHostName(3) */
  async hostname(options?: CallOptions): Promise<string> {
    const name = await this.#hostname(options)
    return this.#formOf?.(name) ?? name
  }

  async #hostname(options?: CallOptions): Promise<string> {
    if (this.archive !== undefined) return this.archive.label.hostname
    const [id] = await this.lookupNames(['pmcd.hostname'], options)
    if (id !== undefined && !isError(id)) {
      const { sets } = await this.fetch([id], options)
      if (sets[0]!.status > 0) return String(extract(sets[0]!, 0, PM_TYPE_STRING))
    }
    return this.#options.hostname ?? ''
  }

  /**
   * Defines a derived metric of this context, at once. PM_ERR_BADDERIVE with a message of several lines that points at what is
   * wrong with the expression, PM_ERR_NAME for what can be no name. @see pmAddDerivedMetric(3)
   */
  async addDerived(name: string, expression: string, options?: CallOptions): Promise<Pmid> {
    return this.#link.derived.define(name, expression, this.#asking(options))
  }

  /** Returns the metrics that a derived one is computed from; undefined for any other. Known once it has been described. */
  operandsOf(id: Pmid): DerivedOperands | undefined {
    return this.#link.derived.operandsOf(id)
  }

  /** Gives a metric of `addDerived` a help text. PM_ERR_NAME, PM_ERR_TEXT when it has one. @see pmAddDerivedText(3) */
  addDerivedText(name: string, level: DerivedText, text: string): void {
    this.#link.derived.own.setText(name, level, text)
  }

  /** Forgets a metric of `addDerived`. PM_ERR_NAME. @see pmUnregisterDerived(3) */
  removeDerived(name: string): void {
    if (!this.#link.derived.own.remove(name))
      throw new PcpError('PM_ERR_NAME', `Unknown derived metric: "${name}"`)
  }

  /** Subscribes to changed names and agents, and to a source lost and back, until the context is closed. Returns how to stop. */
  subscribe(listener: (event: SourceEvent) => void): () => void {
    return this.#link.subscribe(listener)
  }

  /** Why the source does not answer at present: it was lost, or is being opened again. Undefined while it answers. */
  get away(): PcpError | undefined {
    return this.#link.away
  }

  /** Why the source did not answer before it was opened again, the last time; undefined while it never was. */
  get lastAway(): PcpError | undefined {
    return this.#link.lastAway
  }

  /** Does it reconnect by itself? See `ConnectOptions.reconnect`. */
  get reconnectsItself(): boolean {
    return this.#link.reconnectsItself
  }

  /** How often its source was opened: 1, and one more after each reconnect. Counters of readings before may have restarted. */
  get openings(): number {
    return this.#link.openings
  }

  /** Waits until the source is open. Rejects with `away` if nothing reconnects, and with ECANCELED by the signal. */
  async untilOpen(options?: CallOptions): Promise<void> {
    return this.#link.untilOpen(options?.signal)
  }

  /**
   * Opens the source afresh; profile and derived metrics are kept. Callers at the same time share one attempt. After a failed
   * attempt the next ones fail at once, with ETIMEDOUT, until some time has passed: longer after every failure. ECANCELED by
   * the signal, PM_ERR_NOCONTEXT when the context is closed. @see pmReconnectContext(3)
   */
  async reconnect(options?: CallOptions): Promise<void> {
    return this.#link.reconnect(options?.signal)
  }

  /**
   * Another context on the same source, with the same profile and, over archives, at the same position in the same mode. A
   * context on a collector opens a connection of its own; others share the source, which the last of them to be closed closes.
   * Derived metrics of one context alone stay with it. @see pmDupContext(3)
   */
  async dup(options?: CallOptions): Promise<Context> {
    this.#link.insistOnNotClosed()
    const { dup, reopen } = this.#options
    // The PDUs counted are those of this context's connection.
    const { counters: _, ...rest } = this.#options
    let other = dup?.()
    other ??= reopen === undefined ? undefined : Context.over(await reopen(options?.signal), rest)
    other ??= new Context(this.#link.shared!, this.#options)
    other.profile = this.profile
    return other
  }

  /**
   * Releases the source, and gives up a `reconnect` under way: later questions fail with PM_ERR_NOCONTEXT. Idempotent.
   * @see pmDestroyContext(3)
   */
  async close(): Promise<void> {
    await this.#link.close()
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
