/** Repeated work whose failures must not stop a daemon. */
import { MAX_DELAY_MS } from './after.ts'

/**
 * Calls `work` every `ms` milliseconds, at most 24 days, like setInterval. Exceptions are passed to `failed` instead of ending
 * the process. Consecutive exceptions with the same message are reported once, until `work` succeeds.
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
