/** Limits concurrent expensive requests; further ones wait in a queue. docs/explanation/security.md */
import { PcpError } from '../model/errors.ts'
import { waitFor } from '../net/wait.ts'

/** Limits of a gate. */
export interface RequestLimiterLimits {
  /** Concurrent requests. */
  readonly concurrent: number
  /** Queued requests, and how long each may wait, ms. */
  readonly queued: number
  readonly waitMs: number
}

/** Lets requests run in order of arrival. */
export class RequestLimiter {
  readonly #limits: RequestLimiterLimits
  readonly #what: string
  #inside = 0
  /** Queued requests in order of arrival. */
  readonly #waiting = new Set<() => void>()

  /** `what` names the counted requests in errors: `requests of archives`. */
  constructor(what: string, limits: RequestLimiterLimits) {
    this.#what = what
    this.#limits = limits
  }

  /** Runs `act` when there is room. EBUSY if the queue is full or the wait too long; ECANCELED if the signal aborts the wait. */
  async run<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#limits.concurrent) this.#inside++
    else await this.#wait(signal)
    try {
      return await act()
    } finally {
      this.#leave()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    const { queued, waitMs: ms } = this.#limits
    const busy = (): PcpError =>
      new PcpError('EBUSY', `Too many ${this.#what} at once; try again in a moment`)
    if (this.#waiting.size >= queued) throw busy()
    return waitFor<void>({ ms, createTimeoutError: busy, signal, what: 'Waiting' }, (end) => {
      const enter = (): void => end()
      this.#waiting.add(enter)
      return () => this.#waiting.delete(enter)
    })
  }

  /** Passes the place to the next in the queue, which leaves `inside` unchanged. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#inside--
    else next()
  }
}
