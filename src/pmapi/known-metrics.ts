/**
 * Statically typed metrics: `pmgenmap --typescript` writes their descriptors, and a misspelt name or a wrong type becomes
 * a compile error. docs/how-to/typed-metrics.md
 */
import type { Timestamp } from '../base/timestamp.ts'
import { isError, PcpError } from '../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { typeStr } from '../model/types.ts'
import type { Value } from '../model/values.ts'
import type { CallOptions, Context } from './context.ts'
import {
  type EventsOptions,
  FetchGroup,
  type FetchGroupOptions,
  type IndomOptions,
  type ItemOptions,
} from './fetch-group.ts'
import type { FetchEvents, FetchIndom, FetchInstance, FetchItem } from './fetch-item.ts'
import type { MetricValues, Row } from './row.ts'
import type { SampleOptions, ValuesOptions } from './sample.ts'
import type { Cell, Column, TableOptions } from './table.ts'

/** Type of a metric's values: its PM_TYPE_* constant in lower case. */
export type KnownType =
  | '32'
  | 'u32'
  | '64'
  | 'u64'
  | 'float'
  | 'double'
  | 'string'
  | 'aggregate'
  | 'aggregate_static'
  | 'event'
  | 'highres_event'

/** Descriptor of a metric at compile time. */
export interface KnownMetric {
  readonly pmid: Pmid
  readonly type: KnownType
  readonly sem: 'counter' | 'instant' | 'discrete'
  readonly hasInstances: boolean
  /** Formatted as by `unitsStr`; '' for none. */
  readonly units: string
}

/** Descriptors by name, written by `pmgenmap --typescript`. */
export type KnownMetrics = Readonly<Record<string, KnownMetric>>

/** JavaScript type of a metric type's values. 64-bit integers beyond 2^53 are bigints. */
export type KnownValue<T extends KnownType> = T extends '32' | 'u32' | 'float' | 'double'
  ? number
  : T extends '64' | 'u64'
    ? number | bigint
    : T extends 'string'
      ? string
      : Uint8Array

/** Type of a metric's values in a row; with `AsRate` counters are changes per second. */
export type ValueIn<K extends KnownMetric, AsRate extends boolean = false> = K['sem'] extends 'counter'
  ? AsRate extends true
    ? number
    : KnownValue<K['type']>
  : KnownValue<K['type']>

/** Arguments after a metric's name: the instance, if the metric has instances. */
export type InstanceArguments<K extends KnownMetric> = K['hasInstances'] extends true
  ? [instance: string]
  : []

/** One metric in a row. */
export interface KnownValues<K extends KnownMetric, AsRate extends boolean = false> extends MetricValues {
  readonly value: (K['hasInstances'] extends true ? never : ValueIn<K, AsRate>) | undefined
  readonly instances: ReadonlyMap<string, ValueIn<K, AsRate>>
}

/** A `Row` with typed names and values. */
export interface KnownRow<M extends KnownMetrics, N extends keyof M, AsRate extends boolean = false>
  extends Pick<Row, 'toJSON' | 'away'> {
  readonly time: Timestamp
  /** Returns one metric. */
  get<K extends N>(name: K): KnownValues<M[K], AsRate>
  /** Returns one value, or undefined without a current value. A metric with instances needs an instance name. */
  value<K extends N>(name: K, ...instance: InstanceArguments<M[K]>): ValueIn<M[K], AsRate> | undefined
  /** Iterates over all metrics, in the order given. */
  [Symbol.iterator](): IterableIterator<MetricValues>
  /** Returns the values as plain objects, without metrics that have no current value. */
  toObject(): {
    [K in N]?: M[K]['hasInstances'] extends true
      ? { readonly [instance: string]: ValueIn<M[K], AsRate> }
      : ValueIn<M[K], AsRate>
  }
}

/** Names of metrics whose values are numbers or text, which can be converted. */
export type ScalarName<M extends KnownMetrics> = {
  [N in keyof M & string]: M[N]['type'] extends 'aggregate' | 'aggregate_static' | 'event' | 'highres_event'
    ? never
    : N
}[keyof M & string]

/** Selection of instances: required for metrics with instances, not allowed for others. */
type WhichInstances<K extends KnownMetric> = K['hasInstances'] extends true
  ?
      | { readonly instance: string; readonly instances?: never }
      | { readonly instances: 'all' | readonly string[]; readonly instance?: never }
  : { readonly instance?: never; readonly instances?: never }

/** Kind of values; required for text metrics. */
type WhichKind<K extends KnownMetric> = K['type'] extends 'string'
  ? { readonly as: 'number' | 'text' | 'exact' }
  : Pick<Column, 'as'>

/** A column that shows one of these metrics. */
export type KnownColumn<M extends KnownMetrics> = {
  [N in ScalarName<M>]: { readonly metric: N } & Pick<Column, 'scale'> &
    WhichInstances<M[N]> &
    WhichKind<M[N]>
}[ScalarName<M>]

/** A column as text: a numeric metric without instances, or one instance, `'NAME[INSTANCE]'`. */
export type KnownColumnText<M extends KnownMetrics> = {
  [N in ScalarName<M>]: M[N]['type'] extends 'string'
    ? never
    : M[N]['hasInstances'] extends true
      ? `${N}[${string}]`
      : N
}[ScalarName<M>]

/** Columns by name. */
export type KnownColumns<M extends KnownMetrics> = Readonly<
  Record<string, KnownColumnText<M> | KnownColumn<M>>
>

