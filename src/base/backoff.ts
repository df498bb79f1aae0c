/** Delays between attempts after failures: they grow, and are spread at random so that many clients do not return together. */

/** How attempts are spaced. */
export interface BackoffOptions {
  /** Milliseconds to wait after the first, second... failure in a row; the last one repeats. */
  readonly delaysMs: readonly number[]
  /** Returns a number from 0 up to, but not including, 1; default Math.random. */
  readonly random?: () => number
}

/** Random addition to a delay, as a share of it. */
const JITTER = 0.5
/** Sums of fractional milliseconds are inexact: a caller that is on time must not have to wait another turn. */
const PRECISION_MS = 0.001

/** Counts consecutive failures and spaces attempts. Times are milliseconds of one monotonic clock. */
export class Backoff {
  readonly #delaysMs: readonly number[]
  readonly #random: () => number
  #failures = 0
  #failedAt = 0
  #waitMs = 0
  #succeededAt: number | undefined

  constructor({ delaysMs, random = Math.random }: BackoffOptions) {
    this.#delaysMs = delaysMs
    this.#random = random
  }

  /** Returns whether an attempt may be made now. */
  canRetry(now: number): boolean {
    return this.remainingMs(now) === 0
  }

  /** Returns the milliseconds until the next attempt. */
  remainingMs(now: number): number {
    const left = this.#failedAt + this.#waitMs - now
    return left < PRECISION_MS ? 0 : left
  }

  /** Records a failed attempt, or the loss of what an attempt had brought; returns the milliseconds to wait. */
  failed(now: number): number {
    const { length } = this.#delaysMs
    const delayOf = (failure: number): number => this.#delaysMs[Math.min(failure, length) - 1] ?? 0
    // Otherwise a server that accepts connections and drops them would be retried in a tight loop.
    if (this.#succeededAt !== undefined && now - this.#succeededAt >= delayOf(this.#failures))
      this.#failures = 0
    this.#succeededAt = undefined
    this.#failures++
    this.#failedAt = now
    this.#waitMs = delayOf(this.#failures) * (1 + JITTER * this.#random())
    return this.#waitMs
  }

  /** Records a success. The next failure counts as the first if the success outlives the delay that preceded it. */
  succeeded(now: number): void {
    this.#succeededAt ??= now
    this.#waitMs = 0
  }

  /** Forgets all failures. */
  reset(): void {
    this.#failures = 0
    this.#waitMs = 0
    this.#succeededAt = undefined
  }
}

/** Returns delays that double from the first to the longest. */
export function doublingDelays(firstMs: number, longestMs: number): readonly number[] {
  const delays: number[] = []
  for (let ms = firstMs; ms < longestMs; ms *= 2) delays.push(ms)
  return [...delays, longestMs]
}
