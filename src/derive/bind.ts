/** Binds an expression to one source: resolves operands and checks descriptors. docs/reference/derived-metrics.md */
import type { MetricDesc } from '../model/desc.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../model/types.ts'
import { packUnits, unitsStr } from '../model/units.ts'
import type { Binding, Bound } from './bound.ts'
import type { ExplicitMeta, Expr } from './expr.ts'
import { binaryMeta, canRescale, isNumeric, type Meta, rateMeta, type SameIndom, type Side } from './meta.ts'
import { type TernaryCase, ternaryMeta } from './ternary-meta.ts'

/** Result of looking up a name: its descriptor, or why it cannot be an operand. */
export type Operand =
  | { readonly desc: MetricDesc; readonly isDerived: boolean }
  | { readonly desc: undefined; readonly isDerived: boolean; readonly isKnown: boolean }

/** Why an expression cannot be evaluated on a source. */
export interface BindFault {
  /** The part at fault, in the reference's form. */
  readonly where: string
  readonly why: string
  /** Whether the fault is a missing or unsuitable operand. */
  readonly isOperand: boolean
  readonly reason: 'unknown-operand' | 'unbound'
}

/** Look-ups used by binding. */
export interface BindContext {
  readonly operand: (name: string) => Operand
  readonly sameIndom: SameIndom
}

/** Returns all metrics named in an expression. */
export function namesIn(expr: Expr): ReadonlySet<string> {
  const names = new Set<string>()
  const walk = (node: Expr): void => {
    if ('name' in node && (node.kind === 'metric' || node.kind === 'defined')) names.add(node.name)
    if ('stated' in node && node.stated.meta !== undefined) names.add(node.stated.meta)
    if ('operand' in node) walk(node.operand)
    if ('guard' in node) walk(node.guard)
    if ('left' in node) {
      walk(node.left)
      walk(node.right)
    }
  }
  walk(expr)
  return names
}

/** Returns whether binding failed. */
export function isBindFault(outcome: Binding | BindFault): outcome is BindFault {
  return 'why' in outcome
}

/** Binds an expression, or returns the fault. */
export function bind(expr: Expr, context: BindContext): Binding | BindFault {
  const binder = new Binder(context)
  try {
    const root = binder.root(expr)
    return { root, operands: [...binder.operands], slots: binder.slots }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { where, message: why, isOperand, reason } = error
    return { where, why, isOperand, reason }
  }
}

class Failure extends Error {
  readonly where: string
  readonly isOperand: boolean
  readonly reason: BindFault['reason']

  constructor(where: string, why: string, isOperand = false, reason: BindFault['reason'] = 'unbound') {
    super(why)
    this.where = where
    this.isOperand = isOperand
    this.reason = reason
  }
}

const NO_METADATA = 'Metadata for operand metric not available'
const DEFAULT_META: Meta = { type: PM_TYPE_U32, indom: PM_INDOM_NULL, sem: PM_SEM_DISCRETE, units: 0 }
const COUNT_UNITS = packUnits({ dimCount: 1 })

class Binder {
  readonly operands = new Set<Pmid>()
  slots = 0
  readonly #context: BindContext
  /** Whether the node is in a branch of a ternary expression. */
  #isBranch = false

  constructor(context: BindContext) {
    this.#context = context
  }

  /** A single name may be another derived metric: the result then has its descriptor, but no values. */
  root(expr: Expr): Bound {
    if (expr.kind !== 'metric') return this.#bind(expr)
    const { desc, isDerived } = this.#context.operand(expr.name)
    if (!isDerived) return this.#bind(expr)
    if (desc !== undefined) return { kind: 'none', meta: metaOf(desc), isNovalue: false }
    throw new Failure(`operand ${expr.name}`, NO_METADATA, true)
  }

