/** Adds derived metrics to a source: names, descriptors, texts and values. docs/reference/derived-metrics.md */
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
import { Mutex } from './mutex.ts'
import { mergedChildren, mergedTraverse } from './names.ts'

/** Options of a layer of derived metrics. */
export interface DerivedOptions {
  /** Metrics of this layer only; the caller keeps them to reopen the source. */
  readonly own?: DerivedDefinitions
  /** Controls of both scopes; default: no limits. */
  readonly controls?: DerivedControls
  /** Returns whether two different instance domains are equivalent. Default: never. */
  readonly sameIndom?: SameIndom
  /** Called with a line for each global metric that cannot be bound to this source. */
  readonly report?: (text: string) => void
  /** Adds `event.flags` and `event.missed`, the names of fields of event records. Default false. */
  readonly hasEvents?: boolean
}

/** Operands of a derived metric. */
export interface DerivedOperands {
  /** Metrics that are not derived, without duplicates. */
  readonly ids: readonly Pmid[]
  /** Whether values depend on the previous fetch, as those of `rate` and `delta` do. */
  readonly isSequential: boolean
}

/** A source with derived metrics. */
export interface DerivedSource extends MetricSource {
  /** The definitions of this layer only. */
  readonly own: DerivedDefinitions
  /**
   * Defines a metric of this layer and binds it immediately. PM_ERR_BADDERIVE with a message of several lines that points at
   * the error; its cause, if any, is the line for a global metric. @see pmAddDerivedMetric(3)
   */
  define(name: string, text: string, ask: Ask): Promise<Pmid>
  /** Returns the operands of a derived metric; undefined for other metrics, and before it is bound. */
  operandsOf(id: Pmid): DerivedOperands | undefined
  /** Forgets the previous values of `delta` and `rate`, of one requester or of all. */
  forget(requester?: Requester): void
  /** Returns whether a fetch of derived metrics by this requester is in progress; further ones are queued. */
  isFetching(requester: Requester): boolean
  /** Unsubscribes from the source, which may stay open for others. */
  release(): void
}

/**
 * Adds the metrics of `globals`, as defined now, to a source; if it is a function, it is called on first use.
 * Real metrics take precedence over derived ones of the same name.
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
  /** The source below, without event metrics, whose PMIDs are those of derived metrics. */
  readonly #below: MetricSource
  readonly #metrics: BoundMetrics
  readonly #histories = new Histories()
  readonly #turns = new Mutex()

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
    // As in the reference the name stays; its descriptor is the error.
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
    // A traversal skips a metric that cannot be bound, but naming it reports the error.
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

  /** Returns the definition of a derived metric by PMID. */
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
    return this.#turns.isLocked(requester)
  }

  override fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    // A fetch of derived metrics makes several requests; a concurrent fetch would change their history, or the position in an archive.
    const { requester, signal } = ask
    if (ids.some(isDerivedPmid)) return this.#turns.run(requester, signal, () => this.#fetchDerived(ids, ask))
    if (this.isFetching(requester))
      return this.#turns.run(requester, signal, () => this.#below.fetch(ids, ask))
    // Most fetches have no derived metrics: they return the source's promise without another one around it.
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
