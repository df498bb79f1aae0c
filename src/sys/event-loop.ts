/** Yielding to the event loop. */

/** How long a loop may keep the event loop waiting. */
const TURN_MS = 20
/** Most steps of a loop from one look at the clock to the next: a look costs as much as a step of the fastest. */
const MOST_STEPS = 16
/** Time from one look to the next, for slower steps. */
const LOOK_MS = 1

/** Lets signals, timers and output have their turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Turns of the event loop for a loop that waits for nothing, as those over archives: without them no signal would ever arrive. */
export class EventLoopTurn {
  #since: number | undefined
  #lookedAt = 0
  /** Steps from the last look to the next, and how many of them are left. */
  #steps = 1
  #left = 1

  /** Returns whether the loop has kept the event loop waiting for long enough; called at each step. The first call starts the turn. */
  shouldYield(): boolean {
    if (--this.#left > 0) return false
    const now = performance.now()
    const wanted = (this.#steps * LOOK_MS) / (now - this.#lookedAt)
    this.#steps = Math.max(1, Math.min(MOST_STEPS, Math.floor(wanted)))
    this.#left = this.#steps
    this.#lookedAt = now
    this.#since ??= now
    return now - this.#since >= TURN_MS
  }

  /** Yields, and begins another turn. */
  async yield(): Promise<void> {
    await yieldToEventLoop()
    this.#since = performance.now()
  }
}
