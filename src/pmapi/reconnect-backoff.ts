/** How attempts to reconnect to a collector are spaced. PMCD_RECONNECT_TIMEOUT, pmReconnectContext(3) */
import { Backoff } from '../base/backoff.ts'

/** Seconds to wait after failed attempts: PCP's own. */
const DEFAULT_DELAYS: readonly number[] = [5, 10, 20, 40, 80]

/** Makes the back-off of one collector; an empty list means the default delays, in seconds. */
export function reconnectBackoff(
  seconds: readonly number[] = [],
  random?: () => number,
  defaults: readonly number[] = DEFAULT_DELAYS,
): Backoff {
  const delaysMs = (seconds.length > 0 ? seconds : defaults).map((each) => each * 1000)
  return new Backoff(random === undefined ? { delaysMs } : { delaysMs, random })
}
