/** Retries with back-off: immediately the first time, then after growing delays. */
import { Backoff, doublingDelays } from './backoff.ts'

const FIRST_MS = 1000
const LONGEST_MS = 60_000

/** How long to wait. */
export interface RetryTimes {
  /** Wait before the second attempt; it doubles with each further one. Default: 1 s. */
  readonly firstMs?: number
  /** Default: 1 min. */
  readonly longestMs?: number
  /** Returns a number in [0, 1) that decides how much of half a wait is added to it. Default: Math.random. */
  readonly random?: () => number
}

/** Retries one action with one timer, which does not keep the process alive. */
export class Retry {
  readonly #attempt: () => void
  readonly #backoff: Backoff
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(attempt: () => void, times: RetryTimes = {}) {
    const { firstMs = FIRST_MS, longestMs = LONGEST_MS, random = Math.random } = times
    this.#attempt = attempt
    this.#backoff = new Backoff({ delaysMs: [0, ...doublingDelays(firstMs, longestMs)], random })
  }

  /** Schedules the next attempt, after the delay for the failures since `succeeded`. Returns the delay in milliseconds. */
  schedule(): number {
    const waitMs = this.#backoff.failed(performance.now())
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#attempt, waitMs)
    this.#timer.unref()
    return waitMs
  }

  /** Resets the delays after a success. */
  succeeded(): void {
    this.#backoff.reset()
  }

  /** Cancels the next attempt. */
  close(): void {
    clearTimeout(this.#timer)
  }
}
