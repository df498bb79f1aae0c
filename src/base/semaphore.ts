/** Limits how much work is done at the same time. */
import { onAbort } from './on-abort.ts'

export class Semaphore {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  /** Runs work, in order of arrival; rejects with the signal's reason if it is aborted before. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    try {
      return await work()
    } finally {
      this.#pass()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        unlink()
        this.#waiting.delete(begin)
        reject(signal.reason)
      }
      const unlink = onAbort(signal, giveUp)
      const begin = (): void => {
        unlink()
        resolve()
      }
      this.#waiting.add(begin)
    })
  }

  #pass(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
