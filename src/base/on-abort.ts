/** Abort listeners that scale. */

/** All listeners to one signal. */
interface Watch {
  readonly listeners: Set<() => void>
  readonly abort: () => void
}

const watches = new WeakMap<AbortSignal, Watch>()

/**
 * Calls `listener` when a signal, not aborted yet, is aborted. Returns a function that removes the listener. The signal itself gets
 * only one listener: Node warns of a leak from eleven on, and searches all of them to add another.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {}
  const { listeners, abort } = watches.get(signal) ?? watch(signal)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || watches.get(signal)?.listeners !== listeners) return
    // A composite signal stays alive while it has listeners.
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
