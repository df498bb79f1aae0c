/** When to try again what failed: immediately the first time, then after longer and longer. */
import { Backoff, doublingDelays } from '../../base/backoff.ts'

const DELAYS_MS = [0, ...doublingDelays(1000, 60_000)]

/** One timer for one thing that is tried; it keeps no process alive. */
export class Retry {
  readonly #attempt: () => void
  readonly #backoff = new Backoff({ delaysMs: DELAYS_MS })
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(attempt: () => void) {
    this.#attempt = attempt
  }

  /** Tries again, the sooner the fewer attempts failed since `succeeded`. */
  later(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#attempt, this.#backoff.failed(performance.now()))
    this.#timer.unref()
  }

  /** It works: the next failure is the first. */
  succeeded(): void {
    this.#backoff.reset()
  }

  /** Tries no more. */
  close(): void {
    clearTimeout(this.#timer)
  }
}
