/** Columns of known metrics: what `table` of a `known` context takes and gives. docs/guide/typed-metrics.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { PcpError } from '../model/errors.ts'
import type { Value } from '../model/values.ts'
import type { KnownMetric, KnownMetrics, KnownValue } from './known-metrics.ts'
import type { Cell, Column } from './table.ts'

/** Names of metrics whose values are numbers or text; others cannot be converted. */
export type ScalarName<M extends KnownMetrics> = {
  [N in keyof M & string]: M[N]['type'] extends 'aggregate' | 'aggregate_static' | 'event' | 'highres_event'
    ? never
    : N
}[keyof M & string]

/** Which instances: one or many of a metric that has some, none of others. */
type WhichInstances<K extends KnownMetric> = K['hasInstances'] extends true
  ?
      | { readonly instance: string; readonly instances?: never }
      | { readonly instances: 'all' | readonly string[]; readonly instance?: never }
  : { readonly instance?: never; readonly instances?: never }

/** What values are: of text it must be said. */
type WhichKind<K extends KnownMetric> = K['type'] extends 'string'
  ? { readonly as: 'number' | 'text' | 'exact' }
  : Pick<Column, 'as'>

/** A column that shows one of these metrics. */
export type KnownColumn<M extends KnownMetrics> = {
  [N in ScalarName<M>]: { readonly metric: N } & Pick<Column, 'scale'> &
    WhichInstances<M[N]> &
    WhichKind<M[N]>
}[ScalarName<M>]

/** A column as a text: a metric without instances, or one instance, `'NAME[INSTANCE]'`; of numbers. */
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

/** What a metric's values become: counters are rates unless they are asked for as they are. */
export type Converted<K extends KnownMetric, O> = O extends { readonly type: number }
  ? Value
  : O extends { readonly scale: 'instant' }
    ? KnownValue<K['type']>
    : O extends { readonly scale: string }
      ? number
      : K['sem'] extends 'counter'
        ? number
        : KnownValue<K['type']>

/** What a column's cells are; undefined where there is no value now. */
export type KnownCell<M extends KnownMetrics, C> = C extends {
  readonly metric: infer N extends keyof M
  readonly as: 'exact'
}
  ? C extends { readonly instances: 'all' | readonly string[] }
    ? ReadonlyMap<string, Converted<M[N], C>>
    : Converted<M[N], C> | undefined
  : Cell<C>

/** One row: a `TableRow` whose exact values have types. */
export interface KnownTableRow<M extends KnownMetrics, C extends KnownColumns<M>> {
  readonly time: Timestamp
  readonly values: { readonly [K in keyof C]: KnownCell<M, C[K]> }
  /** Why a column has no value. */
  readonly errors: { readonly [K in keyof C]?: PcpError }
  /** Error that the source was lost with, if this row marks its absence; otherwise undefined. */
  readonly away: PcpError | undefined
}
