/** Sums, differences and order of moments and lengths of time. pmtimespecAdd(3), pmtimespecSub(3), pmtimespecInc(3) */
import type { Timestamp } from '../base/timestamp.ts'

const NANOS = 1e9

/** The end of a window without an end: later than every other moment. */
export const FOREVER: Timestamp = { sec: Number.POSITIVE_INFINITY, nsec: 0 }

/** `a + b`. @see pmtimespecInc(3) */
export function addTimes(a: Timestamp, b: Timestamp): Timestamp {
  const nsec = a.nsec + b.nsec
  return nsec < NANOS ? { sec: a.sec + b.sec, nsec } : { sec: a.sec + b.sec + 1, nsec: nsec - NANOS }
}

/** `a - b`; where b is later, the seconds are negative and the nanoseconds still count upwards. @see pmtimespecDec(3) */
export function subtractTimes(a: Timestamp, b: Timestamp): Timestamp {
  const nsec = a.nsec - b.nsec
  return nsec >= 0 ? { sec: a.sec - b.sec, nsec } : { sec: a.sec - b.sec - 1, nsec: nsec + NANOS }
}

/** Negative when `a` is before `b`, 0 when they are the same moment, positive when it is after. */
export function compareTimes(a: Timestamp, b: Timestamp): number {
  // Not by subtraction: FOREVER less FOREVER is no number.
  if (a.sec !== b.sec) return a.sec < b.sec ? -1 : 1
  return a.nsec - b.nsec
}

/** The later of two moments. */
export function laterOf(a: Timestamp, b: Timestamp): Timestamp {
  return compareTimes(a, b) < 0 ? b : a
}

/** The earlier of two moments. */
export function earlierOf(a: Timestamp, b: Timestamp): Timestamp {
  return compareTimes(b, a) < 0 ? b : a
}
