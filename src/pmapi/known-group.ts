/** Fetch groups of known metrics: what `group` of a `known` context gives. docs/guide/typed-metrics.md */
import type { EventsOptions, FetchGroup, IndomOptions, ItemOptions } from './fetch-group.ts'
import type { FetchEvents, FetchIndom, FetchInstance, FetchItem } from './fetch-item.ts'
import type { Converted, ScalarName } from './known-columns.ts'
import type { KnownMetric, KnownMetrics } from './known-metrics.ts'

/** Names of metrics with event records. */
export type EventName<M extends KnownMetrics> = {
  [N in keyof M & string]: M[N]['type'] extends 'event' | 'highres_event' ? N : never
}[keyof M & string]

/** Those of `N` that have instances, or those that have none. */
export type NameBy<M extends KnownMetrics, N extends keyof M, HasInstances extends boolean> = {
  [K in N]: M[K]['hasInstances'] extends HasInstances ? K : never
}[N]

/** One value, as of the last fetch. */
export interface KnownItem<K extends KnownMetric, O> extends FetchItem {
  readonly value: Converted<K, O> | undefined
}

/** One instance's value. */
export interface KnownInstance<K extends KnownMetric, O> extends FetchInstance {
  readonly value: Converted<K, O> | undefined
}

/** The values of all instances, as of the last fetch. */
export interface KnownIndom<K extends KnownMetric, O> extends FetchIndom {
  readonly instances: readonly KnownInstance<K, O>[]
}

/** A fetch group of known metrics, and of no others. @see FetchGroup */
export interface KnownGroup<M extends KnownMetrics>
  extends Pick<
    FetchGroup,
    'context' | 'timestamp' | 'fetch' | 'clear' | 'close' | typeof Symbol.asyncDispose
  > {
  /** Adds one instance's value. @see FetchGroup.item */
  item<N extends NameBy<M, ScalarName<M>, true>, const O extends ItemOptions & { readonly instance: string }>(
    metric: N,
    options: O,
  ): Promise<KnownItem<M[N], O>>
  /** Adds the value of a metric without instances. @see FetchGroup.item */
  item<
    N extends NameBy<M, ScalarName<M>, false>,
    const O extends ItemOptions & { readonly instance?: never } = Record<never, never>,
  >(metric: N, options?: O): Promise<KnownItem<M[N], O>>
  /** Adds all instances. @see FetchGroup.indom */
  indom<N extends ScalarName<M>, const O extends IndomOptions = Record<never, never>>(
    metric: N,
    options?: O,
  ): Promise<KnownIndom<M[N], O>>
  /** Adds a field of event records. @see FetchGroup.events */
  events(
    metric: EventName<M>,
    options: EventsOptions & { readonly field: ScalarName<M> },
  ): Promise<FetchEvents>
}
