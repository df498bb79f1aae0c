/** Waiting for one thing, for a limited time. */
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'

/** The longest delay of a timer; anything longer would fire at once. */
export const MAX_DELAY_MS: number = 2 ** 31 - 1

/** When to stop waiting. */
export interface WaitLimit {
  readonly ms: number
  /** What is waited for is late: the error to reject with. */
  readonly late: () => PcpError
  /** Gives up: ECANCELED. */
  readonly signal?: AbortSignal | undefined
  /** What is given up, for the message: `Connecting to ...`. */
  readonly what: string
}

/**
 * Calls `begin`, which starts something and returns how to stop listening for it; settles with the first outcome that
 * `end` is given, then stops listening; later ones do not count. `begin` itself may not call `end`.
 */
export function wait<T>(
  limit: WaitLimit,
  begin: (end: (outcome: T | PcpError) => void) => () => void,
): Promise<T> {
  const { ms, late, signal, what } = limit
  return new Promise((resolve, reject) => {
    let isOver = false
    const end = (outcome: T | PcpError): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      unwatch()
      stop()
      if (outcome instanceof PcpError) reject(outcome)
      else resolve(outcome)
    }
    const abort = (): void =>
      end(new PcpError('ECANCELED', `${what} was given up`, { cause: signal?.reason }))
    const timer = setTimeout(() => end(late()), Math.min(ms, MAX_DELAY_MS))
    const unwatch = onAbort(signal, abort)
    const stop = begin(end)
    if (signal?.aborted === true) abort()
  })
}
