/** A moment with nanosecond resolution. Both parts are plain numbers: seconds stay exact far beyond the year 9999. */
export interface Timestamp {
  /** Whole seconds since 1970-01-01 UTC. */
  readonly sec: number
  /** Nanoseconds of the second, 0 to 999,999,999. */
  readonly nsec: number
}

/** The moment zero, used where PCP sends 'no time'. */
export const EPOCH: Timestamp = { sec: 0, nsec: 0 }

/** Milliseconds to add to the monotonic clock to get the wall clock. */
let offset = Number.NEGATIVE_INFINITY

/**
 * The wall clock now, to the microsecond. Date counts whole milliseconds, so the monotonic clock supplies what is
 * below them; it is pulled back whenever the two disagree, because the wall clock may be set.
 */
export function now(): Timestamp {
  const wall = Date.now()
  const ticks = performance.now()
  const fine = ticks + offset
  if (fine < wall) offset = wall - ticks
  else if (fine >= wall + 1) offset = wall + 0.999_999 - ticks
  return fromMillis(ticks + offset)
}

/** Milliseconds since the epoch as a timestamp; fractions of a millisecond are kept to the nanosecond. */
export function fromMillis(ms: number): Timestamp {
  const sec = Math.floor(ms / 1000)
  return { sec, nsec: Math.min(999_999_999, Math.round((ms - sec * 1000) * 1e6)) }
}

/** Seconds as a floating point number: for plotting and rates, not for comparing. */
export function toSeconds(t: Timestamp): number {
  return t.sec + t.nsec / 1e9
}

/** Seconds from `a` to `b`, exact to the nanosecond for spans that fit a double. */
export function secondsBetween(a: Timestamp, b: Timestamp): number {
  return b.sec - a.sec + (b.nsec - a.nsec) / 1e9
}
