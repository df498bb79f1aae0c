/** Keeps the event loop awake between requests that follow each other closely. docs/decisions/staying-awake.md */

/** When to stay awake; milliseconds. */
export interface BusyPollTimes {
  /** What happens closer together than this promises that more will happen soon. */
  readonly closeMs: number
  /** How long to look for it before sleeping. */
  readonly awakeMs: number
}

/**
 * A process that sleeps is woken by the next request, which takes longer than answering it. When requests or answers come
 * closely one after the other, the event loop therefore goes on turning for a little.
 */
export class BusyPoll {
  readonly #times: BusyPollTimes
  #last = Number.NEGATIVE_INFINITY
  #until = 0
  #isAwake = false

  constructor(times: BusyPollTimes) {
    this.#times = times
  }

  /** A request has come, or was answered. */
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

  /** Another turn of the event loop, or sleep. */
  look(): void {
    if (performance.now() < this.#until) setImmediate(look, this)
    else this.#isAwake = false
  }
}

function look(awake: BusyPoll): void {
  awake.look()
}
