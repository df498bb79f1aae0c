/** Types, domains, semantics and units of derived values. docs/reference/derived-metrics.md */
import { PM_INDOM_NULL } from '../model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_U32,
} from '../model/types.ts'
import { PM_TIME_SEC, packUnits, type Units, unpackUnits } from '../model/units.ts'
import type { BinaryOp } from './expr.ts'

/** A descriptor without identity. */
export interface Meta {
  readonly type: number
  readonly indom: number
  readonly sem: number
  readonly units: number
}

/** An operand as the rules see it. */
export interface Side {
  readonly meta: Meta
  /** A number, or `mkconst`. */
  readonly isConstant: boolean
  /** A number, or `mkconst` without units: it may be compared with anything. */
  readonly isBare: boolean
}

/** A multiplication or division of one side's values, if its scale is smaller than the result's. */
export interface Scaling {
  readonly factor: number
  readonly divides: boolean
}

/** Result of applying the rules to an operation. */
export interface BinaryMeta {
  readonly meta: Meta
  /** Type to which both sides are converted first. */
  readonly operandType: number
  readonly left: readonly Scaling[]
  readonly right: readonly Scaling[]
}

/** Returns whether two domains are equal or declared equivalent. */
export type SameIndom = (a: number, b: number) => boolean

/** Returns whether a type is one of the six numeric types. */
export function isNumeric(type: number): boolean {
  return type >= 0 && type <= PM_TYPE_DOUBLE
}

/** Returns whether an operator is `+ - * /`. */
export function isArithmetic(op: BinaryOp): boolean {
  return op === '+' || op === '-' || op === '*' || op === '/'
}

/** Returns whether an operator is `&&` or `||`. */
export function isBoolean(op: BinaryOp): boolean {
  return op === '&&' || op === '||'
}

/** Returns descriptor and scaling of `left op right`, or the reference's message if it is invalid. */
export function binaryMeta(op: BinaryOp, left: Side, right: Side, sameIndom: SameIndom): BinaryMeta | string {
  const [l, r] = [left.meta, right.meta]
  const sem = binarySemantics(op, left, right)
  if (typeof sem === 'string') return sem
  if (!isNumeric(l.type)) return 'Non-arithmetic type for left operand'
  if (!isNumeric(r.type)) return 'Non-arithmetic type for right operand'
  const units = binaryUnits(op, left, right)
  if (typeof units === 'string') return units
  const fault = mixedFault(op, l, r)
  if (fault !== undefined) return fault
  const hasTwoDomains = l.indom !== PM_INDOM_NULL && r.indom !== PM_INDOM_NULL
  if (hasTwoDomains && !sameIndom(l.indom, r.indom)) return 'Operands should have the same instance domain'
  const greater = Math.max(l.type, r.type)
  const isReal = op === '/' || units.left.length > 0 || units.right.length > 0
  const type = isArithmetic(op) ? (isReal ? PM_TYPE_DOUBLE : greater) : PM_TYPE_U32
  const indom = l.indom === PM_INDOM_NULL ? r.indom : l.indom
  return {
    meta: { type, indom, sem, units: units.word },
    operandType: isArithmetic(op) ? type : greater,
    left: units.left,
    right: units.right,
  }
}

function binarySemantics(op: BinaryOp, left: Side, right: Side): number | string {
  const [l, r] = [left.meta, right.meta]
  const isProduct = op === '*' || op === '/'
  const [lc, rc] = [l.sem === PM_SEM_COUNTER, r.sem === PM_SEM_COUNTER]
  if (lc && rc) return isProduct ? 'Illegal operator for counters' : PM_SEM_COUNTER
  if (!lc && !rc)
    return l.sem === PM_SEM_DISCRETE && r.sem === PM_SEM_DISCRETE ? PM_SEM_DISCRETE : PM_SEM_INSTANT
  if (op === '+' || op === '-' || (op === '/' && rc)) {
    return `Illegal operator for ${lc ? 'counter and non-counter' : 'non-counter and counter'}`
  }
  return left.isConstant ? r.sem : l.sem
}

/** A counter can be multiplied with, divided by and compared with only dimensionless values or counters. */
function mixedFault(op: BinaryOp, l: Meta, r: Meta): string | undefined {
  const isLeftCounter = l.sem === PM_SEM_COUNTER
  if (isBoolean(op) || isLeftCounter === (r.sem === PM_SEM_COUNTER)) return undefined
  const other = unpackUnits((isLeftCounter ? r : l).units)
  return isDimensionless(other)
    ? undefined
    : `Non-counter and not dimensionless for ${isLeftCounter ? 'right' : 'left'} operand`
}

/** Counts and dimensionless values are compatible. */
function countLike(units: Units): boolean {
  return isDimensionless(units) || isCount(units)
}

function isDimensionless({ dimSpace, dimTime, dimCount, extraUnit }: Units): boolean {
  return dimSpace === 0 && dimTime === 0 && dimCount === 0 && extraUnit === 0
}

function isCount({ dimSpace, dimTime, dimCount, extraUnit }: Units): boolean {
  return dimSpace === 0 && dimTime === 0 && dimCount === 1 && extraUnit === 0
}

interface UnitsOutcome {
  readonly word: number
  readonly left: readonly Scaling[]
  readonly right: readonly Scaling[]
}

const NOT_THE_SAME = 'Dimensions are not the same'
const UNITLESS: UnitsOutcome = { word: 0, left: [], right: [] }

