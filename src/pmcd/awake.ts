/** Keeps the event loop awake between requests that follow each other closely. docs/decisions/staying-awake.md */

/** Answers closer together than this promise another request soon, in milliseconds. */
const CLOSE_MS = 0.5
/** How long to look for that request before sleeping, in milliseconds. */
const AWAKE_MS = 0.1

/**
 * A process that sleeps is woken by the next request, which takes longer than answering it. After answers that came
 * closely one after the other the event loop therefore goes on turning for a tenth of a millisecond.
 */
export class Awake {
  #last = Number.NEGATIVE_INFINITY
  #until = 0
  #isAwake = false

  /** Requests have just been answered. */
  answered(): void {
    const now = performance.now()
    const isClose = now - this.#last < CLOSE_MS
    this.#last = now
    if (!isClose) return
    this.#until = now + AWAKE_MS
    if (this.#isAwake) return
    this.#isAwake = true
    setImmediate(look, this)
  }

  /** Another turn of the event loop, or sleep. */
  look(): void {
    if (performance.now() < this.#until) setImmediate(look, this)
    else this.#isAwake = false
  }
}

function look(awake: Awake): void {
  awake.look()
}