/** Type of converted values: counters become rates unless `scale` is `'instant'`. */
export type Converted<K extends KnownMetric, O> = O extends { readonly type: number }
  ? Value
  : O extends { readonly scale: 'instant' }
    ? KnownValue<K['type']>
    : O extends { readonly scale: string }
      ? number
      : K['sem'] extends 'counter'
        ? number
        : KnownValue<K['type']>

/** Type of a column's cells; undefined without a current value. */
export type KnownCell<M extends KnownMetrics, C> = C extends {
  readonly metric: infer N extends keyof M
  readonly as: 'exact'
}
  ? C extends { readonly instances: 'all' | readonly string[] }
    ? ReadonlyMap<string, Converted<M[N], C>>
    : Converted<M[N], C> | undefined
  : Cell<C>

/** A `TableRow` with typed exact values. */
export interface KnownTableRow<M extends KnownMetrics, C extends KnownColumns<M>> {
  readonly time: Timestamp
  readonly values: { readonly [K in keyof C]: KnownCell<M, C[K]> }
  /** Why a column has no value. */
  readonly errors: { readonly [K in keyof C]?: PcpError }
  /** Error that the source was lost with, if this row marks its absence; otherwise undefined. */
  readonly away: PcpError | undefined
}

/** Names of metrics with event records. */
export type EventName<M extends KnownMetrics> = {
  [N in keyof M & string]: M[N]['type'] extends 'event' | 'highres_event' ? N : never
}[keyof M & string]

/** The names in `N` whose metrics have instances, or have none. */
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

/** A fetch group limited to known metrics. @see FetchGroup */
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

/** A context limited to known metrics. */
export interface KnownContext<M extends KnownMetrics> {
  /** The context, for all other calls. */
  readonly context: Context
  /** Returns the current values. @see Context.values */
  values<N extends keyof M & string>(names: readonly N[], options?: ValuesOptions): Promise<KnownRow<M, N>>
  /** Yields rows of values at an interval; with `rates: true` counters become changes per second. @see Context.sample */
  sample<N extends keyof M & string, const O extends SampleOptions = SampleOptions>(
    names: readonly N[],
    options?: O,
  ): AsyncGenerator<KnownRow<M, N, O extends { readonly rates: true } ? true : false>>
  /** Yields rows of columns, each with its metric, instances and units. @see Context.table */
  table<const C extends KnownColumns<M>>(
    columns: C,
    options?: TableOptions,
  ): AsyncGenerator<KnownTableRow<M, C>>
  /** Creates a fetch group, which takes ownership of the context: closing it closes the context. @see FetchGroup */
  group(options?: FetchGroupOptions): KnownGroup<M>
  /** Closes the context. @see Context.close */
  close(): Promise<void>
  /** For `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Returns a context with typed calls for `metrics`. Checks that the source's metrics match the generated list:
 * PM_ERR_NAME or PM_ERR_NONLEAF for a missing metric, PM_ERR_TYPE for one whose type differs.
 *
 * @example
 * const pcp = await known(await connect(), pmclient_init)
 * const row = await pcp.values([NUMCPU, LOADAV])
 * const load: number | undefined = row.value(LOADAV, '1 minute')
 * await pcp.close()
 */
export async function known<M extends KnownMetrics>(
  context: Context,
  metrics: M,
  options?: CallOptions,
): Promise<KnownContext<M>> {
  const names = Object.keys(metrics)
  const ids = await context.lookupNames(names, options)
  const found = ids.map((id, i) => {
    if (isError(id)) throw new PcpError(id.code, `${id.text}: "${names[i]}"`, { cause: id })
    return id
  })
  const descs = await context.descs(found, options)
  for (const [i, desc] of descs.entries()) {
    const name = names[i]!
    if (isError(desc))
      throw new PcpError(desc.code, `No descriptor of "${name}": ${desc.text}`, { cause: desc })
    const { type, hasInstances } = metrics[name]!
    const now = { type: knownType(desc.type), hasInstances: desc.indom !== PM_INDOM_NULL }
    if (now.type !== type || now.hasInstances !== hasInstances)
      throw new PcpError(
        'PM_ERR_TYPE',
        `"${name}" is ${shape(now)} here, and ${shape({ type, hasInstances })} in the program: run pmgenmap again`,
      )
  }
  return {
    context,
    values: (asked, how) => context.values(asked, how) as Promise<unknown> as Promise<never>,
    sample: (asked, how) => context.sample(asked, how) as AsyncGenerator<unknown> as AsyncGenerator<never>,
    table: (columns, how) => context.table(columns, how) as AsyncGenerator<unknown> as AsyncGenerator<never>,
    group: (how) => FetchGroup.over(context, how) as unknown as KnownGroup<M>,
    close: () => context.close(),
    [Symbol.asyncDispose]: () => context.close(),
  }
}

function shape({ type, hasInstances }: { type: string | undefined; hasInstances: boolean }): string {
  return `${type ?? 'of an unknown type'} ${hasInstances ? 'with' : 'without'} instances`
}

const KNOWN_TYPES: ReadonlySet<string> = new Set<KnownType>([
  '32',
  'u32',
  '64',
  'u64',
  'float',
  'double',
  'string',
  'aggregate',
  'aggregate_static',
  'event',
  'highres_event',
])

/** Returns the name of a PM_TYPE_* constant; undefined for types that values cannot have. */
export function knownType(type: number): KnownType | undefined {
  const name = typeStr(type).toLowerCase()
  return KNOWN_TYPES.has(name) ? (name as KnownType) : undefined
}
