/** The values of one node in one fetch, as columns. docs/reference/derived-metrics.md, docs/decisions/values.md */
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_DPTR,
  PM_VAL_INSITU,
} from '../model/types.ts'
import { BLOCK_HEADER, extract, extractNumber } from '../model/value-set.ts'
import { emptySet, type ValueSet } from '../model/values.ts'
import { isNumeric } from './meta.ts'

/** Numbers: doubles while all are exact, 64-bit integers otherwise. */
export type Numbers = Float64Array | BigInt64Array

/**
 * Values of a node, either unchanged in `set` or computed in `nums`. 64-bit integers in `nums` are doubles if
 * all of them are exact; in a BigInt64Array they are in two's complement, including those of type U64.
 */
export interface Column {
  /** Number of values, or a negative error status. */
  readonly status: number
  readonly inst: Int32Array
  /** PM_TYPE_*. */
  readonly type: number
  readonly set: ValueSet | undefined
  readonly nums: Numbers | undefined
}

const NO_INST = new Int32Array(0)
const NO_NUMBERS = new Float64Array(0)
const NO_BYTES = new Uint8Array(0)
const SINGULAR: Int32Array = Int32Array.of(-1)
const MAX_SAFE = Number.MAX_SAFE_INTEGER
/** Bytes of a block with a 64-bit number. */
const BLOCK_64 = 12
/** Up to this upper half, a 64-bit integer is exact as a double, whatever its lower half. */
const MOST_HIGH = 0x1f_fffe

/** Returns a column without values, or with an error. */
export function noValues(type: number, status = 0): Column {
  return { status, inst: NO_INST, type, set: undefined, nums: NO_NUMBERS }
}

/** Returns a column of a value set, borrowed. */
export function columnOfSet(set: ValueSet, type: number): Column {
  return { status: set.status, inst: set.inst, type, set, nums: undefined }
}

/** Returns a column of numbers with their instances. */
export function columnOf(type: number, inst: Int32Array, nums: Numbers): Column {
  return { status: inst.length, inst, type, set: undefined, nums }
}

/** Returns a column of one number without an instance. */
export function singular(type: number, value: number): Column {
  return columnOf(type, SINGULAR, Float64Array.of(value))
}

/** Returns whether a type is one of the 64-bit integers. */
export function isInt64(type: number): boolean {
  return type === PM_TYPE_64 || type === PM_TYPE_U64
}

/** Returns the numbers of a column without error. PM_ERR_CONV and PM_ERR_IPC if its set does not match its type. */
export function numbersOf({ nums, set, type, status }: Column): Numbers {
  if (nums !== undefined) return nums
  const count = Math.max(0, status)
  if (set === undefined || !isNumeric(type)) throw new PcpError('PM_ERR_CONV')
  const values = new Float64Array(count)
  if (set.format === PM_VAL_INSITU && (type === PM_TYPE_32 || type === PM_TYPE_U32)) {
    const { word } = set
    if (type === PM_TYPE_32) for (let i = 0; i < count; i++) values[i] = word[i]!
    else for (let i = 0; i < count; i++) values[i] = word[i]! >>> 0
    return values
  }
  if (set.format !== PM_VAL_INSITU && readBlocks(set, type, values)) return values
  for (let i = 0; i < count; i++) {
    const value = extractNumber(set, i, type)
    if (isInt64(type) && !Number.isSafeInteger(value)) return exactNumbers(set, type)
    values[i] = value
  }
  return values
}

/** Fills `values` from blocks of 64 bits; returns false for other blocks, and for integers that are not exact as doubles. */
function readBlocks({ bytes, word }: ValueSet, type: number, values: Float64Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const last = bytes.byteLength - BLOCK_64
  const header = (type << 24) | BLOCK_64
  if (type !== PM_TYPE_DOUBLE && !isInt64(type)) return false
  for (let i = 0; i < values.length; i++) {
    const at = word[i]!
    if (!(at >= 0 && at <= last) || view.getInt32(at) !== header) return false
    if (type === PM_TYPE_DOUBLE) values[i] = view.getFloat64(at + BLOCK_HEADER)
    else {
      const high = type === PM_TYPE_U64 ? view.getUint32(at + 4) : view.getInt32(at + 4)
      if (high > MOST_HIGH || high < -MOST_HIGH) return false
      values[i] = high * 0x1_0000_0000 + view.getUint32(at + 8)
    }
  }
  return true
}

function exactNumbers(set: ValueSet, type: number): BigInt64Array {
  const values = new BigInt64Array(set.status)
  for (let i = 0; i < values.length; i++) values[i] = BigInt(extract(set, i, type) as number | bigint)
  return values
}

/** Returns the column with decoded numbers, for repeated use. PM_ERR_CONV and PM_ERR_IPC as `numbersOf`. */
export function decoded(column: Column): Column {
  if (column.nums !== undefined || column.status <= 0) return column
  return columnOf(column.type, column.inst, numbersOf(column))
}

/** Converts integers to 64 bits. */
export function toBig(nums: Numbers): BigInt64Array {
  if (nums instanceof BigInt64Array) return nums
  const values = new BigInt64Array(nums.length)
  for (let i = 0; i < values.length; i++) values[i] = BigInt(nums[i]!)
  return values
}

