/** Parsing values as users write them. pmstore(1) */
import { PcpError } from './errors.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  typeStr,
} from './types.ts'
import type { Value } from './values.ts'

/** Lowest and highest value of each integer type. */
const RANGES: ReadonlyMap<number, readonly [bigint, bigint]> = new Map([
  [PM_TYPE_32, [-(2n ** 31n), 2n ** 31n - 1n]],
  [PM_TYPE_U32, [0n, 2n ** 32n - 1n]],
  [PM_TYPE_64, [-(2n ** 63n), 2n ** 63n - 1n]],
  [PM_TYPE_U64, [0n, 2n ** 64n - 1n]],
])

const INTEGER = /^\s*([-+]?)(?:0x([0-9a-f]+)|(\d*))$/i
const REAL = /^\s*[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?|nan)?$/i

/**
 * Parses a value of a type as the C library does: decimal or hexadecimal integers, floating point numbers, any text for
 * strings; empty text is zero. PM_ERR_CONV if the text is not of the type, ERANGE if the value does not fit.
 */
export function parseValue(text: string, type: number): Value {
  if (type === PM_TYPE_STRING) return text
  if (type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE) return parseReal(text, type)
  const range = RANGES.get(type)
  const match = INTEGER.exec(text)
  if (range === undefined || match === null)
    throw new PcpError('PM_ERR_CONV', `"${text}" is not a valid ${typeStr(type)}`)
  const [, sign, hex, decimal] = match
  const size = hex === undefined ? BigInt(decimal || '0') : BigInt(`0x${hex}`)
  let value = sign === '-' ? -size : size
  // The C library reads a negative number as its two's complement.
  if (type === PM_TYPE_U64 && value < 0n && size <= range[1]) value += 2n ** 64n
  if (value < range[0] || value > range[1])
    throw new PcpError('ERANGE', `"${text}" does not fit ${typeStr(type)}`)
  return value
}

/** Largest and smallest magnitude of each floating point type: denormal numbers are rejected. */
const REAL_SIZES: ReadonlyMap<number, readonly [number, number]> = new Map([
  [PM_TYPE_FLOAT, [2 ** 128 - 2 ** 104, 2 ** -126]],
  [PM_TYPE_DOUBLE, [Number.MAX_VALUE, 2 ** -1022]],
])

function parseReal(text: string, type: number): number {
  if (!REAL.test(text)) throw new PcpError('PM_ERR_CONV', `"${text}" is not a valid ${typeStr(type)}`)
  const word = text.trim().toLowerCase()
  if (word.endsWith('nan')) return Number.NaN
  if (word.includes('inf')) return word.startsWith('-') ? -Infinity : Infinity
  const value = Number(word)
  const size = Math.abs(value)
  const [greatest, least] = REAL_SIZES.get(type)!
  const isZero = !/[1-9]/.test(word.replace(/e.*/, ''))
  if (size > greatest || (size < least && !isZero))
    throw new PcpError('ERANGE', `"${text}" does not fit ${typeStr(type)}`)
  return value
}
