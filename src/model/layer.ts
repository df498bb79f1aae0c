/** Layers over a source, which pass on every method that they do not override. docs/architecture.md */
import type { MetricDesc } from './desc.ts'
import type { Outcome, PcpError } from './errors.ts'
import type { Indom, Pmid } from './ids.ts'
import type { LabelSet } from './labels.ts'
import type {
  Ask,
  Child,
  InstanceQuery,
  Instances,
  LabelQuery,
  MetricSource,
  SourceEvent,
  TextQuery,
} from './source.ts'
import type { FetchResult, ValueSet } from './values.ts'

/** Passes all requests to the source below; subclasses override methods. */
export class SourceLayer implements MetricSource {
  protected readonly source: MetricSource

  constructor(source: MetricSource) {
    this.source = source
  }

  children(name: string, ask: Ask): Promise<readonly Child[]> {
    return this.source.children(name, ask)
  }

  traverse(name: string, ask: Ask): Promise<readonly string[]> {
    return this.source.traverse(name, ask)
  }

  lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    return this.source.lookupNames(names, ask)
  }

  lookupId(id: Pmid, ask: Ask): Promise<readonly string[]> {
    return this.source.lookupId(id, ask)
  }

  descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]> {
    return this.source.descs(ids, ask)
  }

  instances(indom: Indom, query: InstanceQuery, ask: Ask): Promise<Instances> {
    return this.source.instances(indom, query, ask)
  }

  text(query: TextQuery, ask: Ask): Promise<string> {
    return this.source.text(query, ask)
  }

  labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]> {
    return this.source.labels(query, ask)
  }

  fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    return this.source.fetch(ids, ask)
  }

  store(sets: readonly ValueSet[], ask: Ask): Promise<void> {
    return this.source.store(sets, ask)
  }

  endClient(client: number): void {
    this.source.endClient?.(client)
  }

  subscribe(listener: (event: SourceEvent) => void): () => void {
    return this.source.subscribe(listener)
  }

  close(): Promise<void> {
    return this.source.close()
  }
}

/** Returns a source with the methods of `overrides`, and otherwise those of `source`. */
export function overrideSource(source: MetricSource, overrides: Partial<MetricSource>): MetricSource {
  return Object.assign(new SourceLayer(source), overrides)
}

/** Returns a source that rejects every request with an error, as the base of layers that answer all requests themselves. */
export function rejectingSource(error: PcpError): MetricSource {
  const refuse = (): Promise<never> => Promise.reject(error)
  return {
    children: refuse,
    traverse: refuse,
    lookupNames: refuse,
    lookupId: refuse,
    descs: refuse,
    instances: refuse,
    text: refuse,
    labels: refuse,
    fetch: refuse,
    store: refuse,
    subscribe: () => () => {},
    close: () => Promise.resolve(),
  }
}
