/** A point in time with nanosecond resolution. Both parts are plain numbers: seconds stay exact far beyond the year 9999. */
export interface Timestamp {
  /** Whole seconds since 1970-01-01 UTC. */
  readonly sec: number
  /** Nanoseconds of the second, 0 to 999,999,999. */
  readonly nsec: number
}

/** Time zero, which PCP sends for "no time". */
export const EPOCH: Timestamp = { sec: 0, nsec: 0 }

/** Milliseconds from the monotonic clock to the wall clock. */
let offset = Number.NEGATIVE_INFINITY

/**
 * Returns the wall clock time, to the microsecond. Date has whole milliseconds; the monotonic clock supplies the fraction and is
 * realigned whenever the two disagree, because the wall clock may be set.
 */
export function now(): Timestamp {
  const wall = Date.now()
  const ticks = performance.now()
  const fine = ticks + offset
  if (fine < wall) offset = wall - ticks
  else if (fine >= wall + 1) offset = wall + 0.999_999 - ticks
  return fromMillis(ticks + offset)
}

/** Converts milliseconds since the epoch; fractions are kept to the nanosecond. */
export function fromMillis(ms: number): Timestamp {
  const sec = Math.floor(ms / 1000)
  return { sec, nsec: Math.min(999_999_999, Math.round((ms - sec * 1000) * 1e6)) }
}

/** Returns seconds as a floating point number: for plotting and rates, not for comparing. */
export function toSeconds(t: Timestamp): number {
  return t.sec + t.nsec / 1e9
}

/** Returns the seconds from `a` to `b`, exact to the nanosecond for spans that fit a double. */
export function secondsBetween(a: Timestamp, b: Timestamp): number {
  return b.sec - a.sec + (b.nsec - a.nsec) / 1e9
}
