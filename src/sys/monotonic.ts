/** A monotonic clock. */

/** Returns milliseconds since this process started. `performance.now()` would load modules first, a millisecond of a command's start. */
export function monotonicMs(): number {
  return process.uptime() * 1000
}
