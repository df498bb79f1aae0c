/** The tree of a derived metric's expression. docs/derived.md, pmRegisterDerived(3) */
import type { Pattern } from '../base/pattern.ts'

/** Operators with two sides. */
export type BinaryOp = '+' | '-' | '*' | '/' | '<' | '<=' | '==' | '>=' | '>' | '!=' | '&&' | '||'

/** Functions that make one value of a metric's instances; `count` answers even when there are none. */
export type AggregateName = 'avg' | 'count' | 'max' | 'min' | 'sum'

/** Functions of one expression. */
export type UnaryName = 'delta' | 'rate' | 'instant' | 'scalar'

/** Functions of a number and an expression, over instances; the reference has none of them. */
export type RankName = 'topk' | 'bottomk' | 'quantile'

/** What `mkconst` and `novalue` say of themselves; what is absent comes from `meta` or is a default. */
export interface StatedMeta {
  /** PM_TYPE_*. */
  readonly type?: number
  /** PM_SEM_*. */
  readonly sem?: number
  /** Units word. */
  readonly units?: number
  readonly indom?: number
  /** A metric whose descriptor gives what is not said. */
  readonly meta?: string
}

/** A number in an expression, as written: integers are exact, reals doubles. */
export interface NumberExpr {
  readonly kind: 'number'
  readonly text: string
  readonly isReal: boolean
}

/** A node of the tree. */
export type Expr =
  | NumberExpr
  | { readonly kind: 'metric'; readonly name: string }
  | { readonly kind: 'const'; readonly value: NumberExpr; readonly stated: StatedMeta }
  | { readonly kind: 'novalue'; readonly stated: StatedMeta }
  | { readonly kind: 'anon'; readonly type: number }
  | { readonly kind: 'defined'; readonly name: string }
  | { readonly kind: 'negate' | 'not'; readonly operand: Expr }
  | { readonly kind: 'binary'; readonly op: BinaryOp; readonly left: Expr; readonly right: Expr }
  | { readonly kind: 'ternary'; readonly guard: Expr; readonly left: Expr; readonly right: Expr }
  | { readonly kind: 'aggregate'; readonly name: AggregateName; readonly operand: Expr }
  | { readonly kind: 'function'; readonly name: UnaryName; readonly operand: Expr }
  | { readonly kind: 'rank'; readonly name: RankName; readonly by: number; readonly operand: Expr }
  | { readonly kind: 'rescale'; readonly units: number; readonly operand: Expr }
  | { readonly kind: 'instance'; readonly instance: string; readonly operand: Expr }
  | { readonly kind: 'match'; readonly pattern: Pattern; readonly isNegated: boolean; readonly operand: Expr }

/** Where a text stops being an expression, and why. */
export interface SyntaxFault {
  /** Index of the character at fault; the last one where more was expected, -1 in an empty text. */
  readonly offset: number
  /** Undefined where the reference has nothing to say either. */
  readonly why: string | undefined
  readonly reason?: 'duplicate-name'
}
