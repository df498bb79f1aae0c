/**
 * The value of a counter between two observations. docs/formats/archive.md §10
 *
 * Values are 64 bits in two words, as in archives; 32-bit types use the first word.
 */
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../model/types.ts'
import { doubleOf, numberOf } from '../model/value-columns.ts'
import { floatFromBits } from '../model/value-set.ts'

/** Two words of 32 bits: the big-endian bytes of a value. */
export interface Words {
  high: number
  low: number
}

/** Two observations, and a time between them. */
export interface Between {
  readonly prior: Words
  readonly next: Words
  /** Seconds from the prior observation to the requested time. */
  readonly elapsed: number
  /** Seconds from the prior observation to the next one. */
  readonly span: number
}

const scratch = new DataView(new ArrayBuffer(8))
const TWO_32 = 0x1_0000_0000
/** Below this, doubles are exact to less than 1 through all steps of an interpolation. */
const EXACT = 2 ** 51

/**
 * Stores the interpolated value of a counter of `type` in `out`. A counter that decreased is interpolated downwards; with `wraps` an
 * integer has wrapped once instead. `out` may be one of the observations.
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

/** Rounds to the nearest integer, halves upwards. The reference is off by one below zero. */
function round(value: number): number {
  return Math.floor(0.5 + value)
}

function between32({ prior, next, elapsed, span }: Between, wraps: boolean): number {
  const [p, n] = [prior.high, next.high]
  if (n < p && wraps) return (p + round((elapsed * (TWO_32 - p + n)) / span)) | 0
  // A decrease by more than half of the range is a wrap, as in the reference.
  const growth = n < p ? (n - p) | 0 : n - p
  return round(p + (elapsed * growth) / span) | 0
}

function betweenU32({ prior, next, elapsed, span }: Between, wraps: boolean): number {
  const [p, n] = [prior.high >>> 0, next.high >>> 0]
  if (n >= p) return round(p + (elapsed * (n - p)) / span) | 0
  if (!wraps) return round(p - (elapsed * (p - n)) / span) | 0
  return (p + round((elapsed * (TWO_32 - p + n)) / span)) | 0
}

function between64(between: Between, out: Words): void {
  const { prior, next, elapsed, span } = between
  const p = numberOf(PM_TYPE_64, prior.high, prior.low)
  const n = numberOf(PM_TYPE_64, next.high, next.low)
  if (Math.abs(p) < EXACT && Math.abs(n) < EXACT) {
    put(round(p + (elapsed * (n - p)) / span), out)
    return
  }
  const from = toBigint(prior)
  const growth = toBigint(next) - from
  putBigint(from + shareOf(growth < 0n ? BigInt.asIntN(64, growth) : growth, between), out)
}

function betweenU64(between: Between, wraps: boolean, out: Words): void {
  const { prior, next, elapsed, span } = between
  const p = numberOf(PM_TYPE_U64, prior.high, prior.low)
  const n = numberOf(PM_TYPE_U64, next.high, next.low)
  if (p < EXACT && n < EXACT && (n >= p || !wraps)) {
    put(round(p + (elapsed * (n - p)) / span), out)
    return
  }
  const from = BigInt.asUintN(64, toBigint(prior))
  const growth = BigInt.asUintN(64, toBigint(next)) - from
  putBigint(from + shareOf(wraps ? BigInt.asUintN(64, growth) : growth, between), out)
}

/** Returns the share of a growth for the elapsed time, rounded as `round` does, but exact, so that a growing counter never decreases. */
function shareOf(growth: bigint, { elapsed, span }: Between): bigint {
  const [part, whole] = [BigInt(Math.round(elapsed * 1e9)), BigInt(Math.max(1, Math.round(span * 1e9)))]
  const twice = 2n * part * growth + whole
  const share = twice / (2n * whole)
  return twice < 0n && share * 2n * whole !== twice ? share - 1n : share
}

function betweenFloat({ prior, next, elapsed, span }: Between): number {
  const [p, n] = [floatFromBits(prior.high), floatFromBits(next.high)]
  scratch.setFloat32(0, p + (elapsed * Math.fround(n - p)) / span)
  return scratch.getInt32(0)
}

function betweenDouble({ prior, next, elapsed, span }: Between, out: Words): void {
  const [p, n] = [doubleOf(prior.high, prior.low), doubleOf(next.high, next.low)]
  scratch.setFloat64(0, p + (elapsed * (n - p)) / span)
  out.high = scratch.getInt32(0)
  out.low = scratch.getInt32(4)
}

function toBigint({ high, low }: Words): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

/** Stores an integer below 2^53 as 64 bits. */
function put(value: number, out: Words): void {
  out.high = Math.floor(value / TWO_32) | 0
  out.low = value | 0
}

function putBigint(value: bigint, out: Words): void {
  out.high = Number(BigInt.asIntN(32, value >> 32n))
  out.low = Number(BigInt.asIntN(32, value))
}
