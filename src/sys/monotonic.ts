/** A clock that is never set. */

/** Milliseconds since this process began. As `performance.now()`, but Node loads modules for that: a millisecond of a command's start. */
export function monotonicMs(): number {
  return process.uptime() * 1000
}
