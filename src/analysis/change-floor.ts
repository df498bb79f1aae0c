/** The smallest difference that matters, by units: 2 KB/s instead of 1 is irrelevant for a disk. docs/decisions/what-changed.md */

import type { MetricDesc } from '../model/desc.ts'
import { rateUnits } from '../model/rate.ts'
import { PM_SEM_COUNTER } from '../model/types.ts'
import { unpackUnits } from '../model/units.ts'

/** Bytes, and bytes per second. */
const BYTES = 16 * 2 ** 20
const BYTES_PER_SEC = 64 * 1024
/** Events per second. */
const EVENTS_PER_SEC = 1
/** Share of a time: utilisation. */
const SHARE = 0.02
/** Things that are counted; numbers without units, as percentages and loads. */
const COUNT = 1
const PLAIN = 0.5

/** Returns the difference below which a change of a metric's values, or of a counter's rate, is unimportant; in their units. */
export function floorOf({ sem, units }: MetricDesc): number {
  const isRate = sem === PM_SEM_COUNTER
  const { dimSpace, dimTime, dimCount, scaleSpace, scaleCount } = unpackUnits(
    isRate ? rateUnits(units).units : units,
  )
  if (dimSpace === 1) return (dimTime < 0 ? BYTES_PER_SEC : BYTES) / 1024 ** scaleSpace
  if (dimCount === 1) return (dimTime < 0 ? EVENTS_PER_SEC : COUNT) / 10 ** scaleCount
  if (dimTime === 0 && dimSpace === 0 && dimCount === 0) return isRate ? SHARE : PLAIN
  return PLAIN
}
