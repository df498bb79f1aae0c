/** Waiting for one thing, for a limited time. */
import { after } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'

/**
 * Calls `act` in `ms`, unless the function it returns is called before. Input that has arrived by then is read first: after
 * the process stood still (a stopped job, a busy machine) timers run before the event loop reads.
 */
export function deadline(ms: number, act: () => void): () => void {
  let soon: NodeJS.Immediate | undefined
  const cancel = after(ms, () => {
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
      cancel()
      unwatch()
      stop()
      if (outcome instanceof PcpError) reject(outcome)
      else resolve(outcome)
    }
    const abort = (): void =>
      end(new PcpError('ECANCELED', `${what} was given up`, { cause: signal?.reason }))
    const cancel = deadline(ms, () => end(late()))
    const unwatch = onAbort(signal, abort)
    const stop = begin(end)
    if (signal?.aborted === true) abort()
  })
}
