/**
 * Times at which a chart samples an expression or a stack, whose operands may be recorded at different intervals, each in its own record.
 *
 *     every minute    o·····························o·····
 *     every 10 s      o····o····o····o····o····o····o····o    a few milliseconds apart
 *     sampled         |·····························|·····    with a counter
 *     sampled         |····|····|····|····|····|····|····|    without one
 */

/** Recording times of an operand, ascending. */
export interface OperandTimes {
  readonly times: readonly number[]
  /** Seconds between them; 0 if unknown. */
  readonly interval: number
}

/** Part of an interval below which two times are the same sample: log groups are written one after the other. */
const CLOSE = 0.1

/**
 * Returns the times, ascending. `isChange`: values are changes since the time before. Such a change is only known over a whole interval
 * of the slowest operand: within one it is interpolated, and over milliseconds an integer counter does not change at all. Faster operands
 * add times only where the slower ones have none.
 */
export function sampleMoments(operands: readonly OperandTimes[], isChange: boolean): readonly number[] {
  const known = operands.map(({ interval }) => interval).filter((interval) => interval > 0)
  const slowest = Math.max(0, ...known)
  const apart = isChange ? slowest : CLOSE * Math.min(slowest, ...known)
  // A single record has no interval, and may be the only time at which its metric is known.
  const rank = ({ interval }: OperandTimes): number => interval || Number.POSITIVE_INFINITY
  let moments: readonly number[] = []
  for (const { times, interval } of [...operands].sort((a, b) => rank(b) - rank(a) || 0))
    moments = merged(moments, distant(times, CLOSE * interval), apart)
  return moments
}

/** Returns the times that are at least so many seconds after the one kept before. */
export function distant(times: readonly number[], seconds: number): readonly number[] {
  let last = Number.NEGATIVE_INFINITY
  return times.filter((time) => {
    if (time - last < seconds) return false
    last = time
    return true
  })
}

/** Adds the times that are at least `apart` seconds, and not 0, from all of `kept`. */
function merged(kept: readonly number[], times: readonly number[], apart: number): readonly number[] {
  if (kept.length === 0) return times
  const all: number[] = []
  let k = 0
  for (const time of times) {
    while (kept[k]! <= time) all.push(kept[k++]!)
    const before = time - (kept[k - 1] ?? Number.NEGATIVE_INFINITY)
    const after = (kept[k] ?? Number.POSITIVE_INFINITY) - time
    if (before > 0 && before >= apart && after >= apart) all.push(time)
  }
  for (; k < kept.length; k++) all.push(kept[k]!)
  return all
}
