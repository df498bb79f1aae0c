/** Uptime of the machine. */
import { uptime } from 'node:os'

/** Returns milliseconds since the machine booted, including sleep, with a resolution of 10 ms. Monotonic. */
export function uptimeMs(): number {
  return uptime() * 1000
}