function binaryUnits(op: BinaryOp, left: Side, right: Side): UnitsOutcome | string {
  const [l, r] = [unpackUnits(left.meta.units), unpackUnits(right.meta.units)]
  if (isBoolean(op)) return isDimensionless(l) && isDimensionless(r) ? UNITLESS : NOT_THE_SAME
  if (op === '*' || op === '/') return productUnits(op, l, r)
  const areEqual =
    (countLike(l) && countLike(r)) ||
    (l.dimSpace === r.dimSpace &&
      l.dimTime === r.dimTime &&
      l.dimCount === r.dimCount &&
      l.extraUnit === r.extraUnit)
  if (isArithmetic(op)) {
    if (!areEqual) return NOT_THE_SAME
    if (l.extraUnit !== 0 && l.extraScale !== r.extraScale)
      return 'Operands have incompatible extra units or scale'
    return scaled(left.isConstant ? r : l, l, r)
  }
  // The reference intends to check for literal numbers but checks the type, so integers of metrics pass too, and so they do here.
  const isWaived = [left, right].some((side) => side.isBare || side.meta.type === PM_TYPE_U32)
  if (!areEqual && !isWaived) return NOT_THE_SAME
  if (areEqual && l.extraUnit !== 0 && l.extraScale !== r.extraScale)
    return 'Operands have incompatible extra units or scale'
  return UNITLESS
}

function productUnits(op: '*' | '/', l: Units, r: Units): UnitsOutcome | string {
  const sign = op === '*' ? 1 : -1
  const hasTwoExtras = l.extraUnit !== 0 && r.extraUnit !== 0
  if (hasTwoExtras && op === '*') return 'Extra units not allowed for both operands of *'
  if (hasTwoExtras && (l.extraUnit !== r.extraUnit || l.extraScale !== r.extraScale))
    return 'Different extra units not allowed for both operands of /'
  const extra = l.extraUnit === 0 ? sign * r.extraUnit : hasTwoExtras ? 0 : l.extraUnit
  return scaled(
    {
      dimSpace: l.dimSpace + sign * r.dimSpace,
      dimTime: l.dimTime + sign * r.dimTime,
      dimCount: l.dimCount + sign * r.dimCount,
      scaleSpace: l.dimSpace === 0 ? r.scaleSpace : l.scaleSpace,
      scaleTime: l.dimTime === 0 ? r.scaleTime : l.scaleTime,
      scaleCount: l.dimCount === 0 ? r.scaleCount : l.scaleCount,
      extraUnit: extra,
      extraScale: extra === 0 ? 0 : l.extraUnit === 0 ? r.extraScale : l.extraScale,
    },
    l,
    r,
  )
}

/** Size of each time scale in units of the next smaller one. */
const TIME_STEPS: readonly number[] = [1, 1000, 1000, 1000, 60, 60]

/** Returns `units` in the larger scale where both sides have a dimension, and the scaling of each side's values. */
function scaled(units: Units, l: Units, r: Units): UnitsOutcome {
  const left: Scaling[] = []
  const right: Scaling[] = []
  const larger = (dl: number, sl: number, dr: number, sr: number, own: number, ratio: Ratio): number => {
    if (dl === 0 || dr === 0 || sl === sr) return own
    if (sl < sr) left.push(scaling(ratio(sl, sr), dl))
    else right.push(scaling(ratio(sr, sl), dr))
    return Math.max(sl, sr)
  }
  const scaleCount = larger(l.dimCount, l.scaleCount, r.dimCount, r.scaleCount, units.scaleCount, decimal)
  const scaleTime = larger(l.dimTime, l.scaleTime, r.dimTime, r.scaleTime, units.scaleTime, timeRatio)
  const scaleSpace = larger(l.dimSpace, l.scaleSpace, r.dimSpace, r.scaleSpace, units.scaleSpace, binary)
  const word = packUnits({
    ...units,
    scaleSpace: units.dimSpace === 0 ? 0 : scaleSpace,
    scaleTime: units.dimTime === 0 ? 0 : scaleTime,
    scaleCount: units.dimCount === 0 ? 0 : scaleCount,
  })
  return { word, left, right }
}

type Ratio = (small: number, large: number) => number

const decimal: Ratio = (small, large) => 10 ** (large - small)
const binary: Ratio = (small, large) => 1024 ** (large - small)
const timeRatio: Ratio = (small, large) => {
  let ratio = 1
  for (let i = small + 1; i <= large; i++) ratio *= TIME_STEPS[i] ?? 1
  return ratio
}

function scaling(ratio: number, dimension: number): Scaling {
  return { factor: ratio ** Math.abs(dimension), divides: dimension > 0 }
}

/** Returns the units of a rate and the factor for the change per second; undefined for a time dimension other than 0 or 1. */
export function rateMeta(word: number): { readonly units: number; readonly factor: number } | undefined {
  const units = unpackUnits(word)
  if (units.dimTime === 0)
    return { units: packUnits({ ...units, dimTime: -1, scaleTime: PM_TIME_SEC }), factor: 1 }
  if (units.dimTime !== 1) return undefined
  // Step by step as in the reference: the last bits of a rate depend on it.
  let factor = 1
  for (let i = units.scaleTime + 1; i <= PM_TIME_SEC; i++) factor /= TIME_STEPS[i]!
  for (let i = PM_TIME_SEC + 1; i <= units.scaleTime; i++) factor *= TIME_STEPS[i] ?? 1
  return { units: packUnits({ ...units, dimTime: 0, scaleTime: 0 }), factor }
}

/** Returns whether values can be rescaled between these units. No dimension means count. */
export function canRescale(from: number, to: number): boolean {
  const [a, b] = [unpackUnits(from), unpackUnits(to)]
  return (
    a.dimSpace === b.dimSpace &&
    a.dimTime === b.dimTime &&
    a.extraUnit === b.extraUnit &&
    (a.dimCount === b.dimCount || (countLike(a) && countLike(b)))
  )
}
