/** Counters and their rates, with restarts, wraps and values beyond 2^53. pmval(1), pmRegisterDerived(3) */
import { PM_TYPE_32, PM_TYPE_64, PM_TYPE_DOUBLE, PM_TYPE_U32, PM_TYPE_U64 } from './types.ts'
import {
  PM_TIME_HOUR,
  PM_TIME_MIN,
  PM_TIME_MSEC,
  PM_TIME_NSEC,
  PM_TIME_SEC,
  PM_TIME_USEC,
  packUnits,
  unpackUnits,
} from './units.ts'

/** Seconds in a unit of each time scale. */
const SECONDS: Readonly<Record<number, number>> = {
  [PM_TIME_NSEC]: 1e-9,
  [PM_TIME_USEC]: 1e-6,
  [PM_TIME_MSEC]: 1e-3,
  [PM_TIME_SEC]: 1,
  [PM_TIME_MIN]: 60,
  [PM_TIME_HOUR]: 3600,
}

/** Number of values of each integer type. */
const RANGES: Readonly<Record<number, bigint>> = {
  [PM_TYPE_32]: 2n ** 32n,
  [PM_TYPE_U32]: 2n ** 32n,
  [PM_TYPE_64]: 2n ** 64n,
  [PM_TYPE_U64]: 2n ** 64n,
}

/** Conversion of a counter's change per second into a rate in `units`. */
export interface RateUnits {
  /** The units word of the rate. */
  readonly units: number
  /** Factor for the change per second. */
  readonly factor: number
}

/**
 * Returns the units of a counter's rate. A count becomes a count per second; a time in any scale becomes a utilisation, without
 * units.
 */
export function rateUnits(units: number): RateUnits {
  const fields = unpackUnits(units)
  if (fields.dimTime === 0)
    return { units: packUnits({ ...fields, dimTime: -1, scaleTime: PM_TIME_SEC }), factor: 1 }
  const factor = SECONDS[fields.scaleTime] ?? 1
  const dimTime = fields.dimTime - 1
  return { units: packUnits({ ...fields, dimTime, scaleTime: dimTime === 0 ? 0 : fields.scaleTime }), factor }
}

/**
 * Returns the growth of a counter as a double. A decrease is a restart and returns undefined; with `wraps`, a decreasing 32-bit or
 * 64-bit integer has wrapped once.
 */
export function counterDelta(
  before: number | bigint,
  now: number | bigint,
  type: number = PM_TYPE_DOUBLE,
  wraps = false,
): number | undefined {
  if (now >= before) {
    return typeof before === 'number' && typeof now === 'number'
      ? now - before
      : Number(BigInt(now) - BigInt(before))
  }
  const range = wraps ? RANGES[type] : undefined
  // Exact arithmetic: doubles near 2^64 are 2048 apart, so their difference would hide small growth.
  return range === undefined ? undefined : Number(range + BigInt(now) - BigInt(before))
}

/**
 * Returns a counter's change per second between two samples in either order: `elapsedSec` is negative if the clock was set back.
 * Undefined after a restart, and for two samples with the same timestamp.
 */
export function counterRate(
  before: number | bigint,
  now: number | bigint,
  elapsedSec: number,
  type: number = PM_TYPE_DOUBLE,
  wraps = false,
): number | undefined {
  if (elapsedSec === 0) return undefined
  const growth =
    elapsedSec > 0 ? counterDelta(before, now, type, wraps) : counterDelta(now, before, type, wraps)
  return growth === undefined ? undefined : growth / Math.abs(elapsedSec)
}

/** Numbers of one sample. Integers beyond 2^53 are rounded in `values`, and exact from `exact`. */
export interface CounterValues {
  readonly values: Float64Array
  exact(place: number, type: number): bigint
}

/** Numbers of one sample in columns: 0 in `has` for a missing value. */
export interface CounterColumns extends CounterValues {
  readonly has: Uint8Array
}

/** Counters of one metric by index: their last values and their growth since the sample before. */
export class Counters {
  readonly #type: number
  readonly #wraps: boolean
  readonly #isLong: boolean
  #had: Uint8Array
  #has: Uint8Array
  #values: Float64Array
  /** Integers beyond 2^53. */
  #exact: (bigint | undefined)[] = []
  #growth: Float64Array

  constructor(size: number, type: number, wraps: boolean) {
    this.#type = type
    this.#wraps = wraps
    this.#isLong = type === PM_TYPE_64 || type === PM_TYPE_U64
    this.#had = new Uint8Array(size)
    this.#has = new Uint8Array(size)
    this.#values = new Float64Array(size)
    this.#growth = new Float64Array(size)
  }

  /** Returns whether a counter had a value in the sample before the last one. */
  hadValue(place: number): boolean {
    return this.#had[place] === 1
  }

  /** Forgets the last sample. */
  forget(): void {
    this.#has.fill(0)
  }

  /** Reorders the counters: index `i` takes the value of index `places[i]`, or none for -1. */
  rearrange(places: readonly number[]): void {
    const [has, values, exact] = [this.#has, this.#values, this.#exact]
    this.#had = new Uint8Array(places.length)
    this.#has = Uint8Array.from(places, (place) => has[place] ?? 0)
    this.#values = Float64Array.from(places, (place) => values[place] ?? 0)
    this.#exact = this.#isLong ? places.map((place) => exact[place]) : []
    this.#growth = new Float64Array(places.length)
  }

  /**
   * Takes one sample: the columns from `first` on, one per counter. Returns the growth of each counter, NaN if a value is missing now
   * or before, or after a restart; valid until the next sample. `isBackward`: the clock was set back.
   */
  read(columns: CounterColumns, first = 0, isBackward = false): Float64Array {
    const { has, values } = columns
    const growth = this.#growth
    this.#had.set(this.#has)
    for (let i = 0; i < growth.length; i++) {
      const column = first + i
      if (has[column] !== 0) growth[i] = this.next(i, values[column]!, columns, column, isBackward)
      else {
        growth[i] = Number.NaN
        this.#has[i] = 0
      }
    }
    return growth
  }

  /** Takes the next value of one counter, at index `place` in `from`. Returns its growth, NaN if unknown. */
  next(i: number, value: number, from: CounterValues, place: number, isBackward = false): number {
    const before = this.#values[i]!
    if (this.#has[i] === 1 && value >= before && !isBackward) {
      if (!this.#isLong || (value <= Number.MAX_SAFE_INTEGER && before >= Number.MIN_SAFE_INTEGER)) {
        this.#values[i] = value
        return value - before
      }
    }
    return this.#nextOdd(i, value, from, place, isBackward)
  }

  /** Handles a first value, a decrease, an integer beyond 2^53, and a clock that was set back. */
  #nextOdd(i: number, value: number, from: CounterValues, place: number, isBackward: boolean): number {
    const isExact = !this.#isLong || Math.abs(value) <= Number.MAX_SAFE_INTEGER
    const now = isExact ? value : from.exact(place, this.#type)
    const before = this.#exact[i] ?? this.#values[i]!
    const [first, last] = isBackward ? [now, before] : [before, now]
    const growth = this.#has[i] === 1 ? counterDelta(first, last, this.#type, this.#wraps) : undefined
    this.#has[i] = 1
    this.#values[i] = value
    if (this.#isLong) this.#exact[i] = typeof now === 'bigint' ? now : undefined
    return growth ?? Number.NaN
  }
}
