/** Builds evaluation nodes from the syntax tree; checks types and dimensions. docs/reference/pmie.md */
import { compilePattern, type Pattern } from '../base/pattern.ts'
import { localTime, type Zone } from '../time/zone.ts'
import { fetchNode } from './fetch-node.ts'
import type { MetricFeed } from './host.ts'
import { constantNode, type Domains, makeNode, type Node, ONE_CELL, SINGULAR, shift } from './node.ts'
import {
  arithmeticNode,
  edgeNode,
  logicNode,
  matchNode,
  negateNode,
  notNode,
  rateNode,
  relationNode,
  textRelationNode,
} from './operators.ts'
import { aggregateNode, countNode, quantifierNode } from './over.ts'
import type { ArithExpr, ClockName, Dimension, FetchExpr, LogicExpr } from './syntax.ts'

/** A type or dimension error in an expression. */
export class SemanticError extends Error {
  /** Line of the parser at the end of the operator's last operand; undefined at the end of the statement. */
  line: number | undefined

  constructor(
    message: string,
    { line, ...options }: ErrorOptions & { readonly line?: number | undefined } = {},
  ) {
    super(message, options)
    this.line = line
  }
}

/** Time of the current evaluation. */
export interface EvaluationClock {
  /** Seconds since the epoch, with a fraction. */
  sec: number
}

/** Context for building nodes. */
export interface BuildContext {
  /** Returns the feeds of a metric: one per host, in order. */
  readonly feedsOf: (expr: FetchExpr) => readonly MetricFeed[]
  readonly clock: EvaluationClock
  readonly zone: Zone
  /** A counter that decreased has wrapped once. */
  readonly wraps: boolean
  /** Seconds between evaluations. */
  readonly deltaSec: number
}

/** Builds the node of an expression. Throws SemanticError. */
export function build(expr: ArithExpr | LogicExpr, context: BuildContext, isInstant = false): Node {
  try {
    return nodeOf(expr, context, isInstant)
  } catch (error) {
    if (error instanceof SemanticError) error.line ??= expr.line
    throw error
  }
}

function nodeOf(expr: ArithExpr | LogicExpr, context: BuildContext, isInstant: boolean): Node {
  switch (expr.kind) {
    case 'number':
    case 'bool':
      return constantNode(expr.value)
    case 'string':
      return constantNode(expr.text)
    case 'clock':
      return clockNode(expr.name, context)
    case 'fetch':
      return fetchNode(context.feedsOf(expr), expr, { isInstant, wraps: context.wraps })
    case 'instant':
      return numeric(build(expr.arg, context, true), 'operator "instant" requires numeric valued argument')
    case 'rate': {
      const arg = build(expr.arg, context, isInstant)
      return rateNode(numeric(arg, 'operator "rate" requires numeric valued argument'), context.clock)
    }
    case 'negate':
      return negateNode(numeric(build(expr.arg, context, isInstant), MIXED))
    case 'arithmetic': {
      const [left, right] = operands(expr, context, isInstant)
      return folded(arithmeticNode(expr.op, numeric(left, MIXED), numeric(right, MIXED), merged(left, right)))
    }
    case 'aggregate': {
      const arg = build(expr.arg, context, isInstant)
      if (arg.kind === 'text')
        throw new SemanticError('arithmetic (not STRING) operand required for aggregate operator')
      return aggregateNode(insist(arg, expr.dimension), expr.op, expr.dimension)
    }
    case 'count':
      return countNode(insist(build(expr.arg, context, isInstant), expr.dimension), expr.dimension)
    case 'relation':
      return relation(expr, context, isInstant)
    case 'not':
      return folded(notNode(build(expr.arg, context, isInstant)))
    case 'rising':
    case 'falling':
      return edgeNode(build(expr.arg, context, isInstant), expr.kind)
    case 'and':
    case 'or': {
      const [left, right] = operands(expr, context, isInstant)
      return folded(logicNode(expr.kind, left, right, merged(left, right)))
    }
    case 'quantifier': {
      const arg = insist(build(expr.arg, context, isInstant), expr.dimension)
      return quantifierNode(arg, expr.quantity, expr.dimension)
    }
    case 'match':
      return matchNode(build(expr.arg, context, isInstant), regularExpression(expr.pattern), expr.isNegated)
  }
}

