import { setLongTimeout } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'

/**
 * Calls `act` in `ms`, unless the returned function is called first. Input that has arrived by then is read first:
 * after a stall (a stopped job, a busy machine) timers run before the event loop reads.
 */
export function deadline(ms: number, act: () => void): () => void {
  let soon: NodeJS.Immediate | undefined
  const cancel = setLongTimeout(ms, () => {
    soon = setImmediate(act)
  })
  return () => {
    cancel()
    clearImmediate(soon)
  }
}

/** When to stop waiting. */
export interface WaitLimit {
  readonly ms: number
  /** Creates the error for a timeout. */
  readonly createTimeoutError: () => PcpError
  /** Cancels the wait with ECANCELED. */
  readonly signal?: AbortSignal | undefined
  /** What is being waited for, in the message: `Connecting to ...`. */
  readonly what: string
}

/**
 * Calls `begin`, which starts an operation and returns how to stop listening for it. Settles with the first outcome
 * passed to `end`, then stops listening; later outcomes are ignored. `begin` must not call `end` synchronously.
 */
export function waitFor<T>(
  limit: WaitLimit,
  begin: (end: (outcome: T | PcpError) => void) => () => void,
): Promise<T> {
  const { ms, createTimeoutError, signal, what } = limit
  return new Promise((resolve, reject) => {
    let isOver = false
    const end = (outcome: T | PcpError): void => {
      if (isOver) return
      isOver = true
      cancel()
      unwatch()
      stop()
      if (outcome instanceof PcpError) reject(outcome)
      else resolve(outcome)
    }
    const abort = (): void =>
      end(new PcpError('ECANCELED', `${what} was canceled`, { cause: signal?.reason }))
    const cancel = deadline(ms, () => end(createTimeoutError()))
    const unwatch = onAbort(signal, abort)
    const stop = begin(end)
    if (signal?.aborted === true) abort()
  })
}
