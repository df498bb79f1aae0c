/** Counters as rates: the one place that knows how counters restart and wrap, and what becomes of their units. pmval(1), pmRegisterDerived(3) */
import { PM_TYPE_32, PM_TYPE_64, PM_TYPE_U32, PM_TYPE_U64 } from './types.ts'
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

/** How many values each integer type has. */
const RANGES: Readonly<Record<number, bigint>> = {
  [PM_TYPE_32]: 2n ** 32n,
  [PM_TYPE_U32]: 2n ** 32n,
  [PM_TYPE_64]: 2n ** 64n,
  [PM_TYPE_U64]: 2n ** 64n,
}

/** How a counter's change a second becomes a rate in `units`. */
export interface RateUnits {
  /** The units word of the rate. */
  readonly units: number
  /** What the change a second is multiplied with. */
  readonly factor: number
}

/**
 * Units of a counter's rate: a count becomes a count a second; a time in whatever scale becomes a utilisation, seconds
 * a second, without units.
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
 * How much a counter grew, as a double. A decrease is undefined, as the counter restarted; with `wraps` a 32-bit or
 * 64-bit integer is taken to have gone round once.
 */
export function counterGrowth(
  before: number | bigint,
  now: number | bigint,
  type: number,
  wraps = false,
): number | undefined {
  if (now >= before) {
    return typeof before === 'number' && typeof now === 'number'
      ? now - before
      : Number(BigInt(now) - BigInt(before))
  }
  const range = wraps ? RANGES[type] : undefined
  // Exactly: doubles near 2^64 are 2048 apart, so a difference of two of them says nothing about a small growth.
  return range === undefined ? undefined : Number(range + BigInt(now) - BigInt(before))
}
