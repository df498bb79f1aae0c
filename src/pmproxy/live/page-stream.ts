/** Subscriptions of one page: creating, replacing, ending and retrying them. docs/reference/pmproxy.md */
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { onAbort } from '../../base/on-abort.ts'
import { PcpError } from '../../model/errors.ts'
import { keyOf, parseMessage, type Subscription } from './messages.ts'
import type { Page } from './page.ts'

/** Dependencies of a page's stream. */
export interface PageStreamParts {
  readonly page: Page
  /** Host used when a page names none. */
  readonly defaultHost: string
  /** Subscribes; announces nothing after the signal is aborted. Resolves to a function that unsubscribes. */
  readonly watch: (wish: Subscription, signal: AbortSignal) => Promise<() => void>
  /** Accounts for memory of subscriptions; negative when freed. */
  readonly keep: (bytes: number) => void
  /** Called once at the end. */
  readonly closed: () => void
}

/** Maximum number of a page's subscriptions. */
export const MOST_KEYS = 200
/** Delays before a failed subscription is retried, ms. */
const RETRY_MS = doublingDelays(3000, 10_000)
/** Errors that a retry cannot fix. */
const LASTING: ReadonlySet<string> = new Set(['PM_ERR_ARG', 'PM_ERR_PERMISSION', 'PM_ERR_TOOBIG'])

/** A subscription is kept as the request and as a topic with names, columns and instances. */
const MESSAGE_COPIES = 4

interface Watching {
  readonly aborter: AbortController
  /** Completion of its attempts, and before the first one of the replaced subscription, which then sends nothing more. */
  work: Promise<void>
  end: (() => void) | undefined
  readonly backoff: Backoff
  /** Characters of its request. */
  readonly size: number
}

/** The subscriptions of a page. */
export class PageStream {
  readonly #parts: PageStreamParts
  readonly #watching = new Map<string, Watching>()
  #isOpen = true

  constructor(parts: PageStreamParts) {
    this.#parts = parts
  }

  /** Handles a message of the page. Resolves when it is done; never rejects. */
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

  /** Ends the stream when the page is closed; idempotent. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#parts.page.isGone = true
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
      throw new PcpError('PM_ERR_TOOBIG', `More than ${MOST_KEYS} subscriptions on one page`)
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
    // Subscriptions run in parallel, but a replacement waits until the previous one can send nothing more.
    watching.work = (before?.work ?? watching.work).then(() => this.#try(wish, watching, before, ''))
    return watching.work
  }

  /** `told` is the last error sent to the page. */
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
    this.#parts.page.send(JSON.stringify({ type: 'error', key, code, message }))
  }
}
