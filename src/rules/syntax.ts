/** Syntax tree of rules. docs/reference/pmie.md */

/** A position in a rule file, counted from 1. */
export interface SourcePosition {
  readonly line: number
  readonly column: number
}

/** A dimension of values. */
export type Dimension = 'host' | 'inst' | 'sample'

/** Aggregates along a dimension. */
export type AggregateOp = 'min' | 'max' | 'sum' | 'avg' | 'count'

/** Arithmetic operators. */
export type ArithmeticOp = '+' | '-' | '*' | '/'
/** Relational operators. */
export type RelationOp = '==' | '!=' | '<' | '<=' | '>' | '>='

/** Time variables, in the reporting zone. */
export type ClockName = 'minute' | 'hour' | 'day' | 'month' | 'year' | 'day_of_week' | 'delta'

/** A metric's values, from `from` to `to` samples ago. */
export interface FetchExpr {
  readonly kind: 'fetch'
  readonly metric: string
  /** Empty for the default host. */
  readonly hosts: readonly string[]
  /** Empty for all instances. */
  readonly instances: readonly string[]
  readonly from: number
  readonly to: number
}

/** The parser's position at the end of an expression. */
interface Ended {
  /** Line of the next token; absent at the end of the statement. */
  readonly line?: number
}

/** An expression with a numeric or text value. */
export type ArithExpr = Ended & ArithForm

type ArithForm =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'clock'; readonly name: ClockName }
  | FetchExpr
  | { readonly kind: 'negate' | 'rate' | 'instant'; readonly arg: ArithExpr }
  | {
      readonly kind: 'arithmetic'
      readonly op: ArithmeticOp
      readonly left: ArithExpr
      readonly right: ArithExpr
    }
  | {
      readonly kind: 'aggregate'
      readonly op: Exclude<AggregateOp, 'count'>
      readonly dimension: Dimension
      readonly arg: ArithExpr
    }
  | { readonly kind: 'count'; readonly dimension: Dimension; readonly arg: LogicExpr }

/** Quantifier: all, at least one, or at least this percentage. */
export type Quantity = 'all' | 'some' | number

/** An expression that is true, false or unknown. */
export type LogicExpr = Ended & LogicForm

type LogicForm =
  | { readonly kind: 'bool'; readonly value: boolean }
  | {
      readonly kind: 'relation'
      readonly op: RelationOp
      readonly left: ArithExpr
      readonly right: ArithExpr
    }
  | { readonly kind: 'not' | 'rising' | 'falling'; readonly arg: LogicExpr }
  | { readonly kind: 'and' | 'or'; readonly left: LogicExpr; readonly right: LogicExpr }
  | {
      readonly kind: 'quantifier'
      readonly quantity: Quantity
      readonly dimension: Dimension
      readonly arg: LogicExpr
    }
  | {
      readonly kind: 'match'
      readonly isNegated: boolean
      readonly pattern: string
      readonly arg: LogicExpr
    }

/** Kinds of action. */
export type ActionName = 'print' | 'shell' | 'alarm' | 'syslog' | 'stomp' | 'webhook'

/** An action or a combination of actions. */
export type ActionExpr =
  | {
      readonly kind: 'action'
      readonly name: ActionName
      /** Minimum seconds between two executions; 0: no minimum. */
      readonly holdoffSec: number
      readonly args: readonly string[]
    }
  /** Both, or the second only if the first fails. */
  | { readonly kind: 'both' | 'either'; readonly left: ActionExpr; readonly right: ActionExpr }

/** A condition with its actions. */
export interface RuleExpr extends Ended {
  readonly kind: 'rule'
  readonly condition: LogicExpr
  readonly action: ActionExpr
}

/** Rules tried in order until one is true. */
export interface RulesetExpr {
  readonly kind: 'ruleset'
  readonly rules: readonly RuleExpr[]
  readonly unknown: ActionExpr | undefined
  readonly otherwise: ActionExpr | undefined
}

/** Any statement. */
export type Expr = Ended & (ArithExpr | LogicExpr | RuleExpr | RulesetExpr | ActionExpr)

/** A statement with its optional name. */
export interface Statement {
  readonly name: string | undefined
  readonly expr: Expr
  /** Position of its name or expression. */
  readonly place: SourcePosition
}

const LOGIC_KINDS: ReadonlySet<string> = new Set([
  'bool',
  'relation',
  'not',
  'rising',
  'falling',
  'and',
  'or',
  'quantifier',
  'match',
])
const ACTION_KINDS: ReadonlySet<string> = new Set(['action', 'both', 'either'])

/** Returns whether an expression is true, false or unknown. */
export function isLogic(expr: Expr): expr is LogicExpr {
  return LOGIC_KINDS.has(expr.kind)
}

/** Returns whether an expression is an action. */
export function isAction(expr: Expr): expr is ActionExpr {
  return ACTION_KINDS.has(expr.kind)
}

/** Returns whether an expression is arithmetic or a metric's values, which may be strings. */
export function isArith(expr: Expr): expr is Exclude<ArithExpr, { kind: 'string' }> {
  return !isLogic(expr) && !isAction(expr) && !['string', 'rule', 'ruleset'].includes(expr.kind)
}
