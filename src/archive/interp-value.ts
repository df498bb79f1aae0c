/**
 * The value of a counter between two observations. docs/formats/archive.md §10
 *
 * Values are 64 bits in two words, as archives hold them; 32-bit types use the first word.
 */
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../model/types.ts'

/** Two words of 32 bits: the big-endian bytes of a value. */
export interface Words {
  high: number
  low: number
}

/** An observation on either side, and where between them the value is wanted. */
export interface Between {
  readonly prior: Words
  readonly next: Words
  /** Seconds from the prior observation to the wanted moment. */
  readonly elapsed: number
  /** Seconds from the prior observation to the next one. */
  readonly span: number
}

const scratch = new DataView(new ArrayBuffer(8))
const TWO_32 = 0x1_0000_0000
const INT32_MIN = -0x8000_0000
const INT64_MIN = -(2n ** 63n)

/**
 * Puts the interpolated value of a counter of `type` into `out`. A counter that decreased goes down evenly; with `wraps` an integer
 * went round once instead. `out` may be one of the observations.
 */
export function interpolateCounter(type: number, between: Between, wraps: boolean, out: Words): void {
  switch (type) {
    case PM_TYPE_32:
      out.high = between32(between, wraps)
      return
    case PM_TYPE_U32:
      out.high = betweenU32(between, wraps)
      return
    case PM_TYPE_64:
      between64(between, out)
      return
    case PM_TYPE_U64:
      betweenU64(between, wraps, out)
      return
    case PM_TYPE_FLOAT:
      out.high = betweenFloat(between)
      return
    case PM_TYPE_DOUBLE:
      betweenDouble(between, out)
  }
}

/** The nearest integer; of two equally near ones the greater. The reference is off by one below zero. */
function round(value: number): number {
  return Math.floor(0.5 + value)
}

function between32({ prior, next, elapsed, span }: Between, wraps: boolean): number {
  const [p, n] = [prior.high, next.high]
  if (n < p && wraps) return (p + round((elapsed * (TWO_32 - p + n)) / span)) | 0
  const value = round(p + (elapsed * ((n - p) | 0)) / span)
  return value < INT32_MIN || value > 0x7fff_ffff ? INT32_MIN : value
}

function betweenU32({ prior, next, elapsed, span }: Between, wraps: boolean): number {
  const [p, n] = [prior.high >>> 0, next.high >>> 0]
  if (n >= p) return round(p + (elapsed * (n - p)) / span) | 0
  if (!wraps) return round(p - (elapsed * (p - n)) / span) | 0
  return (p + round((elapsed * (TWO_32 - p + n)) / span)) | 0
}

function between64({ prior, next, elapsed, span }: Between, out: Words): void {
  const [p, n] = [toNumber(prior), toNumber(next)]
  if (Number.isSafeInteger(p) && Number.isSafeInteger(n)) {
    const value = round(p + (elapsed * (n - p)) / span)
    out.high = Math.floor(value / TWO_32) | 0
    out.low = value | 0
    if (Number.isSafeInteger(value)) return
  }
  const growth = BigInt.asIntN(64, toBigint(next) - toBigint(prior))
  fromReal(round(Number(toBigint(prior)) + (elapsed * Number(growth)) / span), 2 ** 63, out)
}

function betweenU64({ prior, next, elapsed, span }: Between, wraps: boolean, out: Words): void {
  const low = numberOf(PM_TYPE_U64, prior.high, prior.low)
  const high = numberOf(PM_TYPE_U64, next.high, next.low)
  if (Number.isSafeInteger(low) && Number.isSafeInteger(high) && (high >= low || !wraps)) {
    const value = round(low + (elapsed * (high - low)) / span)
    out.high = Math.floor(value / TWO_32) | 0
    out.low = value | 0
    return
  }
  const [p, n] = [BigInt.asUintN(64, toBigint(prior)), BigInt.asUintN(64, toBigint(next))]
  const grew = n >= p || wraps
  const change = Number(BigInt.asUintN(64, grew ? n - p : p - n))
  const move = (elapsed * change) / span
  fromReal(round(grew ? Number(p) + move : Number(p) - move), 2 ** 64, out)
}

function betweenFloat({ prior, next, elapsed, span }: Between): number {
  const [p, n] = [floatOf(prior.high), floatOf(next.high)]
  scratch.setFloat32(0, p + (elapsed * Math.fround(n - p)) / span)
  return scratch.getInt32(0)
}

function betweenDouble({ prior, next, elapsed, span }: Between, out: Words): void {
  const [p, n] = [doubleOf(prior), doubleOf(next)]
  scratch.setFloat64(0, p + (elapsed * (n - p)) / span)
  out.high = scratch.getInt32(0)
  out.low = scratch.getInt32(4)
}

function floatOf(word: number): number {
  scratch.setInt32(0, word)
  return scratch.getFloat32(0)
}

function doubleOf({ high, low }: Words): number {
  return doubleFrom(high, low)
}

function doubleFrom(high: number, low: number): number {
  scratch.setInt32(0, high)
  scratch.setInt32(4, low)
  return scratch.getFloat64(0)
}

/** A value of a numeric type as a double, from its two words; integers beyond 2^53 are rounded. */
export function numberOf(type: number, high: number, low: number): number {
  switch (type) {
    case PM_TYPE_U32:
      return high >>> 0
    case PM_TYPE_64:
      return high * TWO_32 + (low >>> 0)
    case PM_TYPE_U64:
      return (high >>> 0) * TWO_32 + (low >>> 0)
    case PM_TYPE_FLOAT:
      return floatOf(high)
    case PM_TYPE_DOUBLE:
      return doubleFrom(high, low)
    default:
      return high
  }
}

function toNumber({ high, low }: Words): number {
  return high * TWO_32 + (low >>> 0)
}

function toBigint({ high, low }: Words): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

/** An integer that is a double, as 64 bits; what does not fit below `limit` is the most negative one, as processors have it. */
function fromReal(value: number, limit: number, out: Words): void {
  const bits = value >= -(2 ** 63) && value < limit ? BigInt(value) : INT64_MIN
  out.high = Number(BigInt.asIntN(32, bits >> 32n))
  out.low = Number(BigInt.asIntN(32, bits))
}
