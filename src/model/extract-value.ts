/** Conversion of values between types. pmExtractValue(3) */
import { formatG } from '../base/printf.ts'
import { PcpError } from './errors.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_TYPE_UNKNOWN,
  PM_VAL_INSITU,
  typeStr,
} from './types.ts'
import { blockType, extract } from './value-set.ts'
import type { Value, ValueSet } from './values.ts'

/** Longest text of a number (vectors convert/extract.json). */
const MAX_NUMBER_TEXT = 21

/** Ranges of integer types: [lowest, first too large]. */
const INTEGER_RANGE: { readonly [type: number]: readonly [bigint, bigint] } = {
  [PM_TYPE_32]: [-(2n ** 31n), 2n ** 31n],
  [PM_TYPE_U32]: [0n, 2n ** 32n],
  [PM_TYPE_64]: [-(2n ** 63n), 2n ** 63n],
  [PM_TYPE_U64]: [0n, 2n ** 64n],
}

/**
 * Returns the `i`th value of a set of type `from`, converted to type `to`. PM_ERR_CONV without a conversion, PM_ERR_TRUNC
 * and PM_ERR_SIGN if the value does not fit, PM_ERR_IPC and PM_ERR_VALUE as `extract`. @see pmExtractValue(3)
 */
export function extractValue(set: ValueSet, i: number, from: number, to: number): Value {
  if (from === PM_TYPE_AGGREGATE && set.format !== PM_VAL_INSITU) {
    const stored = blockType(set, i)
    if (stored !== PM_TYPE_AGGREGATE && stored !== 0) throw noConversion(stored, to)
  }
  return convertValue(extract(set, i, from), from, to)
}

/** Converts a value of type `from` to type `to`, by the rules of `extractValue`. */
export function convertValue(value: Value, from: number, to: number): Value {
  if (typeof value === 'string') {
    if (to === PM_TYPE_STRING) return value
  } else if (typeof value === 'object') {
    if (from === PM_TYPE_AGGREGATE && to === PM_TYPE_AGGREGATE) return value
  } else if (to === PM_TYPE_STRING) {
    return numberText(value, from)
  } else if (to === PM_TYPE_DOUBLE) {
    return Number(value)
  } else if (to === PM_TYPE_FLOAT) {
    return typeof value === 'bigint' ? nearestFloat(value) : Math.fround(value)
  } else if (INTEGER_RANGE[to] !== undefined) {
    return isReal(from) ? realToInteger(Number(value), from, to) : integerToInteger(value, from, to)
  }
  throw noConversion(from, to)
}

/**
 * Returns an integer in its shortest JavaScript form: a number if that is exact, else a bigint. PM_ERR_SIGN or PM_ERR_TRUNC if it
 * does not fit the integer type `type`.
 */
export function fitInteger(value: bigint, type: number): number | bigint {
  const [low, high] = INTEGER_RANGE[type]!
  if (value < low && low === 0n)
    throw new PcpError('PM_ERR_SIGN', `${value} is negative and does not fit ${typeStr(type)}`)
  if (value < low || value >= high)
    throw new PcpError('PM_ERR_TRUNC', `${value} does not fit ${typeStr(type)}`)
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function isReal(type: number): boolean {
  return type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE
}

function integerToInteger(value: number | bigint, from: number, to: number): number | bigint {
  if (from === to || (from === PM_TYPE_UNKNOWN && to === PM_TYPE_32)) return value
  return fitInteger(BigInt(value), to)
}

function realToInteger(value: number, from: number, to: number): number | bigint {
  // C leaves the conversion of NaN undefined.
  if (Number.isNaN(value)) throw noConversion(from, to)
  const [low, high] = INTEGER_RANGE[to]!
  if (value < 0 && low === 0n)
    throw new PcpError('PM_ERR_SIGN', `${value} is negative and does not fit ${typeStr(to)}`)
  // The 32-bit limits themselves are rejected, the 64-bit limits are accepted (vectors convert/extract.json).
  const tooLarge = to === PM_TYPE_32 || to === PM_TYPE_U32 ? Number(high) - 1 : Number(high)
  const tooSmall = to === PM_TYPE_32 ? value <= -tooLarge : value < Number(low)
  if (value >= tooLarge || tooSmall)
    throw new PcpError('PM_ERR_TRUNC', `${value} does not fit ${typeStr(to)}`)
  const whole = Math.trunc(value) + 0 // no negative zero
  return Number.isSafeInteger(whole) ? whole : BigInt(whole)
}

function numberText(value: number | bigint, from: number): string {
  const text = isReal(from) ? formatG(Number(value), 16) : String(value)
  return text.slice(0, MAX_NUMBER_TEXT)
}

/** Rounds once, as C does; bigint to double to single would round twice. Dropped bits are recorded in the lowest kept bit. */
function nearestFloat(value: bigint): number {
  const size = value < 0n ? -value : value
  const kept = (size >> 24n) | ((size & 0xffffffn) === 0n ? 0n : 1n)
  const float = Math.fround(Number(kept) * 2 ** 24)
  return value < 0n ? -float : float
}

function noConversion(from: number, to: number): PcpError {
  return new PcpError('PM_ERR_CONV', `No conversion from ${typeStr(from)} to ${typeStr(to)}`)
}
