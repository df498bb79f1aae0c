/** Yielding to the event loop. */

/** Longest time that a loop may block the event loop. */
const TURN_MS = 20
/** Most steps between two clock reads: reading the clock costs as much as the fastest step. */
const MOST_STEPS = 16
/** Time between clock reads, for slower steps. */
const LOOK_MS = 1

/** Lets signals, timers and output run. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Yields to the event loop from a loop that never waits, such as one over an archive: otherwise no signal would be handled. */
export class EventLoopTurn {
  #since: number | undefined
  #lookedAt = 0
  /** Steps between two clock reads, and how many of them are left. */
  #steps = 1
  #left = 1

  /** Returns whether the loop has blocked the event loop for too long. Call it at each step; the first call starts the turn. */
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

  /** Yields, then starts the next turn. */
  async yield(): Promise<void> {
    await yieldToEventLoop()
    this.#since = performance.now()
  }
}