  #bind(expr: Expr): Bound {
    switch (expr.kind) {
      case 'number':
        return { kind: 'const', meta: numberMeta(expr.isReal), text: expr.text }
      case 'metric': {
        const desc = this.#desc(expr.name)
        this.operands.add(desc.pmid)
        return { kind: 'metric', meta: metaOf(desc), pmid: desc.pmid }
      }
      case 'const':
        return {
          kind: 'const',
          meta: this.#stated(expr.stated, numberMeta(expr.value.isReal)),
          text: expr.value.text,
        }
      case 'novalue':
        return { kind: 'none', meta: this.#stated(expr.stated, DEFAULT_META), isNovalue: true }
      case 'anon':
        return { kind: 'none', meta: { ...DEFAULT_META, type: expr.type }, isNovalue: false }
      case 'defined':
        return { kind: 'const', meta: DEFAULT_META, text: this.#isDefined(expr.name) ? '1' : '0' }
      case 'negate':
        return this.#negate(expr)
      case 'not':
        return this.#not(expr)
      case 'binary':
        return this.#binary(expr)
      case 'ternary':
        return this.#ternary(expr)
      case 'aggregate':
        return this.#aggregate(expr)
      case 'function':
        return this.#function(expr)
      case 'rank':
        return this.#rank(expr)
      case 'rescale':
        return this.#rescale(expr)
      case 'instance': {
        const operand = this.#bind(expr.operand)
        return { kind: 'instance', meta: operand.meta, instance: expr.instance, operand }
      }
      case 'match': {
        const operand = this.#bind(expr.operand)
        const { pattern, isNegated } = expr
        return { kind: 'match', meta: operand.meta, pattern, isNegated, operand }
      }
    }
  }

  #desc(name: string): MetricDesc {
    const operand = this.#context.operand(name)
    if (operand.isDerived) throw new Failure(`operand ${name}`, 'Illegal nested derived metric', true)
    if (operand.desc !== undefined) return operand.desc
    if (operand.isKnown) throw new Failure(`operand ${name}`, NO_METADATA, true)
    if (this.#isBranch) throw new Failure(`operand ${name}`, 'Unknown metric for ternary expression', true)
    throw new Failure(`operand ${name}`, 'Unknown operand metric', true, 'unknown-operand')
  }

  #isDefined(name: string): boolean {
    const operand = this.#context.operand(name)
    if (operand.isDerived) throw new Failure(`operand ${name}`, 'Illegal nested derived metric', true)
    return operand.desc !== undefined || operand.isKnown
  }

  #stated(stated: ExplicitMeta, base: Meta): Meta {
    const from = stated.meta === undefined ? base : metaOf(this.#desc(stated.meta))
    return {
      type: stated.type ?? from.type,
      indom: stated.indom ?? from.indom,
      sem: stated.sem ?? from.sem,
      units: stated.units ?? from.units,
    }
  }

