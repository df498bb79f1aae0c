/** What rules are made of, as they are written. docs/pmie.md */

/** A place in a rule file, both counted from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** A dimension of values. */
export type Dimension = 'host' | 'inst' | 'sample'

/** What becomes of arithmetic along a dimension. */
export type AggregateOp = 'min' | 'max' | 'sum' | 'avg' | 'count'

/** Operators between two operands. */
export type ArithmeticOp = '+' | '-' | '*' | '/'
/** Comparisons. */
export type RelationOp = '==' | '!=' | '<' | '<=' | '>' | '>='

/** Names of what the clock says, in the reporting zone. */
export type ClockName = 'minute' | 'hour' | 'day' | 'month' | 'year' | 'day_of_week' | 'delta'

/** Values of a metric, back to `to` samples ago. */
export interface FetchExpr {
  readonly kind: 'fetch'
  readonly metric: string
  /** Empty: the default host. */
  readonly hosts: readonly string[]
  /** Empty: all instances. */
  readonly instances: readonly string[]
  readonly from: number
  readonly to: number
}

/** Where reading was when an expression ended. */
interface Ended {
  /** Line of the token behind it; absent at the end of the statement. */
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

/** How many must hold: all, at least one, or at least so many in a hundred. */
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

/** What an action does. */
export type ActionName = 'print' | 'shell' | 'alarm' | 'syslog' | 'stomp' | 'webhook'

/** Actions, alone or one after another. */
export type ActionExpr =
  | {
      readonly kind: 'action'
      readonly name: ActionName
      /** Not again for so many seconds; 0: each time. */
      readonly holdoffSec: number
      readonly args: readonly string[]
    }
  /** All of them, or the second only where the first fails. */
  | { readonly kind: 'both' | 'either'; readonly left: ActionExpr; readonly right: ActionExpr }

/** A condition and what happens when it is true. */
export interface RuleExpr extends Ended {
  readonly kind: 'rule'
  readonly condition: LogicExpr
  readonly action: ActionExpr
}

/** Rules of which the first true one counts. */
export interface RulesetExpr {
  readonly kind: 'ruleset'
  readonly rules: readonly RuleExpr[]
  readonly unknown: ActionExpr | undefined
  readonly otherwise: ActionExpr | undefined
}

/** Whatever a statement can be. */
export type Expr = Ended & (ArithExpr | LogicExpr | RuleExpr | RulesetExpr | ActionExpr)

/** A statement, with its name if it has one. */
export interface Statement {
  readonly name: string | undefined
  readonly expr: Expr
  /** Where its name or its expression begins. */
  readonly place: Place
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

/** Is it true, false or unknown? */
export function isLogic(expr: Expr): expr is LogicExpr {
  return LOGIC_KINDS.has(expr.kind)
}

/** Is it an action? */
export function isAction(expr: Expr): expr is ActionExpr {
  return ACTION_KINDS.has(expr.kind)
}

/** Is it arithmetic, or the values of a metric, which may be text? */
export function isArith(expr: Expr): expr is Exclude<ArithExpr, { kind: 'string' }> {
  return !isLogic(expr) && !isAction(expr) && !['string', 'rule', 'ruleset'].includes(expr.kind)
}
