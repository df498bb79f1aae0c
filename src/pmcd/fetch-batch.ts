/**
 * Batches fetches that arrive together: no value is older than the request it answers, and one reading may serve all
 * requests waiting when it began. docs/decisions/coalescing.md
 */
import type { Ask } from '../model/source.ts'
import { BusyPoll } from '../net/busy-poll.ts'

interface Waiting {
  readonly ask: Ask
  /** Number of metrics. */
  readonly size: number
  readonly run: (ask: Ask) => unknown
}

/** Value sets per turn of the event loop; limits the memory for results of many waiting clients. */
const SETS_A_TURN = 4096

/** Collects fetches while sockets are being read, then runs them with one common `batch`. */
export class FetchBatch {
  /** Fetches of the current batch in order, those that arrived later, and the number of the current ones started. */
  #current: Waiting[] = []
  #waiting: Waiting[] = []
  #started = 0
  #batch: object = {}
  #isDue = false
  /** Replies within half a millisecond suggest another request soon. docs/decisions/staying-awake.md */
  readonly busyPoll: BusyPoll = new BusyPoll({ closeMs: 0.5, awakeMs: 0.1 })

  /** Runs a fetch of `size` metrics soon, on behalf of `ask`; not if its signal aborts first. */
  add(size: number, ask: Ask, run: (ask: Ask) => unknown): void {
    this.#waiting.push({ size, ask, run })
    this.#beDue()
  }

  /** Runs all fetches now, before a request that must not overtake them. */
  flush(): void {
    while (this.#run(Number.POSITIVE_INFINITY));
  }

  /** Runs as much as one turn allows. */
  readonly #turn = (): void => {
    this.#isDue = false
    if (this.#run(SETS_A_TURN)) this.#beDue()
  }

  #beDue(): void {
    if (this.#isDue) return
    this.#isDue = true
    // The check phase directly follows the poll phase in which sockets are read, so no timer is needed.
    setImmediate(this.#turn)
  }

  /** Runs fetches of one batch up to `budget` value sets. Returns whether any are left. */
  #run(budget: number): boolean {
    if (this.#started === this.#current.length) {
      this.#current = this.#waiting
      this.#waiting = []
      this.#started = 0
      this.#batch = {}
    }
    const batch = this.#batch
    while (budget > 0 && this.#started < this.#current.length) {
      const { size, ask, run } = this.#current[this.#started++]!
      const { requester, signal } = ask
      // Agents have forgotten a client that left; a late fetch would make them remember it.
      if (signal?.aborted === true) continue
      budget -= size
      run(signal === undefined ? { requester, batch } : { requester, signal, batch })
    }
    const isDone = this.#started === this.#current.length
    if (isDone) {
      this.#current = [] // releases answered fetches
      this.#started = 0
    }
    return !isDone || this.#waiting.length > 0
  }
}