const MIXED = 'operands have mixed string and arithmetic types'

function operands(
  { left, right }: { readonly left: ArithExpr | LogicExpr; readonly right: ArithExpr | LogicExpr },
  context: BuildContext,
  isInstant: boolean,
): [Node, Node] {
  return [build(left, context, isInstant), build(right, context, isInstant)]
}

function relation(
  expr: Extract<LogicExpr, { kind: 'relation' }>,
  context: BuildContext,
  isInstant: boolean,
): Node {
  const [left, right] = operands(expr, context, isInstant)
  const domains = merged(left, right)
  const isText = left.kind === 'text'
  if (isText !== (right.kind === 'text')) {
    // The type of a metric that no host knows yet is unknown.
    if (!left.isUntyped && !right.isUntyped) throw new SemanticError(MIXED)
    return relationNode('==', isText ? right : left, isText ? right : left, domains)
  }
  if (!isText) return folded(relationNode(expr.op, left, right, domains))
  if (expr.op !== '==' && expr.op !== '!=')
    throw new SemanticError(`operator ${expr.op} requires numeric operands`)
  return folded(textRelationNode(expr.op === '==', left, right, domains))
}

function numeric(node: Node, problem: string): Node {
  if (node.kind === 'text') throw new SemanticError(problem)
  return node
}

/** Checks that an operator over hosts or samples has that dimension. Instances may appear later; until then the result is unknown. */
function insist(node: Node, dimension: Dimension): Node {
  const { hosts, samples } = node.domains
  if (dimension === 'host' && hosts === undefined) throw new SemanticError('no host domain')
  if (dimension === 'sample' && samples === undefined) throw new SemanticError('no time domain')
  return node
}

/** Merges the domains of two operands. Of two single values, the instance is taken from the first that fetches a metric. */
function merged(left: Node, right: Node): Domains {
  const one = (a: number | undefined, b: number | undefined, what: string): number | undefined => {
    // One instance can be combined with any number of instances.
    if (what === 'instance' && (a ?? 1) === 1 && (b ?? 1) === 1) return left.role === 'constant' ? b : a
    if (what === 'instance' && (a === 1 || b === 1)) return Math.max(a ?? 1, b ?? 1)
    if (a !== undefined && b !== undefined && a !== b)
      throw new SemanticError(`${what} domains have different size (${a} and ${b})`)
    return a ?? b
  }
  const a = left.domains
  const b = right.domains
  return {
    hosts: one(a.hosts, b.hosts, 'host'),
    instances: one(a.instances, b.instances, 'instance'),
    samples: one(a.samples, b.samples, 'time'),
  }
}

/** Evaluates an expression of constants once. */
function folded(node: Node): Node {
  if (!node.args.every(({ isConstant }) => isConstant)) return node
  node.update()
  const value = node.values[0]!
  if (node.kind === 'number') return constantNode(value)
  return value > 1 ? node : constantNode(value === 1)
}

/** Builds a node for a time variable in the reporting zone. */
function clockNode(name: ClockName, { clock, zone, deltaSec }: BuildContext): Node {
  const parts = { kind: 'number', domains: SINGULAR, samples: 1, role: 'arithmetic', args: [] } as const
  return makeNode({ ...parts, layout: ONE_CELL }, (node) => {
    node.valid = 0
    shift(node)
    node.values[0] = name === 'delta' ? deltaSec : clockValue(name, clock.sec, zone)
  })
}

function clockValue(name: Exclude<ClockName, 'delta'>, sec: number, zone: Zone): number {
  const { year, month, day, hour, minute, weekday } = localTime(Math.floor(sec), zone)
  switch (name) {
    case 'minute':
      return minute
    case 'hour':
      return hour
    case 'day':
      return day
    case 'month':
      return month - 1
    case 'year':
      return year
    case 'day_of_week':
      return weekday
  }
}

/** Compiles a POSIX extended regular expression, which takes linear time: the text of a rule may be from another user. */
function regularExpression(pattern: string): Pattern {
  try {
    return compilePattern(pattern, true)
  } catch (error) {
    throw new SemanticError(`illegal regular expression "${pattern}"`, { cause: error })
  }
}
