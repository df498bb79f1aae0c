/** Whose turn it is: fetches of one requester that have to follow each other. docs/derived.md */
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import type { Requester } from '../model/source.ts'

/** Turns of requesters, one at a time each. */
export class Turns {
  /** Those who wait for a turn to end, in the order they came, of each requester who has one. */
  readonly #waiting = new Map<string, Set<() => void>>()

  /** Has this requester a turn that has not ended? */
  isTaken(requester: Requester): boolean {
    return this.#waiting.size > 0 && this.#waiting.has(keyOf(requester))
  }

  /** Acts when the requester's turns before this one have ended, however; at once where there are none. ECANCELED by the signal while it waits. */
  take<T>(requester: Requester, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    const key = keyOf(requester)
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) return entered(waiting, signal).then(() => this.#act(key, act))
    this.#waiting.set(key, new Set())
    return this.#act(key, act)
  }

  #act<T>(key: string, act: () => Promise<T>): Promise<T> {
    const end = (): void => this.#end(key)
    try {
      const turn = act()
      turn.then(end, end)
      return turn
    } catch (error) {
      // Not even a promise: those who wait must not wait for ever.
      end()
      throw error
    }
  }

  #end(key: string): void {
    const [next] = this.#waiting.get(key)!
    if (next === undefined) this.#waiting.delete(key)
    else next()
  }
}

function keyOf({ client, context }: Requester): string {
  return `${client}:${context}`
}

function entered(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      waiting.delete(enter)
      unwatch()
    }
    const enter = (): void => {
      leave()
      resolve()
    }
    const giveUp = (): void => {
      leave()
      reject(new PcpError('ECANCELED', 'A fetch was given up', { cause: signal?.reason }))
    }
    waiting.add(enter)
    const unwatch = onAbort(signal, giveUp)
    if (signal?.aborted === true) giveUp()
  })
}
