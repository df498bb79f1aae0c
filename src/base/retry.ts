/** When to try again what failed: immediately the first time, then after longer and longer. */
import { Backoff, doublingDelays } from './backoff.ts'

const FIRST_MS = 1000
const LONGEST_MS = 60_000

/** How long to wait. */
export interface RetryTimes {
  /** Before the second attempt; it doubles with each. Default: a second. */
  readonly firstMs?: number
  /** Default: a minute. */
  readonly longestMs?: number
  /** Returns a number from 0 up to, but not including, 1: a share of the half of a wait that is added. Default: Math.random. */
  readonly random?: () => number
}

/** One timer for one thing that is tried; it keeps no process alive. */
export class Retry {
  readonly #attempt: () => void
  readonly #backoff: Backoff
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(attempt: () => void, times: RetryTimes = {}) {
    const { firstMs = FIRST_MS, longestMs = LONGEST_MS, random = Math.random } = times
    this.#attempt = attempt
    this.#backoff = new Backoff({ delaysMs: [0, ...doublingDelays(firstMs, longestMs)], random })
  }

  /** Tries again, the sooner the fewer attempts failed since `succeeded`. Returns the wait in milliseconds. */
  later(): number {
    const waitMs = this.#backoff.failed(performance.now())
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#attempt, waitMs)
    this.#timer.unref()
    return waitMs
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
