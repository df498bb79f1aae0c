/** Derived metrics over any source: their names, descriptors, texts and values beside the source's own. docs/derived.md */
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { LABEL_CLUSTER, LABEL_DOMAIN, LABEL_ITEM, type LabelSet } from '../model/labels.ts'
import { SourceLayer } from '../model/layer.ts'
import type { Ask, Child, LabelQuery, MetricSource, Requester, TextQuery } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'
import { BoundMetrics } from './bound-metrics.ts'
import {
  type DerivedControls,
  type DerivedDefinition,
  DerivedDefinitions,
  faultText,
  isDefinition,
  isDerivedPmid,
} from './definitions.ts'
import { withEventMetrics } from './event-metrics.ts'
import { fetchDerived, Histories } from './fetch.ts'
import type { SameIndom } from './meta.ts'
import { mergedChildren, mergedTraverse } from './names.ts'
import { Turns } from './turns.ts'

/** What a layer of derived metrics may be given. */
export interface DerivedOptions {
  /** Metrics of this layer alone; kept by whoever opens the source again. */
  readonly own?: DerivedDefinitions
  /** Controls of both scopes; default: no limits. */
  readonly controls?: DerivedControls
  /** Are these two instance domains, which differ, to be taken for the same? Default: no. */
  readonly sameIndom?: SameIndom
  /** Gets a line for each global metric that has no meaning over this source. */
  readonly report?: (text: string) => void
  /** Has `event.flags` and `event.missed` as well, which name the fields of event records in every context. Default false. */
  readonly hasEvents?: boolean
}

/** What a derived metric is computed from. */
export interface DerivedOperands {
  /** Metrics that are not derived, each once. */
  readonly ids: readonly Pmid[]
  /** Does it compare with the fetch before, as `rate` and `delta` do? */
  readonly isSequential: boolean
}

/** A source with derived metrics. */
export interface DerivedSource extends MetricSource {
  /** The definitions of this layer alone. */
  readonly own: DerivedDefinitions
  /**
   * Defines a metric of this layer and binds it at once. PM_ERR_BADDERIVE with a message of several lines that points at
   * what is wrong; its cause, if any, is the line for a metric of every context. @see pmAddDerivedMetric(3)
   */
  define(name: string, text: string, ask: Ask): Promise<Pmid>
  /** Returns what a derived metric is computed from; undefined for any other, and before it is bound. */
  operandsOf(id: Pmid): DerivedOperands | undefined
  /** Forgets what `delta` and `rate` compare with: of one requester, or of all. */
  forget(requester?: Requester): void
  /** Is a fetch of derived metrics of this requester on its way? Those asked for meanwhile come after it. */
  isFetching(requester: Requester): boolean
  /** Hears the source no more: it may stay open for others. */
  release(): void
}

/**
 * Adds the metrics of `globals`, as they are defined now, to what a source knows; a function is asked for them when they are
 * first needed. Real metrics win over derived ones of the same name.
 */
export function withDerived(
  source: MetricSource,
  globals: DerivedDefinitions | (() => readonly DerivedDefinition[]),
  options: DerivedOptions = {},
): DerivedSource {
  const early = globals instanceof DerivedDefinitions ? globals.list() : undefined
  const list = early === undefined ? (globals as () => readonly DerivedDefinition[]) : () => early
  return new DerivedLayer(source, list, options)
}

class DerivedLayer extends SourceLayer implements DerivedSource {
  readonly own: DerivedDefinitions
  /** The source without event metrics, which are among the derived ones by their identifiers. */
  readonly #below: MetricSource
  readonly #metrics: BoundMetrics
  readonly #histories = new Histories()
  readonly #turns = new Turns()

  constructor(source: MetricSource, globals: () => readonly DerivedDefinition[], options: DerivedOptions) {
    super(options.hasEvents === true ? withEventMetrics(source) : source)
    this.#below = source
    this.own = options.own ?? new DerivedDefinitions('context', options.controls)
    this.#metrics = new BoundMetrics(this.source, globals, this.own, options)
  }

  async define(name: string, text: string, ask: Ask): Promise<Pmid> {
    const outcome = this.own.add(name, text)
    const headline = (kind: string): string => `${kind} Error: pmAddDerivedMetric("${name}", ...)`
    if (!isDefinition(outcome))
      throw new PcpError('PM_ERR_BADDERIVE', faultText(headline('Syntax'), text, outcome), {
        reason: outcome.reason,
      })
    const fault = await this.#metrics.bindOwn(outcome, ask)
    if (fault === undefined) return outcome.pmid
    // As with the reference the name stays: its descriptor says what it is.
    const { message: why, cause, reason = 'unbound' } = fault
    throw new PcpError('PM_ERR_BADDERIVE', faultText(headline('Semantic'), text, { offset: 0, why }), {
      cause,
      reason,
    })
  }

