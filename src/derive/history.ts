/** State of `delta` and `rate` between fetches, for each requester. docs/reference/derived-metrics.md */
import type { Timestamp } from '../base/timestamp.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE } from '../model/types.ts'
import { differences } from './arithmetic.ts'
import { type Column, columnOf, gather, noValues, numbersOf, toDoubles } from './column.ts'

/** The operand's values in the previous fetch. */
export interface Previous {
  readonly timestamp: Timestamp
  readonly column: Column
}

/** Parameters of a change. */
export interface ChangeRule {
  readonly name: 'delta' | 'rate'
  /** Type of the result. */
  readonly type: number
  /** Semantics of the operand: a counter that decreased has no rate. */
  readonly sem: number
  /** Factor for the change per second. */
  readonly factor: number
}

/** Returns the change of each instance that also had a value before. */
export function change(
  column: Column,
  timestamp: Timestamp,
  before: Previous | undefined,
  rule: ChangeRule,
): Column {
  if (column.status < 0) return noValues(rule.type, column.status)
  if (before === undefined || before.column.status <= 0) return noValues(rule.type)
  const places = commonPlaces(column.inst, before.column.inst)
  const inst = places === undefined ? column.inst : gatherInst(column.inst, places.left)
  const now = places === undefined ? numbersOf(column) : gather(numbersOf(column), places.left)
  const old = places === undefined ? numbersOf(before.column) : gather(numbersOf(before.column), places.right)
  const elapsed = seconds(before.timestamp, timestamp)
  // Two samples at the same time have no rate.
  if (rule.name === 'rate' && elapsed === 0) return noValues(rule.type)
  const grown = differences(now, old, column.type)
  if (rule.name === 'delta') return columnOf(rule.type, inst, grown)
  return rates(inst, toDoubles(grown, column.type), elapsed, rule)
}

function rates(inst: Int32Array, grown: Float64Array, elapsed: number, rule: ChangeRule): Column {
  const { factor } = rule
  const values = new Float64Array(grown.length)
  let hasDecrease = false
  for (let i = 0; i < values.length; i++) {
    const change = grown[i]!
    values[i] = (change / elapsed) * factor
    if (change < 0) hasDecrease = true
  }
  if (rule.sem !== PM_SEM_COUNTER || !hasDecrease) return columnOf(PM_TYPE_DOUBLE, inst, values)
  const kept: number[] = []
  for (let i = 0; i < values.length; i++) if (!(grown[i]! < 0)) kept.push(i)
  return columnOf(PM_TYPE_DOUBLE, gatherInst(inst, kept), gather(values, kept))
}

function seconds(from: Timestamp, to: Timestamp): number {
  return to.sec - from.sec + (to.nsec - from.nsec) / 1e9
}

/** Returns the indices of instances in both columns, in the left one's order; undefined if the columns are equal. */
export function commonPlaces(
  left: Int32Array,
  right: Int32Array,
): { readonly left: readonly number[]; readonly right: readonly number[] } | undefined {
  if (sameInstances(left, right)) return undefined
  const placeOf = new Map<number, number>()
  for (let i = 0; i < right.length; i++) placeOf.set(right[i]!, i)
  const [a, b]: [number[], number[]] = [[], []]
  for (let i = 0; i < left.length; i++) {
    const place = placeOf.get(left[i]!)
    if (place === undefined) continue
    a.push(i)
    b.push(place)
  }
  return { left: a, right: b }
}

function sameInstances(a: Int32Array, b: Int32Array): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Returns the instances at `places`. */
export function gatherInst(inst: Int32Array, places: readonly number[]): Int32Array {
  const picked = new Int32Array(places.length)
  for (let i = 0; i < picked.length; i++) picked[i] = inst[places[i]!]!
  return picked
}
