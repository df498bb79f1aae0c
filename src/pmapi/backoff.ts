/** When a lost source may be tried again. PMCD_RECONNECT_TIMEOUT, pmReconnectContext(3) */

const DEFAULT_SECONDS: readonly number[] = [5, 10, 20, 40, 80]

/** Lets attempts through at growing distances; the last distance repeats. */
export class Backoff {
  readonly #seconds: readonly number[]
  #failures = 0
  #lastFailure = 0

  constructor(seconds: readonly number[] = DEFAULT_SECONDS) {
    this.#seconds = seconds.length === 0 ? DEFAULT_SECONDS : seconds
  }

  /** May one try now? `now` is in milliseconds. */
  mayTry(now: number): boolean {
    if (this.#failures === 0) return true
    const step = Math.min(this.#failures, this.#seconds.length) - 1
    return now - this.#lastFailure >= this.#seconds[step]! * 1000
  }

  succeeded(): void {
    this.#failures = 0
  }

  failed(now: number): void {
    this.#failures++
    this.#lastFailure = now
  }
}
