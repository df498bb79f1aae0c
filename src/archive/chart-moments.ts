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
  /** Returns the seconds between them at a time; 0 if unknown. */
  intervalAt(time: number): number
}

/** Part of an interval below which two times are the same sample: log groups are written one after the other. */
const CLOSE = 0.1

/**
 * Returns the times, ascending. `isChange`: values are changes since the time before. Such a change is only known over a whole interval
 * of the slowest operand: within one it is interpolated, and over milliseconds an integer counter does not change at all. Faster operands
 * add times only where the slower ones have none. Intervals may change, and with them the slowest operand.
 */
export function sampleMoments(operands: readonly OperandTimes[], isChange: boolean): readonly number[] {
  const apart = (time: number): number => {
    const known = operands.map((operand) => operand.intervalAt(time)).filter((interval) => interval > 0)
    const slowest = Math.max(0, ...known)
    return isChange ? slowest : CLOSE * Math.min(slowest, ...known)
  }
  let moments: readonly number[] = []
  for (const times of bySpeed(operands)) moments = merged(moments, times, apart)
  return moments
}

/** Returns the times of the operand that is the slowest at each of them, then those of the second slowest, and so on. */
function bySpeed(operands: readonly OperandTimes[]): readonly (readonly number[])[] {
  // A single record has no interval, and may be the only time at which its metric is known.
  const intervalAt = (operand: OperandTimes, time: number): number =>
    operand.intervalAt(time) || Number.POSITIVE_INFINITY
  const found = operands.map((): { readonly time: number; readonly close: number }[] => [])
  for (const [own, operand] of operands.entries())
    for (const time of distant(operand.times, (at) => CLOSE * operand.intervalAt(at))) {
      const interval = intervalAt(operand, time)
      const slower = operands.filter((other, i) => {
        const its = intervalAt(other, time)
        return its > interval || (its === interval && i < own)
      })
      found[slower.length]!.push({ time, close: CLOSE * operand.intervalAt(time) })
    }
  return found.map((list) => {
    list.sort((a, b) => a.time - b.time)
    const closeAt = new Map(list.map(({ time, close }) => [time, close]))
    return distant([...closeAt.keys()], (time) => closeAt.get(time)!)
  })
}

/** Returns the times that are at least so many seconds after the one kept before. */
export function distant(times: readonly number[], seconds: (time: number) => number): readonly number[] {
  let last = Number.NEGATIVE_INFINITY
  return times.filter((time) => {
    if (time - last < seconds(time)) return false
    last = time
    return true
  })
}

/** Adds the times that are at least `apart` seconds, and not 0, from all of `kept`. */
function merged(
  kept: readonly number[],
  times: readonly number[],
  apart: (time: number) => number,
): readonly number[] {
  if (kept.length === 0) return times
  const all: number[] = []
  let k = 0
  for (const time of times) {
    while (kept[k]! <= time) all.push(kept[k++]!)
    const before = time - (kept[k - 1] ?? Number.NEGATIVE_INFINITY)
    const after = (kept[k] ?? Number.POSITIVE_INFINITY) - time
    const least = apart(time)
    if (before > 0 && before >= least && after >= least) all.push(time)
  }
  for (; k < kept.length; k++) all.push(kept[k]!)
  return all
}
