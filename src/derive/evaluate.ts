/** Evaluates bound expressions. docs/reference/derived-metrics.md */
import type { Timestamp } from '../base/timestamp.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { firstWord } from '../model/instance-name.ts'
import { convScale } from '../model/scale.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U32 } from '../model/types.ts'
import { unpackUnits } from '../model/units.ts'
import { extract } from '../model/value-set.ts'
import { makeSet } from '../model/value-writer.ts'
import type { Value, ValueSet } from '../model/values.ts'
import { combine, convertNumbers, isTrue, negate, not, scaleNumbers } from './arithmetic.ts'
import type { Bound } from './bound.ts'
import {
  type Column,
  columnOf,
  columnOfSet,
  decoded,
  exactAt,
  firstOnly,
  gather,
  isInt64,
  type Numbers,
  noValues,
  numbersOf,
  packExact,
  pick,
} from './column.ts'
import { change, commonPlaces, gatherInst, type Previous } from './history.ts'
import type { PatternWork } from './instance-patterns.ts'
import { isNumeric } from './meta.ts'
import { aggregate, rank } from './over-instances.ts'

/** Inputs of an evaluation. */
export interface Evaluation {
  readonly timestamp: Timestamp
  /** Returns the values of an operand. */
  readonly setOf: (pmid: Pmid) => ValueSet
  /** Returns names of a domain's instances by id; unknown instances are missing. */
  readonly namesOf: (indom: number) => ReadonlyMap<number, string>
  /** Returns the instances of a domain that the profile includes, or the error. */
  readonly instancesOf: (indom: number) => Outcome<Int32Array>
  /** Limits the work of patterns in one fetch. */
  readonly patterns: PatternWork
  /** State of each slot; modified. */
  readonly slots: (Previous | undefined)[]
}

/** Evaluates a node. Errors of operands' values become the column's status; nothing is thrown. */
export function evaluate(node: Bound, evaluation: Evaluation): Column {
  try {
    return valuesOf(node, evaluation)
  } catch (error) {
    return noValues(node.meta.type, PcpError.from(error).status)
  }
}

function valuesOf(node: Bound, evaluation: Evaluation): Column {
  const { meta } = node
  switch (node.kind) {
    case 'metric':
      return columnOfSet(evaluation.setOf(node.pmid), meta.type)
    case 'const':
      return constant(meta.type, meta.indom, node.text, evaluation)
    case 'none':
      return noValues(meta.type)
    case 'negate':
    case 'not':
      return sign(node, evaluate(node.operand, evaluation))
    case 'binary':
      return binary(node, evaluate(node.a, evaluation), evaluate(node.b, evaluation))
    case 'ternary':
      return ternary(node, evaluation)
    case 'aggregate':
      return aggregate(node.name, evaluate(node.operand, evaluation))
    case 'rank':
      return rank(node.name, node.by, evaluate(node.operand, evaluation))
    case 'function':
      return functionOf(node, evaluation)
    case 'rescale':
      return rescale(evaluate(node.operand, evaluation), node.operand.meta.units, meta.units)
    case 'instance':
      return oneInstance(node, evaluate(node.operand, evaluation), evaluation)
    case 'match':
      return matching(node, evaluate(node.operand, evaluation), evaluation)
  }
}

function constant(type: number, indom: number, text: string, evaluation: Evaluation): Column {
  if (!isNumeric(type)) return noValues(type)
  const value = constantOf(type, text === '.' ? 0 : Number(text))
  if (indom === PM_INDOM_NULL) return columnOf(type, Int32Array.of(-1), Float64Array.of(value))
  const inst = evaluation.instancesOf(indom)
  if (isError(inst)) return noValues(type, inst.status)
  return columnOf(type, inst, new Float64Array(inst.length).fill(value))
}

/** Converts a constant: unless it is a real number, its text is an integer of at most 32 bits. */
function constantOf(type: number, value: number): number {
  if (type === PM_TYPE_DOUBLE) return value
  if (type === PM_TYPE_FLOAT) return Math.fround(value)
  if (type === PM_TYPE_32) return value | 0
  return type === PM_TYPE_U32 ? value >>> 0 : Math.trunc(value)
}

