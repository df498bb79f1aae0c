/** One attempt to reconnect, shared by all callers that wait for it. */
import { onAbort } from '../base/on-abort.ts'
import type { PcpError } from '../model/errors.ts'

/** Runs once; given up by `giveUp`, or when no caller waits for it any more. */
export class ReconnectAttempt {
  readonly #controller = new AbortController()
  readonly #outcome: Promise<void>
  #callers = 0
  /** Resolves when nothing of the attempt is under way any more; never rejects. */
  readonly settled: Promise<void>

  /** Starts `run`, which must settle once its signal is aborted. */
  constructor(run: (signal: AbortSignal) => Promise<void>) {
    this.#outcome = run(this.#controller.signal)
    this.settled = this.#outcome.catch(() => {})
  }

  /** Has `giveUp` been called? The attempt may still be under way. */
  get isGivenUp(): boolean {
    return this.#controller.signal.aborted
  }

  /** Stops it. */
  giveUp(): void {
    this.#controller.abort()
  }

  /** Waits for the outcome, or rejects with `givenUp` when the caller's signal is aborted. */
  join(signal: AbortSignal | undefined, givenUp: () => PcpError): Promise<void> {
    this.#callers++
    return new Promise((resolve, reject) => {
      const unwatch = onAbort(signal, () => {
        unwatch()
        reject(givenUp())
        if (--this.#callers === 0) this.giveUp()
      })
      this.#outcome.finally(unwatch).then(resolve, reject)
    })
  }
}
