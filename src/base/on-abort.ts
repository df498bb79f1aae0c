/** Hearing that a signal was aborted. */

/** Everyone who listens to one signal. */
interface Watch {
  readonly listeners: Set<() => void>
  readonly abort: () => void
}

const watches = new WeakMap<AbortSignal, Watch>()

/**
 * Calls `listener` when a signal, not aborted yet, is aborted. Returns how to stop. However many listen, the signal knows
 * of one: Node warns of a leak where there are more than ten, and looks through all of them to add the next.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {}
  const { listeners, abort } = watches.get(signal) ?? watch(signal)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || watches.get(signal)?.listeners !== listeners) return
    // A signal made of others lives as long as somebody listens to it.
    watches.delete(signal)
    signal.removeEventListener('abort', abort)
  }
}

function watch(signal: AbortSignal): Watch {
  const listeners = new Set<() => void>()
  const abort = (): void => {
    for (const listener of listeners) listener()
  }
  const made = { listeners, abort }
  watches.set(signal, made)
  signal.addEventListener('abort', abort, { once: true })
  return made
}
