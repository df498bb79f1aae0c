/** Yielding to the event loop. */

/** How long a loop may keep the event loop waiting. */
const TURN_MS = 20
/** Steps of a loop from one look at the clock to the next: a look costs as much as a step of the fastest. */
const STEPS = 16

/** Lets signals, timers and output have their turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Turns of the event loop for a loop that waits for nothing, as those over archives: without them no signal would ever arrive. */
export class EventLoopTurn {
  #since: number | undefined
  #steps = -1

  /** Returns whether the loop has kept the event loop waiting for long enough; called at each step. The first call starts the turn. */
  shouldYield(): boolean {
    if (++this.#steps % STEPS !== 0) return false
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
