/** Arithmetic on columns with C's semantics: integers wrap at their type's width. docs/reference/derived-metrics.md */
import { convertValue } from '../model/extract-value.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../model/types.ts'
import { exactAt, isInt64, type Numbers, toBig, toDoubles } from './column.ts'
import type { BinaryOp } from './expr.ts'
import type { Scaling } from './meta.ts'

const MAX_SAFE = Number.MAX_SAFE_INTEGER

/** Converts numbers to a wider type by C's rules: a negative integer becomes a large unsigned one. */
export function convertNumbers(nums: Numbers, from: number, to: number): Numbers {
  if (from === to) return nums
  switch (to) {
    case PM_TYPE_DOUBLE:
      return toDoubles(nums, from)
    case PM_TYPE_FLOAT: {
      const floats = new Float64Array(nums.length)
      for (let i = 0; i < floats.length; i++)
        floats[i] = convertValue(exactAt(nums, i, from), from, to) as number
      return floats
    }
    case PM_TYPE_U32:
      return mapDoubles(nums as Float64Array, (value) => value >>> 0)
    case PM_TYPE_U64:
      return nums instanceof Float64Array && nums.some((value) => value < 0) ? toBig(nums) : nums
    default:
      return nums
  }
}

/** Converts values to the scale of the result. */
export function scaleNumbers(nums: Numbers, steps: readonly Scaling[]): Numbers {
  let scaled = nums as Float64Array // values to scale are DOUBLE already
  for (const { factor, divides } of steps)
    scaled = mapDoubles(scaled, divides ? (value) => value / factor : (value) => value * factor)
  return scaled
}

function mapDoubles(nums: Float64Array, map: (value: number) => number): Float64Array {
  const values = new Float64Array(nums.length)
  for (let i = 0; i < values.length; i++) values[i] = map(nums[i]!)
  return values
}

/** Computes `a op b` element by element. Both sides have `type`, and so has the result of `+ - * /`; other operators yield 0 and 1. */
export function combine(op: BinaryOp, type: number, a: Numbers, b: Numbers): Numbers {
  switch (op) {
    case '+':
    case '-':
    case '*':
      return isInt64(type) ? wide(op, type, a, b) : narrow(op, type, a as Float64Array, b as Float64Array)
    case '/':
      return quotients(a as Float64Array, b as Float64Array)
    case '&&':
    case '||':
      return truths(op, a, b)
    default:
      return a instanceof Float64Array && b instanceof Float64Array
        ? compare(op, a, b)
        : compareWide(op, type, toBig(a), toBig(b))
  }
}

function narrow(op: '+' | '-' | '*', type: number, a: Float64Array, b: Float64Array): Float64Array {
  const values = new Float64Array(a.length)
  if (op === '+') for (let i = 0; i < values.length; i++) values[i] = a[i]! + b[i]!
  else if (op === '-') for (let i = 0; i < values.length; i++) values[i] = a[i]! - b[i]!
  else if (type === PM_TYPE_32 || type === PM_TYPE_U32)
    for (let i = 0; i < values.length; i++) values[i] = Math.imul(a[i]!, b[i]!)
  else for (let i = 0; i < values.length; i++) values[i] = a[i]! * b[i]!
  if (type === PM_TYPE_32) for (let i = 0; i < values.length; i++) values[i] = values[i]! | 0
  else if (type === PM_TYPE_U32) for (let i = 0; i < values.length; i++) values[i] = values[i]! >>> 0
  else if (type === PM_TYPE_FLOAT) for (let i = 0; i < values.length; i++) values[i] = Math.fround(values[i]!)
  return values
}

/** 64-bit integers: computed as doubles while all operands and results are exact. */
function wide(op: '+' | '-' | '*', type: number, a: Numbers, b: Numbers): Numbers {
  if (a instanceof Float64Array && b instanceof Float64Array) {
    const values = exactResults(op, a, b, type === PM_TYPE_U64 ? 0 : -MAX_SAFE)
    if (values !== undefined) return values
  }
  const [x, y] = [toBig(a), toBig(b)]
  const values = new BigInt64Array(x.length)
  if (op === '+') for (let i = 0; i < values.length; i++) values[i] = x[i]! + y[i]!
  else if (op === '-') for (let i = 0; i < values.length; i++) values[i] = x[i]! - y[i]!
  else for (let i = 0; i < values.length; i++) values[i] = x[i]! * y[i]!
  return values
}

