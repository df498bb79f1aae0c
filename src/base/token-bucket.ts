/** Budgets that refill with time. */

/** Size and refill rate of a bucket. */
export interface BucketOptions {
  readonly size: number
  /** Milliseconds to refill one token. */
  readonly refillMs: number
}

/** Sums of fractional milliseconds are inexact: a token that is due must be available. */
const PRECISION = 1e-6

/** Holds tokens up to its size; starts full. Times are milliseconds of one monotonic clock. */
export class TokenBucket {
  readonly #options: BucketOptions
  #tokens: number
  #at: number

  constructor(options: BucketOptions, now: number) {
    this.#options = options
    this.#tokens = options.size
    this.#at = now
  }

  /** Returns the milliseconds until a token is available; 0 if one is. */
  remainingMs(now: number): number {
    this.#refill(now)
    const missing = 1 - this.#tokens
    return missing <= PRECISION ? 0 : missing * this.#options.refillMs
  }

  /** Returns whether all tokens are available. */
  isFull(now: number): boolean {
    this.#refill(now)
    return this.#tokens >= this.#options.size - PRECISION
  }

  /** Takes one token. */
  take(now: number): void {
    this.#refill(now)
    this.#tokens--
  }

  /** Returns one token to the bucket. */
  giveBack(now: number): void {
    this.#refill(now)
    this.#tokens = Math.min(this.#options.size, this.#tokens + 1)
  }

  #refill(now: number): void {
    const { size, refillMs } = this.#options
    this.#tokens = Math.min(size, this.#tokens + (now - this.#at) / refillMs)
    this.#at = now
  }
}
