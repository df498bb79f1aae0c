/** Compatibility of the branches of a ternary, and the descriptor of its values. docs/reference/derived-metrics.md */
import { PM_INDOM_NULL } from '../model/ids.ts'
import { unpackUnits } from '../model/units.ts'
import { isNumeric, type Meta, type SameIndom } from './meta.ts'

/** The parts of a ternary. A `novalue()` branch is missing; both cannot be. */
export interface TernaryCase {
  readonly guard: Meta
  readonly left: Meta | undefined
  readonly right: Meta | undefined
}

/** Why a ternary is invalid. */
export interface TernaryFault {
  readonly why: string
  /** Whether the fault concerns the guard, or only the branches. */
  readonly aboutGuard: boolean
}

/** Returns the descriptor of a ternary, or the fault. */
export function ternaryMeta(parts: TernaryCase, sameIndom: SameIndom): Meta | TernaryFault {
  const { guard, left, right } = parts
  const why = left === undefined || right === undefined ? undefined : disagreement(left, right, sameIndom)
  if (why !== undefined) return { why, aboutGuard: false }
  if (!isNumeric(guard.type)) return { why: 'Non-arithmetic operand for ternary guard', aboutGuard: true }
  const meta = (left ?? right)!
  const indom = meta.indom === PM_INDOM_NULL ? (right ?? meta).indom : meta.indom
  if (guard.indom !== PM_INDOM_NULL && indom === PM_INDOM_NULL)
    return { why: 'Non-scalar ternary guard with scalar expressions', aboutGuard: true }
  return { ...meta, indom }
}

function disagreement(left: Meta, right: Meta, sameIndom: SameIndom): string | undefined {
  if (left.type !== right.type) return 'Different types for ternary operands'
  const hasTwoDomains = left.indom !== PM_INDOM_NULL && right.indom !== PM_INDOM_NULL
  if (hasTwoDomains && !sameIndom(left.indom, right.indom))
    return 'Different instance domains for ternary operands'
  if (left.sem !== right.sem) return 'Different semantics for ternary operands'
  const [l, r] = [unpackUnits(left.units), unpackUnits(right.units)]
  const which =
    l.dimSpace !== r.dimSpace || l.scaleSpace !== r.scaleSpace
      ? 'space'
      : l.dimTime !== r.dimTime || l.scaleTime !== r.scaleTime
        ? 'time'
        : l.dimCount !== r.dimCount || l.scaleCount !== r.scaleCount
          ? 'count'
          : l.extraUnit !== r.extraUnit || l.extraScale !== r.extraScale
            ? 'extra'
            : undefined
  return which === undefined ? undefined : `Different units or scale (${which}) for ternary operands`
}
