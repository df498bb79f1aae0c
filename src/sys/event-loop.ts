/** Yielding to the event loop. */

/** How long a loop may keep the event loop waiting. */
const TURN_MS = 20

/** Lets signals, timers and output have their turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Turns of the event loop for a loop that waits for nothing, as those over archives: without them no signal would ever arrive. */
export class EventLoopTurn {
  #since: number | undefined

  /** Returns whether the loop has kept the event loop waiting for long enough. The first call starts the turn. */
  shouldYield(): boolean {
    const now = performance.now()
    this.#since ??= now
    return now - this.#since >= TURN_MS
  }

  /** Yields, and begins another turn. */
  async yield(): Promise<void> {
    await yieldToEventLoop()
    this.#since = performance.now()
  }
}
