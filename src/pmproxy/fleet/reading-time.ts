/** The time that one request may read archives. */
import { EventLoopTurn } from '../../sys/event-loop.ts'

/** Limits a loop over many archives, and lets other requests and cancellations through. */
export class ReadingTime {
  readonly #signal: AbortSignal
  readonly #deadline: number
  readonly #clock: () => number
  readonly #turn = new EventLoopTurn()

  constructor(signal: AbortSignal, mostMs: number, clock: () => number = () => performance.now()) {
    this.#signal = signal
    this.#clock = clock
    this.#deadline = clock() + mostMs
  }

  /** Returns whether there is time for another step. Rejects if the client has left. */
  async hasMore(): Promise<boolean> {
    if (this.#turn.shouldYield()) await this.#turn.yield()
    this.#signal.throwIfAborted()
    return this.#clock() < this.#deadline
  }
}
