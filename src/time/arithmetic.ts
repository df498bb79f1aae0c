/** Arithmetic and order of timestamps and intervals. pmtimespecAdd(3), pmtimespecSub(3), pmtimespecInc(3) */
import type { Timestamp } from '../base/timestamp.ts'

const NANOS = 1e9

/** The end of an unbounded window: later than any other time. */
export const FOREVER: Timestamp = { sec: Number.POSITIVE_INFINITY, nsec: 0 }

/** Returns `a + b`. @see pmtimespecInc(3) */
export function addTimes(a: Timestamp, b: Timestamp): Timestamp {
  const nsec = a.nsec + b.nsec
  return nsec < NANOS ? { sec: a.sec + b.sec, nsec } : { sec: a.sec + b.sec + 1, nsec: nsec - NANOS }
}

/** Returns `a - b`. If b is later, the seconds are negative and the nanoseconds still positive. @see pmtimespecDec(3) */
export function subtractTimes(a: Timestamp, b: Timestamp): Timestamp {
  const nsec = a.nsec - b.nsec
  return nsec >= 0 ? { sec: a.sec - b.sec, nsec } : { sec: a.sec - b.sec - 1, nsec: nsec + NANOS }
}

/** Returns a negative number if `a` is before `b`, 0 if they are equal, and otherwise a positive number. */
export function compareTimes(a: Timestamp, b: Timestamp): number {
  // Not by subtraction: FOREVER - FOREVER is NaN.
  if (a.sec !== b.sec) return a.sec < b.sec ? -1 : 1
  return a.nsec - b.nsec
}

/** Returns the later of two times. */
export function laterOf(a: Timestamp, b: Timestamp): Timestamp {
  return compareTimes(a, b) < 0 ? b : a
}

/** Returns the earlier of two times. */
export function earlierOf(a: Timestamp, b: Timestamp): Timestamp {
  return compareTimes(b, a) < 0 ? b : a
}
