/**
 * Fetches that arrive together are answered together: no value is older than the request it answers, and one reading
 * may serve all requests that were waiting when it began. docs/decisions/coalescing.md
 */
import type { Ask } from '../model/source.ts'
import { BusyPoll } from '../net/busy-poll.ts'

interface Waiting {
  readonly ask: Ask
  /** Number of its metrics. */
  readonly size: number
  readonly run: (ask: Ask) => unknown
}

/** Value sets asked for before sockets get another turn: the results of all who wait are never in memory together. */
const SETS_A_TURN = 4096

/** Collects fetches while sockets are being read, and runs all of them with one moment afterwards. */
export class FetchBatch {
  /** Those of the moment under way, in the order they came, those that come meanwhile, and how many were asked. */
  #current: Waiting[] = []
  #waiting: Waiting[] = []
  #asked = 0
  #moment: object = {}
  #isDue = false
  /** Answers within half a millisecond promise another request: docs/decisions/staying-awake.md */
  readonly busyPoll: BusyPoll = new BusyPoll({ closeMs: 0.5, awakeMs: 0.1 })

  /** Runs a fetch of `size` metrics soon, on behalf of `ask` with a moment; never if its signal is aborted before that. */
  add(size: number, ask: Ask, run: (ask: Ask) => unknown): void {
    this.#waiting.push({ size, ask, run })
    this.#beDue()
  }

  /** Runs all fetches now: for a request that must not overtake them. */
  flush(): void {
    while (this.#run(Number.POSITIVE_INFINITY));
  }

  /** Runs as much as one turn may take. */
  readonly #turn = (): void => {
    this.#isDue = false
    if (this.#run(SETS_A_TURN)) this.#beDue()
  }

  #beDue(): void {
    if (this.#isDue) return
    this.#isDue = true
    // The check phase comes right after the poll phase in which sockets are read: nobody waits for a timer.
    setImmediate(this.#turn)
  }

  /** Runs fetches of one moment until there are `budget` sets. Returns whether some are left. */
  #run(budget: number): boolean {
    if (this.#asked === this.#current.length) {
      this.#current = this.#waiting
      this.#waiting = []
      this.#asked = 0
      this.#moment = {}
    }
    const moment = this.#moment
    while (budget > 0 && this.#asked < this.#current.length) {
      const { size, ask, run } = this.#current[this.#asked++]!
      const { requester, signal } = ask
      // A client that has gone is forgotten by the agents already: a late fetch would make them remember it.
      if (signal?.aborted === true) continue
      budget -= size
      run(signal === undefined ? { requester, moment } : { requester, signal, moment })
    }
    const isDone = this.#asked === this.#current.length
    if (isDone) {
      this.#current = [] // else what was answered stays in memory until somebody asks again
      this.#asked = 0
    }
    return !isDone || this.#waiting.length > 0
  }
}
