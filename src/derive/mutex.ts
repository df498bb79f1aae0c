/** Serializes fetches of each requester. docs/reference/derived-metrics.md */
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import type { Requester } from '../model/source.ts'

/** A mutex for each requester. */
export class Mutex {
  /** Waiting callers, in order, for each requester whose mutex is locked. */
  readonly #waiting = new Map<string, Set<() => void>>()

  /** Returns whether this requester's mutex is locked. */
  isLocked(requester: Requester): boolean {
    return this.#waiting.size > 0 && this.#waiting.has(keyOf(requester))
  }

  /** Runs `act` once all earlier actions of the requester have settled, immediately without any. ECANCELED if the signal is aborted while it waits. */
  run<T>(requester: Requester, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
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
      // Release in any case, even if `act` throws before it returns a promise, so that callers do not wait forever.
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
      reject(new PcpError('ECANCELED', 'The fetch was cancelled', { cause: signal?.reason }))
    }
    waiting.add(enter)
    const unwatch = onAbort(signal, giveUp)
    if (signal?.aborted === true) giveUp()
  })
}