function sign(node: Bound & { kind: 'negate' | 'not' }, column: Column): Column {
  const { type } = node.meta
  if (column.status <= 0 || !isNumeric(type)) return noValues(type, Math.min(0, column.status))
  const nums = numbersOf(column)
  return columnOf(type, column.inst, node.kind === 'negate' ? negate(nums, type) : not(nums))
}

function binary(node: Bound & { kind: 'binary' }, left: Column, right: Column): Column {
  const { type } = node.meta
  const status = left.status < 0 ? left.status : Math.min(0, right.status)
  if (status < 0 || left.status === 0 || right.status === 0) return noValues(type, status)
  const [leftIsSingular, rightIsSingular] = [
    node.a.meta.indom === PM_INDOM_NULL,
    node.b.meta.indom === PM_INDOM_NULL,
  ]
  let a = prepared(numbersOf(left), left.type, node.operandType, node.left)
  let b = prepared(numbersOf(right), right.type, node.operandType, node.right)
  let inst = left.inst
  if (leftIsSingular && !rightIsSingular) {
    inst = right.inst
    a = repeated(a, inst.length)
  } else if (rightIsSingular) b = repeated(b, inst.length)
  else {
    const places = commonPlaces(left.inst, right.inst)
    if (places !== undefined) {
      inst = gatherInst(left.inst, places.left)
      a = gather(a, places.left)
      b = gather(b, places.right)
    }
  }
  return columnOf(type, inst, combine(node.op, node.operandType, a, b))
}

function prepared(
  nums: Numbers,
  from: number,
  to: number,
  steps: Parameters<typeof scaleNumbers>[1],
): Numbers {
  const converted = convertNumbers(nums, from, to)
  return steps.length === 0 ? converted : scaleNumbers(converted, steps)
}

function repeated(nums: Numbers, count: number): Numbers {
  if (count === nums.length) return nums
  return nums instanceof Float64Array
    ? new Float64Array(count).fill(nums[0]!)
    : new BigInt64Array(count).fill(nums[0]!)
}

function functionOf(node: Bound & { kind: 'function' }, evaluation: Evaluation): Column {
  const { name, meta, slot, factor, operand } = node
  const column = evaluate(operand, evaluation)
  if (name === 'instant') return column
  if (name === 'scalar') return firstOnly(column)
  const before = evaluation.slots[slot]
  const { timestamp } = evaluation
  evaluation.slots[slot] = { timestamp, column }
  const now = decoded(column)
  evaluation.slots[slot] = { timestamp, column: now }
  return change(now, timestamp, before, {
    name,
    type: meta.type,
    sem: operand.meta.sem,
    factor,
  })
}

function rescale(column: Column, from: number, to: number): Column {
  const { type, status, inst } = column
  if (status <= 0) return noValues(type, status)
  const nums = numbersOf(column)
  const isReal = type === PM_TYPE_DOUBLE || type === PM_TYPE_FLOAT
  if (isReal && unpackUnits(from).extraUnit === 0) {
    const factor = convScale(type, 1, from, to) as number
    const values = new Float64Array(status)
    for (let i = 0; i < status; i++) values[i] = (nums as Float64Array)[i]! * factor
    return columnOf(type, inst, type === PM_TYPE_FLOAT ? values.map(Math.fround) : values)
  }
  const kept: number[] = []
  const values: (number | bigint)[] = []
  for (let i = 0; i < status; i++) {
    try {
      values.push(convScale(type, exactAt(nums, i, type), from, to))
      kept.push(i)
    } catch {
      // Skips a value that does not fit its type in the new scale.
    }
  }
  return columnOf(
    type,
    gatherInst(inst, kept),
    isInt64(type) ? packExact(values) : Float64Array.from(values as number[]),
  )
}

