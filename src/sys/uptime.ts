/** How long the machine has been on. */
import { uptime } from 'node:os'

/** Milliseconds since the machine started, its sleep included, to a hundredth of a second. Never set. */
export function uptimeMs(): number {
  return uptime() * 1000
}
