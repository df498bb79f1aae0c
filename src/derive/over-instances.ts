/** Functions over all instances of an operand. docs/reference/derived-metrics.md */
import { PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U32, PM_TYPE_U64 } from '../model/types.ts'
import {
  type Column,
  columnOf,
  exactAt,
  firstOnly,
  isInt64,
  type Numbers,
  noValues,
  numbersOf,
  pick,
  singular,
  toBig,
  toDoubles,
} from './column.ts'
import type { AggregateName, RankName } from './expr.ts'

/** Aggregates all instances to one value. An empty operand has no extremes; errors are passed on except by `count`. */
export function aggregate(name: AggregateName, column: Column): Column {
  if (name === 'count') return singular(PM_TYPE_U32, Math.max(0, column.status))
  const { type, status } = column
  if (status < 0) return noValues(name === 'avg' ? PM_TYPE_FLOAT : type, status)
  if (name === 'sum') return sum(column)
  if (name === 'avg') return singular(PM_TYPE_FLOAT, average(toDoubles(numbersOf(column), type)))
  return extreme(name, column)
}

function sum(column: Column): Column {
  const { type } = column
  const nums = numbersOf(column)
  if (isInt64(type)) return columnOf(type, singular(type, 0).inst, sumOfWide(nums, type))
  let total = 0
  for (const value of nums as Float64Array) total = wrapped(total + value, type)
  return singular(type, total)
}

function wrapped(value: number, type: number): number {
  if (type === PM_TYPE_DOUBLE) return value
  if (type === PM_TYPE_FLOAT) return Math.fround(value)
  return type === PM_TYPE_U32 ? value >>> 0 : value | 0
}

/** Sums as doubles while the result is exact. */
function sumOfWide(nums: Numbers, type: number): Numbers {
  if (nums instanceof Float64Array) {
    let total = 0
    let isExact = true
    for (const value of nums) {
      total += value
      isExact &&= Number.isSafeInteger(total)
    }
    if (isExact && (total >= 0 || type !== PM_TYPE_U64)) return Float64Array.of(total)
  }
  let total = 0n
  for (const value of toBig(nums)) total += value
  return BigInt64Array.of(BigInt.asIntN(64, total))
}

/** Averages in single precision, dividing each value before it is added, as the reference does. */
function average(values: Float64Array): number {
  const count = values.length
  let total = 0
  for (const value of values) total = Math.fround(total + Math.fround(Math.fround(value) / count))
  return total
}

function extreme(name: 'max' | 'min', column: Column): Column {
  if (column.status === 0) return column
  const nums = numbersOf(column)
  const { type } = column
  let best = 0
  let value = exactAt(nums, 0, type)
  for (let i = 1; i < column.status; i++) {
    const other = exactAt(nums, i, type)
    if (name === 'max' ? other > value : other < value) {
      best = i
      value = other
    }
  }
  return firstOnly(pick({ ...column, set: undefined, nums }, [best]))
}

/**
 * Returns the `by` largest or smallest values in the operand's order, the first ones of equal values; or the quantile `by`,
 * interpolated between two values. NaN is ignored.
 */
export function rank(name: RankName, by: number, column: Column): Column {
  const { status, type } = column
  if (status <= 0) return noValues(name === 'quantile' ? PM_TYPE_DOUBLE : type, status)
  const nums = numbersOf(column)
  const doubles = toDoubles(nums, type)
  const order: number[] = []
  for (let i = 0; i < status; i++) if (!Number.isNaN(doubles[i]!)) order.push(i)
  const isExact = isInt64(type) && nums instanceof BigInt64Array
  const less = (i: number, j: number): number => {
    const [x, y] = isExact ? [exactAt(nums, i, type), exactAt(nums, j, type)] : [doubles[i]!, doubles[j]!]
    return x < y ? -1 : x > y ? 1 : 0
  }
  if (name === 'quantile') return quantile(by, doubles, order.sort(less))
  order.sort(name === 'topk' ? (i, j) => less(j, i) : less)
  return pick(
    { ...column, set: undefined, nums },
    order.slice(0, by).sort((i, j) => i - j),
  )
}

function quantile(by: number, values: Float64Array, order: readonly number[]): Column {
  if (order.length === 0) return noValues(PM_TYPE_DOUBLE)
  const at = by * (order.length - 1)
  const low = values[order[Math.floor(at)]!]!
  const high = values[order[Math.ceil(at)]!]!
  const share = at - Math.floor(at)
  return singular(PM_TYPE_DOUBLE, share === 0 ? low : low * (1 - share) + high * share)
}