/** Returns the `i`th number exactly: unsafe 64-bit integers are bigints. */
export function exactAt(nums: Numbers, i: number, type: number): number | bigint {
  const value = nums[i]!
  if (typeof value === 'number') return value
  const exact = type === PM_TYPE_U64 ? BigInt.asUintN(64, value) : value
  const number = Number(exact)
  return Number.isSafeInteger(number) ? number : exact
}

/** Converts numbers of a type to doubles; integers beyond 2^53 are rounded. */
export function toDoubles(nums: Numbers, type: number): Float64Array {
  if (nums instanceof Float64Array) return nums
  const values = new Float64Array(nums.length)
  for (let i = 0; i < values.length; i++) values[i] = Number(exactAt(nums, i, type))
  return values
}

/** Packs exact values: doubles if all are safe integers. */
export function packExact(values: readonly (number | bigint)[]): Numbers {
  const doubles = new Float64Array(values.length)
  for (let i = 0; i < doubles.length; i++) {
    const value = values[i]!
    if (typeof value === 'bigint' && (value > MAX_SAFE || value < -MAX_SAFE)) {
      const wide = new BigInt64Array(values.length)
      for (let j = 0; j < wide.length; j++) wide[j] = BigInt(values[j]!)
      return wide
    }
    doubles[i] = Number(value)
  }
  return doubles
}

/** Returns the values at `indices`. */
export function pick(column: Column, indices: readonly number[] | Int32Array): Column {
  const count = indices.length
  if (count === column.status) return column
  const inst = new Int32Array(count)
  for (let i = 0; i < count; i++) inst[i] = column.inst[indices[i]!]!
  const { set, nums, type } = column
  if (nums !== undefined) return columnOf(type, inst, gather(nums, indices))
  if (set === undefined || count === 0) return noValues(type)
  const word = new Int32Array(count)
  for (let i = 0; i < count; i++) word[i] = set.word[indices[i]!]!
  return columnOfSet({ ...set, status: count, inst, word }, type)
}

/** Returns the numbers at `indices`. */
export function gather(nums: Numbers, indices: readonly number[] | Int32Array): Numbers {
  const count = indices.length
  if (nums instanceof BigInt64Array) {
    const values = new BigInt64Array(count)
    for (let i = 0; i < count; i++) values[i] = nums[indices[i]!]!
    return values
  }
  const values = new Float64Array(count)
  for (let i = 0; i < count; i++) values[i] = nums[indices[i]!]!
  return values
}

/** Returns the first value, if any, without its instance. */
export function firstOnly(column: Column): Column {
  if (column.status <= 0) return column
  const { set, nums, inst, type } = pick(column, [0])
  if (inst[0] === -1) return { status: 1, inst, type, set, nums }
  return set === undefined
    ? { status: 1, inst: SINGULAR, type, set, nums }
    : columnOfSet({ ...set, inst: SINGULAR }, type)
}

/** Returns a column as a value set of the metric `pmid`. */
export function setOf(column: Column, pmid: Pmid): ValueSet {
  const { status, set, nums, inst, type } = column
  if (status <= 0 || (set === undefined && nums === undefined)) return emptySet(pmid, Math.min(0, status))
  if (set !== undefined) return { ...set, pmid }
  if (type === PM_TYPE_32 || type === PM_TYPE_U32) {
    const word = new Int32Array(status)
    const values = nums as Float64Array
    for (let i = 0; i < status; i++) word[i] = values[i]! | 0
    return { pmid, status, format: PM_VAL_INSITU, inst, word, bytes: NO_BYTES }
  }
  const size = type === PM_TYPE_FLOAT ? 8 : BLOCK_64
  // One buffer for both: allocating one costs more than filling it.
  const store = new ArrayBuffer((4 + size) * status)
  const word = new Int32Array(store, 0, status)
  const bytes = new Uint8Array(store, 4 * status)
  const view = new DataView(store, 4 * status)
  const header = (type << 24) | size
  for (let i = 0; i < status; i++) {
    word[i] = i * size
    view.setInt32(i * size, header)
  }
  writeNumbers(view, nums!, type, size)
  return { pmid, status, format: PM_VAL_DPTR, inst, word, bytes }
}

function writeNumbers(view: DataView, nums: Numbers, type: number, size: number): void {
  let at = BLOCK_HEADER
  if (nums instanceof BigInt64Array) {
    for (let i = 0; i < nums.length; i++, at += size) view.setBigInt64(at, nums[i]!)
  } else if (type === PM_TYPE_DOUBLE) {
    for (let i = 0; i < nums.length; i++, at += size) view.setFloat64(at, nums[i]!)
  } else if (type === PM_TYPE_FLOAT) {
    for (let i = 0; i < nums.length; i++, at += size) view.setFloat32(at, nums[i]!)
  } else {
    for (let i = 0; i < nums.length; i++, at += size) {
      const high = Math.floor(nums[i]! / 0x1_0000_0000)
      view.setInt32(at, high)
      view.setUint32(at + 4, nums[i]! - high * 0x1_0000_0000)
    }
  }
}