function oneInstance(node: Bound & { kind: 'instance' }, column: Column, evaluation: Evaluation): Column {
  if (column.status <= 0) return column
  if (node.meta.indom === PM_INDOM_NULL) return noValues(column.type)
  const names = evaluation.namesOf(node.meta.indom)
  const { inst } = column
  const kept: number[] = []
  let isWhole = false
  for (let i = 0; i < inst.length; i++) {
    const name = names.get(inst[i]!)
    if (name === undefined) continue
    if (name === node.instance) {
      kept.splice(0, isWhole ? 0 : kept.length)
      isWhole = true
      kept.push(i)
    } else if (!isWhole && firstWord(name) === node.instance) kept.push(i)
  }
  return pick(column, kept)
}

function matching(node: Bound & { kind: 'match' }, column: Column, evaluation: Evaluation): Column {
  if (column.status <= 0) return column
  if (node.meta.indom === PM_INDOM_NULL) return noValues(column.type)
  const names = evaluation.namesOf(node.meta.indom)
  const kept: number[] = []
  for (let i = 0; i < column.inst.length; i++) {
    const name = names.get(column.inst[i]!)
    if (name !== undefined && evaluation.patterns.test(node.pattern, firstWord(name)) !== node.isNegated)
      kept.push(i)
  }
  return pick(column, kept)
}

/**
 * Gives each instance the value of the branch that its guard selects; instances without a value there, or without a guard, are
 * skipped. If a branch is empty, and not `novalue()`, the result is empty.
 */
function ternary(node: Bound & { kind: 'ternary' }, evaluation: Evaluation): Column {
  const guard = evaluate(node.guard, evaluation)
  const [a, b] = [evaluate(node.a, evaluation), evaluate(node.b, evaluation)]
  const { type, indom } = node.meta
  const failed = [guard, a, b].find(({ status }) => status < 0)
  if (failed !== undefined) return noValues(type, failed.status)
  if (guard.status === 0) return noValues(type)
  if (isEmpty(node.a, a) || isEmpty(node.b, b)) return noValues(type)
  const truth = numbersOf(guard)
  const [ofA, ofB] = [branchOf(node.a, a), branchOf(node.b, b)]
  if (node.guard.meta.indom === PM_INDOM_NULL) {
    const [chosen, other] = isTrue(truth[0]!) ? [ofA, ofB] : [ofB, ofA]
    if (indom === PM_INDOM_NULL || !chosen.isSingular) return chosen.column
    return merged(type, other.column.inst, () => chosen)
  }
  return merged(type, guard.inst, (i) => (isTrue(truth[i]!) ? ofA : ofB))
}

/** Returns whether a branch is empty, but not `novalue()`. */
function isEmpty(node: Bound, { status }: Column): boolean {
  return status === 0 && !(node.kind === 'none' && node.isNovalue)
}

interface Branch {
  readonly column: Column
  readonly isSingular: boolean
  /** Index of each instance. */
  readonly places: ReadonlyMap<number, number>
}

function branchOf({ meta }: Bound, column: Column): Branch {
  const isSingular = meta.indom === PM_INDOM_NULL
  const places = new Map<number, number>()
  if (!isSingular) for (let i = 0; i < column.inst.length; i++) places.set(column.inst[i]!, i)
  return { column, isSingular, places }
}

/** Returns the value of the selected branch for each instance. */
function merged(type: number, insts: Int32Array, choose: (i: number) => Branch): Column {
  const kept: number[] = []
  const values: Value[] = []
  for (let i = 0; i < insts.length; i++) {
    const { column, isSingular, places } = choose(i)
    const place = isSingular ? 0 : places.get(insts[i]!)
    if (place === undefined || place >= column.status) continue
    kept.push(insts[i]!)
    values.push(valueAt(column, place))
  }
  const inst = Int32Array.from(kept)
  if (!isNumeric(type)) return columnOfSet(makeSet(0, type, inst, values), type)
  const nums = values as (number | bigint)[]
  return columnOf(type, inst, isInt64(type) ? packExact(nums) : Float64Array.from(nums as number[]))
}

function valueAt({ nums, set, type }: Column, i: number): Value {
  return nums === undefined ? extract(set!, i, type) : exactAt(nums, i, type)
}
