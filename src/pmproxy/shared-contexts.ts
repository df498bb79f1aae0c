/**
 * Contexts on hosts that many web contexts share. A request that names no context gets a number all the same, which its client may come back
 * to: thousands a second would each cost a context. Until a client changes one, what it would be answered is what all others are answered, so the
 * number stands for the shared one.
 *
 *     number 17 ──┐
 *     number 18 ──┼─► shared ─► host        number 18 adds a profile:   18 ─► its own ─► host
 *     number 19 ──┘
 */
import type { Context } from '../pmapi/context.ts'
import { CONTEXT_MEMORY, Memory } from './memory.ts'

/** A context and those who hold it: the last one to let go closes it. */
export class HeldContext {
  readonly context: Context
  /** What routes have found out about lists of names, by list: for some seconds, until names or expressions change. */
  readonly memo: Memory<string, string | readonly unknown[]>
  #holders = 0
  #isLost = false
  #isClosed = false
  #onEnd: (() => void) | undefined
  #revived: Promise<void> | undefined

  constructor(context: Context, now: () => number) {
    this.context = context
    this.memo = new Memory(CONTEXT_MEMORY, now)
    context.subscribe(({ type }) => {
      if (type !== 'ready' && type !== 'notready') this.memo.clear()
      if (type !== 'lost') return
      this.#isLost = true
      this.#onEnd?.()
    })
  }

  /** Has its host gone away? */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Can it be given to somebody more? */
  get isGood(): boolean {
    return !this.#isLost && !this.#isClosed
  }

  /** Hears that nobody more should get it. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener
    // It may have ended between its opening and our hearing of it.
    if (!this.isGood) listener()
  }

  /** Connects again after its host went away. Errors as `Context.reconnect`. */
  async revive(): Promise<void> {
    this.#revived ??= this.#reconnect()
    await this.#revived
  }

  /** Somebody more holds it. */
  hold(): this {
    this.#holders++
    return this
  }

  /** A holder lets go. */
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

/** The shared contexts, by what they were opened for. */
export class SharedContexts {
  readonly #opened = new Map<string, Promise<HeldContext>>()

  /** The context of a key, opened when there is none, and held: `release` it. Whatever `open` throws. */
  async hold(key: string, open: () => Promise<HeldContext>): Promise<HeldContext> {
    for (;;) {
      const held = await (this.#opened.get(key) ?? this.#open(key, open))
      if (held.isGood) return held.hold()
    }
  }

  #open(key: string, open: () => Promise<HeldContext>): Promise<HeldContext> {
    const opened = open()
    this.#opened.set(key, opened)
    const forget = (): void => {
      if (this.#opened.get(key) === opened) this.#opened.delete(key)
    }
    opened.then((held) => held.onEnd(forget), forget)
    return opened
  }
}