/** Returns the results if all are safe integers of at least `least`. */
function exactResults(
  op: '+' | '-' | '*',
  a: Float64Array,
  b: Float64Array,
  least: number,
): Float64Array | undefined {
  const values = new Float64Array(a.length)
  for (let i = 0; i < values.length; i++) {
    const x = a[i]!
    const y = b[i]!
    const value = op === '+' ? x + y : op === '-' ? x - y : x * y
    if (!(value >= least && value <= MAX_SAFE)) return undefined
    values[i] = value + 0 // + 0 turns a negative zero into 0
  }
  return values
}

/** Zero divided by anything is zero, even by zero. */
function quotients(a: Float64Array, b: Float64Array): Float64Array {
  const values = new Float64Array(a.length)
  for (let i = 0; i < values.length; i++) values[i] = a[i] === 0 ? 0 : a[i]! / b[i]!
  return values
}

function truths(op: '&&' | '||', a: Numbers, b: Numbers): Float64Array {
  const values = new Float64Array(a.length)
  for (let i = 0; i < values.length; i++) {
    const [x, y] = [isTrue(a[i]!), isTrue(b[i]!)]
    values[i] = (op === '&&' ? x && y : x || y) ? 1 : 0
  }
  return values
}

/** Everything but zero is true, including NaN. */
export function isTrue(value: number | bigint): boolean {
  return typeof value === 'bigint' ? value !== 0n : value !== 0
}

type Relation = '<' | '<=' | '==' | '>=' | '>' | '!='

function compare(op: Relation, a: Float64Array, b: Float64Array): Float64Array {
  const values = new Float64Array(a.length)
  for (let i = 0; i < values.length; i++) if (holds(op, a[i]!, b[i]!)) values[i] = 1
  return values
}

function compareWide(op: Relation, type: number, a: BigInt64Array, b: BigInt64Array): Float64Array {
  const values = new Float64Array(a.length)
  for (let i = 0; i < values.length; i++)
    if (holds(op, exactAt(a, i, type), exactAt(b, i, type))) values[i] = 1
  return values
}

function holds(op: Relation, a: number | bigint, b: number | bigint): boolean {
  switch (op) {
    case '<':
      return a < b
    case '<=':
      return a <= b
    case '==':
      // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint may be the same integer
      return a == b
    case '>=':
      return a >= b
    case '>':
      return a > b
    default:
      // biome-ignore lint/suspicious/noDoubleEquals: as above
      return a != b
  }
}

/** Negates numbers; the result has type `to`, the signed type of the operand's width. */
export function negate(nums: Numbers, to: number): Numbers {
  if (to === PM_TYPE_DOUBLE || to === PM_TYPE_FLOAT)
    return mapDoubles(nums as Float64Array, (value) => -value)
  if (to === PM_TYPE_32) return mapDoubles(nums as Float64Array, (value) => (0 - value) | 0)
  if (nums instanceof Float64Array) return mapDoubles(nums, (value) => 0 - value)
  const values = new BigInt64Array(nums.length)
  for (let i = 0; i < values.length; i++) values[i] = -nums[i]!
  return values
}

/** Returns 1 for every zero and 0 otherwise. */
export function not(nums: Numbers): Float64Array {
  const values = new Float64Array(nums.length)
  for (let i = 0; i < values.length; i++) values[i] = isTrue(nums[i]!) ? 0 : 1
  return values
}

/** Returns the growth of values of `type`, signed, with the width of the result of `delta`. */
export function differences(now: Numbers, before: Numbers, type: number): Numbers {
  if (type === PM_TYPE_64) return wide('-', PM_TYPE_64, now, before)
  if (type === PM_TYPE_U64) {
    if (now instanceof Float64Array && before instanceof Float64Array)
      return narrow('-', PM_TYPE_DOUBLE, now, before)
    const [x, y] = [toBig(now), toBig(before)]
    const values = new Float64Array(x.length)
    for (let i = 0; i < values.length; i++)
      values[i] = Number(BigInt.asUintN(64, x[i]!) - BigInt.asUintN(64, y[i]!))
    return values
  }
  // U32 becomes 64: the difference is exact as a double.
  return narrow(
    '-',
    type === PM_TYPE_U32 ? PM_TYPE_DOUBLE : type,
    now as Float64Array,
    before as Float64Array,
  )
}
