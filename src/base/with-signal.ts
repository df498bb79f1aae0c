/** One signal for one piece of work, from signals that outlive it. */
import { after } from './after.ts'
import { onAbort } from './on-abort.ts'

/** When the work is given up. */
export interface SignalSources {
  /** Any of these aborts it. */
  readonly signals: readonly (AbortSignal | undefined)[]
  /** So many milliseconds abort it, with a TimeoutError as `AbortSignal.timeout` does. Default: never. */
  readonly timeoutMs?: number
}

/**
 * Runs `work` with a signal that is aborted with any of `signals` or when the time is up, and by `abort`. Afterwards nothing
 * of it is left on them: `AbortSignal.any` leaves a dependant on a lifelong signal with every call on Node 20.
 */
export async function withSignal<T>(
  { signals, timeoutMs }: SignalSources,
  work: (signal: AbortSignal, abort: (reason?: unknown) => void) => T | PromiseLike<T>,
): Promise<T> {
  const controller = new AbortController()
  const abort = (reason?: unknown): void => controller.abort(reason)
  const links = signals.map((signal) => onAbort(signal, () => abort(signal?.reason)))
  const late = (): void => abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  const cancel = timeoutMs === undefined ? undefined : after(timeoutMs, late)
  const aborted = signals.find((signal) => signal?.aborted === true)
  if (aborted !== undefined) abort(aborted.reason)
  try {
    return await work(controller.signal, abort)
  } finally {
    cancel?.()
    for (const unlink of links) unlink()
  }
}
