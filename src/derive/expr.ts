/** Syntax tree of a derived metric's expression. docs/reference/derived-metrics.md, pmRegisterDerived(3) */
import type { Pattern } from '../base/pattern.ts'

/** Binary operators. */
export type BinaryOp = '+' | '-' | '*' | '/' | '<' | '<=' | '==' | '>=' | '>' | '!=' | '&&' | '||'

/** Functions that aggregate the instances of a metric; `count` has a value even without any. */
export type AggregateName = 'avg' | 'count' | 'max' | 'min' | 'sum'

/** Functions of one expression. */
export type UnaryName = 'delta' | 'rate' | 'instant' | 'scalar'

/** Functions of a number and an expression, over instances; not in the reference. */
export type RankName = 'topk' | 'bottomk' | 'quantile'

/** Properties given in `mkconst` and `novalue`; missing ones come from `meta` or are defaults. */
export interface ExplicitMeta {
  /** PM_TYPE_*. */
  readonly type?: number
  /** PM_SEM_*. */
  readonly sem?: number
  /** Units word. */
  readonly units?: number
  readonly indom?: number
  /** A metric whose descriptor provides missing properties. */
  readonly meta?: string
}

/** A number in an expression: integers are exact, others doubles. */
export interface NumberExpr {
  readonly kind: 'number'
  readonly text: string
  readonly isReal: boolean
}

/** A node of the tree. */
export type Expr =
  | NumberExpr
  | { readonly kind: 'metric'; readonly name: string }
  | { readonly kind: 'const'; readonly value: NumberExpr; readonly stated: ExplicitMeta }
  | { readonly kind: 'novalue'; readonly stated: ExplicitMeta }
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

/** Position and reason of a syntax error. */
export interface SyntaxFault {
  /** Index of the offending character; the last one if the text is incomplete, -1 if it is empty. */
  readonly offset: number
  /** Undefined where the reference gives no reason either. */
  readonly why: string | undefined
  readonly reason?: 'duplicate-name'
}
