/** The time that sampling goes by: a clock that never jumps, and waiting on it. */

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
      const stop = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal?.addEventListener('abort', stop, { once: true })
    }),
}
