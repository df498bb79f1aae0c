/** When to try again what failed: at once the first time, then after longer and longer. */

const FIRST_MS = 1000
const LONGEST_MS = 60_000

/** One timer for one thing that is tried; it keeps no process alive. */
export class Retry {
  readonly #attempt: () => void
  #waitMs = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(attempt: () => void) {
    this.#attempt = attempt
  }

  /** Tries again, the sooner the fewer attempts failed since `succeeded`. */
  later(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#attempt, this.#waitMs)
    this.#timer.unref()
    this.#waitMs = Math.min(LONGEST_MS, Math.max(FIRST_MS, this.#waitMs * 2))
  }

  /** It works: the next failure is the first. */
  succeeded(): void {
    this.#waitMs = 0
  }

  /** Tries no more. */
  close(): void {
    clearTimeout(this.#timer)
  }
}
