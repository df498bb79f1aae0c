/** The time that sampling goes by: a clock that never jumps, and waiting on it. */

import { onAbort } from '../base/on-abort.ts'

/** What sampling needs of time. */
export interface Clock {
  /** Milliseconds since some moment, never set back. */
  now(): number
  /** Waits; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
}

/** The clock of this process. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      const timer = setTimeout(() => {
        unwatch()
        resolve()
      }, ms)
      const unwatch = onAbort(signal, () => {
        clearTimeout(timer)
        reject(signal?.reason)
      })
    }),
}
