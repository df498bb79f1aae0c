/** An expression bound to one source: every node with its descriptor. docs/reference/derived-metrics.md */
import type { Pattern } from '../base/pattern.ts'
import type { Pmid } from '../model/ids.ts'
import type { AggregateName, BinaryOp, RankName, UnaryName } from './expr.ts'
import type { BinaryMeta, Meta } from './meta.ts'

/** A node with its descriptor; `slot` is the index of its state kept between fetches. */
export type Bound =
  | { readonly kind: 'metric'; readonly meta: Meta; readonly pmid: Pmid }
  | { readonly kind: 'const'; readonly meta: Meta; readonly text: string }
  | { readonly kind: 'none'; readonly meta: Meta; readonly isNovalue: boolean }
  | { readonly kind: 'negate' | 'not'; readonly meta: Meta; readonly operand: Bound }
  | ({ readonly kind: 'binary'; readonly op: BinaryOp; readonly a: Bound; readonly b: Bound } & BinaryMeta)
  | {
      readonly kind: 'ternary'
      readonly meta: Meta
      readonly guard: Bound
      readonly a: Bound
      readonly b: Bound
    }
  | { readonly kind: 'aggregate'; readonly meta: Meta; readonly name: AggregateName; readonly operand: Bound }
  | {
      readonly kind: 'function'
      readonly meta: Meta
      readonly name: UnaryName
      readonly operand: Bound
      readonly slot: number
      /** For rates, the factor for the change per second. */
      readonly factor: number
    }
  | {
      readonly kind: 'rank'
      readonly meta: Meta
      readonly name: RankName
      readonly by: number
      readonly operand: Bound
    }
  | { readonly kind: 'rescale'; readonly meta: Meta; readonly operand: Bound }
  | { readonly kind: 'instance'; readonly meta: Meta; readonly instance: string; readonly operand: Bound }
  | {
      readonly kind: 'match'
      readonly meta: Meta
      readonly pattern: Pattern
      readonly isNegated: boolean
      readonly operand: Bound
    }

/** A bound expression. */
export interface Binding {
  readonly root: Bound
  /** Metrics to fetch, without duplicates. */
  readonly operands: readonly Pmid[]
  /** Number of slots. */
  readonly slots: number
}
