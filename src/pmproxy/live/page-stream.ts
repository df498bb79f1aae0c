/** The subscriptions of one page: begun, replaced, ended, and begun again where a host cannot be reached. docs/pmproxy.md */
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { onAbort } from '../../base/on-abort.ts'
import { PcpError } from '../../model/errors.ts'
import { keyOf, parseMessage, type Subscription } from './messages.ts'
import type { Page } from './page.ts'

/** What a stream is made of. */
export interface PageStreamParts {
  readonly page: Page
  /** The host that is meant where a page names none. */
  readonly defaultHost: string
  /** Begins to watch; nothing is announced once the signal is given. Resolves to how to stop. */
  readonly watch: (wish: Subscription, signal: AbortSignal) => Promise<() => void>
  /** Counts bytes that subscriptions take, fewer when negative. */
  readonly keep: (bytes: number) => void
  /** Hears of the end, once. */
  readonly closed: () => void
}

/** Subscriptions of a page. */
export const MOST_KEYS = 200
/** Delays after which a subscription that failed is tried again, ms. */
const RETRY_MS = doublingDelays(3000, 10_000)
/** Errors that another attempt does not mend. */
const LASTING: ReadonlySet<string> = new Set(['PM_ERR_ARG', 'PM_ERR_PERMISSION', 'PM_ERR_TOOBIG'])

/** A subscription is kept as what was asked for and as a topic with names, columns and instances. */
const MESSAGE_COPIES = 4

interface Watching {
  readonly aborter: AbortController
  /** Attempts, and before the first of them what was asked under the key before: nothing of that comes later. */
  work: Promise<void>
  end: (() => void) | undefined
  readonly backoff: Backoff
  /** Characters of the message that it was made with. */
  readonly size: number
}

/** A page's stream. */
export class PageStream {
  readonly #parts: PageStreamParts
  readonly #watching = new Map<string, Watching>()
  #isOpen = true

  constructor(parts: PageStreamParts) {
    this.#parts = parts
  }

  /** A message of the page. Resolves when it has been dealt with; never rejects. */
  async receive(text: string): Promise<void> {
    if (!this.#isOpen) return
    try {
      const { key, wish } = parseMessage(text, this.#parts.defaultHost)
      if (wish === undefined) this.#stop(key)
      else await this.#subscribe(wish, text.length)
    } catch (error) {
      this.#complain(keyOf(text), PcpError.from(error))
    }
  }

  /** The page is gone; idempotent. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    for (const key of this.#watching.keys()) this.#stop(key)
    this.#parts.closed()
  }

  #stop(key: string): void {
    const watching = this.#watching.get(key)
    watching?.aborter.abort()
    watching?.end?.()
    this.#watching.delete(key)
    if (watching !== undefined) this.#parts.keep(-MESSAGE_COPIES * watching.size)
  }

  #subscribe(wish: Subscription, size: number): Promise<void> {
    const { key } = wish
    const before = this.#watching.get(key)
    if (before === undefined && this.#watching.size >= MOST_KEYS)
      throw new PcpError('PM_ERR_TOOBIG', `More than ${MOST_KEYS} subscriptions of one page`)
    before?.aborter.abort()
    const watching: Watching = {
      aborter: new AbortController(),
      work: Promise.resolve(),
      end: undefined,
      backoff: new Backoff({ delaysMs: RETRY_MS }),
      size,
    }
    this.#watching.set(key, watching)
    this.#parts.keep(MESSAGE_COPIES * (size - (before?.size ?? 0)))
    // Hosts do not wait for each other; what replaces something waits until that can say nothing more.
    watching.work = (before?.work ?? watching.work).then(() => this.#try(wish, watching, before, ''))
    return watching.work
  }

  /** `told` is what the page knows of the attempt before. */
  async #try(
    wish: Subscription,
    watching: Watching,
    before: Watching | undefined,
    told: string,
  ): Promise<void> {
    const { signal } = watching.aborter
    const isOver = signal.aborted
    const begun = isOver ? undefined : this.#parts.watch(wish, signal)
    before?.end?.()
    try {
      const end = await begun
      if (signal.aborted) end?.()
      else watching.end = end
    } catch (error) {
      if (signal.aborted) return
      const known = PcpError.from(error)
      if (known.message !== told) this.#complain(wish.key, known)
      if (LASTING.has(known.code)) return
      const timer = setTimeout(() => {
        unlink()
        watching.work = this.#try(wish, watching, undefined, known.message)
      }, watching.backoff.failed(performance.now()))
      timer.unref()
      const unlink = onAbort(signal, () => clearTimeout(timer))
    }
  }

  #complain(key: string | null, { code, message }: PcpError): void {
    this.#parts.page.tell(JSON.stringify({ type: 'error', key, code, message }))
  }
}
