/** Whose turn it is: fetches of one requester that have to follow each other. docs/derived.md */
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import type { Requester } from '../model/source.ts'

/** Queues, one a requester, which are there only while somebody is in them. */
export class Turns {
  readonly #ends = new Map<string, Promise<unknown>>()

  /** Has this requester a turn that has not ended? */
  isTaken(requester: Requester): boolean {
    return this.#ends.size > 0 && this.#ends.has(keyOf(requester))
  }

  /** Acts when the requester's turns before this one have ended, however; at once where there are none. ECANCELED by the signal while it waits. */
  take<T>(requester: Requester, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    const key = keyOf(requester)
    const before = this.#ends.get(key)
    const turn = before === undefined ? act() : waited(before, signal).then(act)
    // One that was given up while it waited has not ended those before it.
    const end = Promise.allSettled([before, turn]).then(() => {
      if (this.#ends.get(key) === end) this.#ends.delete(key)
    })
    this.#ends.set(key, end)
    return turn
  }
}

function keyOf({ client, context }: Requester): string {
  return `${client}:${context}`
}

function waited(before: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  if (signal === undefined) return before
  return new Promise((resolve, reject) => {
    const giveUp = (): void =>
      reject(new PcpError('ECANCELED', 'A fetch was given up', { cause: signal.reason }))
    if (signal.aborted) return giveUp()
    const unwatch = onAbort(signal, giveUp)
    void before.then(() => {
      unwatch()
      resolve(undefined)
    })
  })
}
