/** Polls the event loop between requests that follow each other closely. docs/decisions/staying-awake.md */

/** When to poll; milliseconds. */
export interface BusyPollTimes {
  /** Events closer together than this start polling. */
  readonly closeMs: number
  /** How long to poll before sleeping. */
  readonly awakeMs: number
}

/**
 * Waking a sleeping process takes longer than answering a request. While requests or answers follow each other closely,
 * the event loop therefore polls for a short time instead of sleeping.
 */
export class BusyPoll {
  readonly #times: BusyPollTimes
  #last = Number.NEGATIVE_INFINITY
  #until = 0
  #isAwake = false

  constructor(times: BusyPollTimes) {
    this.#times = times
  }

  /** Reports that a request arrived or was answered. */
  touch(): void {
    const now = performance.now()
    const isClose = now - this.#last < this.#times.closeMs
    this.#last = now
    if (!isClose) return
    this.#until = now + this.#times.awakeMs
    if (this.#isAwake) return
    this.#isAwake = true
    setImmediate(look, this)
  }

  /** Runs another turn of the event loop, or lets it sleep. */
  look(): void {
    if (performance.now() < this.#until) setImmediate(look, this)
    else this.#isAwake = false
  }
}

function look(awake: BusyPoll): void {
  awake.look()
}
