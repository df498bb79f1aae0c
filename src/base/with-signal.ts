/** One abort signal for one operation, combined from longer-lived signals. */
import { setLongTimeout } from './after.ts'
import { onAbort } from './on-abort.ts'

/** Conditions that abort an operation. */
export interface SignalSources {
  /** Aborting any of these aborts the operation. */
  readonly signals: readonly (AbortSignal | undefined)[]
  /** Aborts after this time with a TimeoutError, as `AbortSignal.timeout` does. Default: never. */
  readonly timeoutMs?: number
}

/**
 * Runs `work` with a signal that is aborted by any of `signals`, by the timeout, and by `abort`. Afterwards no listener remains
 * on them, unlike with `AbortSignal.any`, which on Node 20 leaves a dependant on a long-lived signal with every call.
 */
export async function withSignal<T>(
  { signals, timeoutMs }: SignalSources,
  work: (signal: AbortSignal, abort: (reason?: unknown) => void) => T | PromiseLike<T>,
): Promise<T> {
  const controller = new AbortController()
  const abort = (reason?: unknown): void => controller.abort(reason)
  const links = signals.map((signal) => onAbort(signal, () => abort(signal?.reason)))
  const late = (): void => abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  const cancel = timeoutMs === undefined ? undefined : setLongTimeout(timeoutMs, late)
  const aborted = signals.find((signal) => signal?.aborted === true)
  if (aborted !== undefined) abort(aborted.reason)
  try {
    return await work(controller.signal, abort)
  } finally {
    cancel?.()
    for (const unlink of links) unlink()
  }
}
