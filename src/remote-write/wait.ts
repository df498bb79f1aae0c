/** Waiting for a time. */
import { setLongTimeout } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'

/** Resolves after `ms`. Rejects with the signal's reason when it is aborted. */
export function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const cancel = setLongTimeout(ms, () => {
      unlink()
      resolve()
    })
    const unlink = onAbort(signal, () => {
      cancel()
      reject(signal.reason as Error)
    })
  })
}
