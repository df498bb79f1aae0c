/** Clock used for sampling. */
import { setLongTimeout } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import { monotonicMs } from '../sys/monotonic.ts'

/** A monotonic clock and waiting. */
export interface Clock {
  /** Returns milliseconds since an arbitrary start; never set back. */
  now(): number
  /** Waits; rejects with ECANCELED when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
}

/** The clock of this process. */
export const SYSTEM_CLOCK: Clock = {
  now: monotonicMs,
  sleep: delay,
}

function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      cancel()
      reject(new PcpError('ECANCELED', 'Sampling was canceled', { cause: signal?.reason }))
    }
    const cancel = setLongTimeout(ms, () => {
      unwatch()
      resolve()
    })
    const unwatch = onAbort(signal, giveUp)
    if (signal?.aborted === true) giveUp()
  })
}
