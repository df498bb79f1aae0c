/**
 * Contexts on hosts shared by many web contexts. Each request without a context gets a new number, which its client may use again. A
 * context of its own for each would be too expensive at thousands of requests per second, so the numbers share one until a client
 * changes it.
 *
 *     number 17 ──┐
 *     number 18 ──┼─► shared ─► host        number 18 adds a profile:   18 ─► its own ─► host
 *     number 19 ──┘
 */
import type { Context } from '../pmapi/context.ts'
import { AnswerCache, CONTEXT_CACHE_LIMITS } from './cache.ts'

/** A reference-counted context; the last holder's release closes it. */
export class SharedContext {
  readonly context: Context
  /** Cached answers of routes about lists of names, for some seconds or until names or expressions change. */
  readonly cache: AnswerCache<string, string | readonly unknown[]>
  #holders = 0
  #isLost = false
  #isClosed = false
  #onEnd: (() => void) | undefined
  #revived: Promise<void> | undefined

  constructor(context: Context, now: () => number) {
    this.context = context
    this.cache = new AnswerCache(CONTEXT_CACHE_LIMITS, now)
    context.subscribe(({ type }) => {
      if (type !== 'ready' && type !== 'notready') this.cache.clear()
      if (type !== 'lost') return
      this.#isLost = true
      this.#onEnd?.()
    })
  }

  /** Is the connection to its host lost? */
  get isLost(): boolean {
    return this.#isLost
  }

  /** May further holders use it? */
  get isGood(): boolean {
    return !this.#isLost && !this.#isClosed
  }

  /** Sets a listener for when no further holders may use it. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener
    // It may have ended before the listener was set.
    if (!this.isGood) listener()
  }

  /** Reconnects to its host. Errors of `Context.reconnect`. */
  async reconnect(): Promise<void> {
    this.#revived ??= this.#reconnect()
    await this.#revived
  }

  /** Adds a holder. */
  hold(): this {
    this.#holders++
    return this
  }

  /** Removes a holder. */
  async release(): Promise<void> {
    if (--this.#holders > 0) return
    this.#isClosed = true
    this.#onEnd?.()
    await this.context.close()
  }

  async #reconnect(): Promise<void> {
    try {
      await this.context.reconnect()
      this.#isLost = false
    } finally {
      this.#revived = undefined
    }
  }
}

/** Shared contexts by key. */
export class SharedContexts {
  readonly #opened = new Map<string, Promise<SharedContext>>()

  /** Returns the context of a key, opening it if necessary, with one more holder: `release` it. Errors of `open`. */
  async hold(key: string, open: () => Promise<SharedContext>): Promise<SharedContext> {
    for (;;) {
      const held = await (this.#opened.get(key) ?? this.#open(key, open))
      if (held.isGood) return held.hold()
    }
  }

  #open(key: string, open: () => Promise<SharedContext>): Promise<SharedContext> {
    const opened = open()
    this.#opened.set(key, opened)
    const forget = (): void => {
      if (this.#opened.get(key) === opened) this.#opened.delete(key)
    }
    opened.then((held) => held.onEnd(forget), forget)
    return opened
  }
}