  operandsOf(id: Pmid): DerivedOperands | undefined {
    const bound = this.#definition(id) === undefined ? undefined : this.#metrics.bound(id)
    if (bound === undefined || isError(bound)) return undefined
    const { operands, slots } = bound.binding
    return { ids: operands, isSequential: slots > 0 }
  }

  forget(requester?: Requester): void {
    this.#histories.forget(requester)
  }

  override async children(name: string, ask: Ask): Promise<readonly Child[]> {
    const names = await this.#metrics.visibleNames(name, ask)
    return mergedChildren(name, names, () => this.source.children(name, ask))
  }

  override async traverse(name: string, ask: Ask): Promise<readonly string[]> {
    const names = await this.#metrics.visibleNames(name, ask)
    // A metric without meaning is not come across, but who names it hears what is wrong with it.
    const isNamed = typeof this.#metrics.lookup(name) === 'number' && !names.includes(name)
    return mergedTraverse(name, isNamed ? [...names, name] : names, () => this.source.traverse(name, ask))
  }

  override async lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    const outcomes = await this.source.lookupNames(names, ask)
    if (!outcomes.some(isError)) return outcomes
    return outcomes.map((outcome, i) =>
      isError(outcome) ? (this.#metrics.lookup(names[i]!) ?? outcome) : outcome,
    )
  }

  override async lookupId(id: Pmid, ask: Ask): Promise<readonly string[]> {
    const definition = this.#definition(id)
    return definition === undefined ? this.source.lookupId(id, ask) : [definition.name]
  }

  /** The definition with this identifier, when it is one of a derived metric. */
  #definition(id: Pmid): DerivedDefinition | undefined {
    return isDerivedPmid(id) ? this.#metrics.definition(id) : undefined
  }

  override async descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]> {
    const derived = ids.filter((id) => this.#definition(id) !== undefined)
    if (derived.length === 0) return this.source.descs(ids, ask)
    const real = ids.filter((id) => this.#definition(id) === undefined)
    const found = real.length === 0 ? [] : await this.source.descs(real, ask)
    await this.#metrics.bindAll(derived, ask)
    let next = 0
    return ids.map((id) => (this.#definition(id) === undefined ? found[next++]! : this.#metrics.desc(id)))
  }

  override async text(query: TextQuery, ask: Ask): Promise<string> {
    const definition = query.kind === 'metric' ? this.#definition(query.id) : undefined
    if (definition === undefined) return this.source.text(query, ask)
    const { oneline, help } = definition
    const text = query.level === 'oneline' ? oneline : (help ?? oneline)
    if (text === undefined) throw new PcpError('PM_ERR_TEXT')
    return text
  }

  override async labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]> {
    const { level, id } = query
    const isOwn = (level === LABEL_CLUSTER || level === LABEL_ITEM) && isDerivedPmid(id)
    return isOwn || (level === LABEL_DOMAIN && id === DERIVED_DOMAIN) ? [] : this.source.labels(query, ask)
  }

  isFetching(requester: Requester): boolean {
    return this.#turns.isTaken(requester)
  }

  override fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    // A derived metric takes several questions, between which another fetch would change what it remembers, or move on in an archive.
    const { requester, signal } = ask
    if (ids.some(isDerivedPmid))
      return this.#turns.take(requester, signal, () => this.#fetchDerived(ids, ask))
    if (this.isFetching(requester))
      return this.#turns.take(requester, signal, () => this.#below.fetch(ids, ask))
    // Most fetches have nothing derived: they get the source's own promise rather than one more around it.
    return this.#below.fetch(ids, ask)
  }

  async #fetchDerived(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    const derived = ids.filter((id) => this.#definition(id) !== undefined)
    if (derived.length === 0) return this.source.fetch(ids, ask)
    await this.#metrics.bindAll(derived, ask)
    return fetchDerived(this.source, this.#metrics, this.#histories.of(ask.requester), ids, ask)
  }

  override endClient(client: number): void {
    this.#histories.endClient(client)
    super.endClient(client)
  }

  release(): void {
    this.#metrics.release()
  }

  override async close(): Promise<void> {
    this.release()
    this.#histories.forget()
    await super.close()
  }
}

const DERIVED_DOMAIN = 511