  #negate(expr: Expr & { kind: 'negate' | 'not' }): Bound {
    const operand = this.#bind(expr.operand)
    const { meta } = operand
    if (!isNumeric(meta.type))
      throw new Failure(`- ${sideStr(expr.operand)}`, 'Non-arithmetic operand for unary negation')
    const type = meta.type === PM_TYPE_U32 ? PM_TYPE_32 : meta.type === PM_TYPE_U64 ? PM_TYPE_64 : meta.type
    return { kind: 'negate', meta: { ...meta, type, sem: PM_SEM_INSTANT }, operand }
  }

  #not(expr: Expr & { kind: 'negate' | 'not' }): Bound {
    const operand = this.#bind(expr.operand)
    return { kind: 'not', meta: operand.meta, operand }
  }

  #binary(expr: Expr & { kind: 'binary' }): Bound {
    const a = this.#bind(expr.left)
    const b = this.#bind(expr.right)
    const { op } = expr
    const outcome = binaryMeta(op, side(expr.left, a), side(expr.right, b), this.#context.sameIndom)
    if (typeof outcome === 'string')
      throw new Failure(`${sideStr(expr.left)} ${op} ${sideStr(expr.right)}`, outcome)
    return { kind: 'binary', op, a, b, ...outcome }
  }

  #ternary(expr: Expr & { kind: 'ternary' }): Bound {
    const chosen = this.#constantGuard(expr.guard)
    if (chosen !== undefined) return this.#chosen(chosen ? expr.left : expr.right)
    const guard = this.#bind(expr.guard)
    const a = this.#branch(expr.left)
    const b = this.#branch(expr.right)
    const isNovalue = (branch: Expr): boolean => branch.kind === 'novalue'
    const branches = `${sideStr(expr.left)} : ${sideStr(expr.right)}`
    if (isNovalue(expr.left) && isNovalue(expr.right))
      throw new Failure(
        `${sideStr(expr.guard)} ? ${branches}`,
        'novalue() may appear at most once in a ternary expression',
      )
    const sides: TernaryCase = {
      guard: guard.meta,
      left: isNovalue(expr.left) ? undefined : a.meta,
      right: isNovalue(expr.right) ? undefined : b.meta,
    }
    const outcome = ternaryMeta(sides, this.#context.sameIndom)
    if ('type' in outcome) {
      const { indom } = guard.meta
      const isPaired = indom === PM_INDOM_NULL || this.#context.sameIndom(indom, outcome.indom)
      // Instances of another domain than the values' select nothing; the reference pairs them by position.
      return isPaired
        ? { kind: 'ternary', meta: outcome, guard, a, b }
        : { kind: 'none', meta: outcome, isNovalue: false }
    }
    throw new Failure(outcome.aboutGuard ? `${sideStr(expr.guard)} ? ${branches}` : branches, outcome.why)
  }

  /** Binds the branch that a constant guard always selects. The reference gives `novalue()` the lowest type here. */
  #chosen(expr: Expr): Bound {
    if (expr.kind !== 'novalue') return this.#branch(expr)
    return {
      kind: 'none',
      meta: this.#stated(expr.stated, { ...DEFAULT_META, type: PM_TYPE_32 }),
      isNovalue: true,
    }
  }

  #branch(expr: Expr): Bound {
    const outer = this.#isBranch
    this.#isBranch = true
    const bound = this.#bind(expr)
    this.#isBranch = outer
    return bound
  }

  /** Returns the constant value of a guard that consists of integers, `defined`, `!`, `&&` and `||`. */
  #constantGuard(expr: Expr): boolean | undefined {
    switch (expr.kind) {
      case 'number':
        return expr.isReal ? undefined : Number(expr.text) !== 0
      case 'defined':
        return this.#isDefined(expr.name)
      case 'not': {
        const inner = this.#constantGuard(expr.operand)
        return inner === undefined ? undefined : !inner
      }
      case 'binary': {
        if (expr.op !== '&&' && expr.op !== '||') return undefined
        const left = this.#constantGuard(expr.left)
        const right = this.#constantGuard(expr.right)
        if (left === undefined || right === undefined) return undefined
        return expr.op === '&&' ? left && right : left || right
      }
      default:
        return undefined
    }
  }

  #aggregate({ name, operand: inner }: Expr & { kind: 'aggregate' }): Bound {
    const operand = this.#bind(inner)
    const { meta } = operand
    if (name === 'count') {
      const counted = { ...DEFAULT_META, sem: PM_SEM_INSTANT, units: COUNT_UNITS }
      return { kind: 'aggregate', meta: counted, name, operand }
    }
    this.#checkNumeric(name, inner, meta)
    const type = name === 'avg' ? PM_TYPE_FLOAT : meta.type
    const sem = name === 'sum' ? meta.sem : PM_SEM_INSTANT
    return { kind: 'aggregate', meta: { ...meta, type, sem, indom: PM_INDOM_NULL }, name, operand }
  }

  #checkNumeric(name: string, operand: Expr, meta: Meta): void {
    if (isNumeric(meta.type)) return
    throw new Failure(`${name.toUpperCase()}(${sideStr(operand)})`, 'Non-arithmetic operand for function')
  }

  #function({ name, operand: inner }: Expr & { kind: 'function' }): Bound {
    const operand = this.#bind(inner)
    const { meta } = operand
    const made = (own: Meta, factor = 1): Bound => {
      return { kind: 'function', meta: own, name, operand, slot: this.slots++, factor }
    }
    if (name === 'scalar') return made({ ...meta, indom: PM_INDOM_NULL })
    if (name === 'instant') return made(meta.sem === PM_SEM_COUNTER ? { ...meta, sem: PM_SEM_INSTANT } : meta)
    this.#checkNumeric(name, inner, meta)
    if (name === 'delta') {
      const wider = { [PM_TYPE_U32]: PM_TYPE_64, [PM_TYPE_U64]: PM_TYPE_DOUBLE }[meta.type]
      return made({ ...meta, type: wider ?? meta.type, sem: PM_SEM_INSTANT })
    }
    const rate = rateMeta(meta.units)
    if (rate === undefined)
      throw new Failure(`RATE(${sideStr(inner)})`, 'Incorrect time dimension for operand')
    return made({ ...meta, type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, units: rate.units }, rate.factor)
  }

  #rank({ name, by, operand: inner }: Expr & { kind: 'rank' }): Bound {
    const operand = this.#bind(inner)
    const { meta } = operand
    this.#checkNumeric(name, inner, meta)
    const own =
      name === 'quantile'
        ? { ...meta, type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, indom: PM_INDOM_NULL }
        : meta
    return { kind: 'rank', meta: own, name, by, operand }
  }

  #rescale({ units, operand: inner }: Expr & { kind: 'rescale' }): Bound {
    const operand = this.#bind(inner)
    const { meta } = operand
    const where = `${sideStr(inner)} RESCALE ${unitsStr(units) || 'none'}`
    if (!isNumeric(meta.type)) throw new Failure(where, 'Non-arithmetic operand for function')
    if (!canRescale(meta.units, units)) throw new Failure(where, 'Incompatible dimensions')
    return { kind: 'rescale', meta: { ...meta, units }, operand }
  }
}

function numberMeta(isReal: boolean): Meta {
  return isReal ? { ...DEFAULT_META, type: PM_TYPE_DOUBLE } : DEFAULT_META
}

function metaOf({ type, indom, sem, units }: MetricDesc): Meta {
  return { type, indom, sem, units }
}

function side(expr: Expr, { meta }: Bound): Side {
  const isConstant = expr.kind === 'number' || expr.kind === 'const'
  const isBare = expr.kind === 'number' || (expr.kind === 'const' && meta.units === 0)
  return { meta, isConstant, isBare }
}

/** Formats one side of an operation for a message: a name, a number, or `<expr>`. */
function sideStr(expr: Expr): string {
  if (expr.kind === 'metric') return expr.name
  if (expr.kind === 'number') return expr.text
  return expr.kind === 'const' ? expr.value.text : '<expr>'
}
