/** Repeated work that must not end a daemon. */
import { MAX_DELAY_MS } from './after.ts'

/**
 * Calls `work` every `ms` milliseconds, like setInterval, and at least every 24 days. An exception goes to `failed` instead of ending the process; one with
 * the message of the exception before it goes nowhere, so that work that keeps failing is reported once until it succeeds.
 */
export function every(
  ms: number,
  work: () => void,
  failed: (error: unknown) => void,
): ReturnType<typeof setInterval> {
  let last: string | undefined
  const run = (): void => {
    try {
      work()
      last = undefined
    } catch (error) {
      const message = String(error)
      if (message === last) return
      last = message
      failed(error)
    }
  }
  return setInterval(run, Math.min(ms, MAX_DELAY_MS))
}
