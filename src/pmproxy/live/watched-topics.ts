/** The topics of a feed: watched by pages, or kept for a while with their rows for a reload. docs/reference/pmproxy.md */
import type { Page } from './page.ts'
import type { RowRing } from './row-ring.ts'
import type { Topic } from './topic.ts'

/** Time for which rows are fetched and kept after the last page has left, e.g. to be reloaded, ms. */
export const LINGER_MS = 60_000
/**
 * Maximum number of topics whose pages are gone, and of topics that their pages replaced. Apart, because a reloaded page comes to its own list
 * through some others.
 */
const MOST_IDLE = 2

/** Metrics that a page wants to watch. */
export interface WatchRequest {
  readonly metrics: readonly string[]
  /** Expressions by their names among the metrics. */
  readonly derive: Readonly<Record<string, string>>
  /** Does the page want the rows from before it came? They are kept for it, and for a while after it has left. */
  readonly past?: boolean
}

/** A topic with its pages. */
export interface Watched {
  readonly topic: Topic
  readonly wish: WatchRequest
  /** Keys of the topic on each page. */
  readonly pages: Map<Page, Set<string>>
  ring: RowRing | undefined
  /** The last row; undefined also after instances were forgotten. */
  newest: Buffer | undefined
  /** Set while it has no page. */
  idle: Idle | undefined
}

/** A topic without a page. */
export interface Idle {
  /** Ends the topic. */
  readonly timer: ReturnType<typeof setTimeout>
  /** Is the page gone that left it last? It else watches something else. */
  readonly isPageGone: boolean
}

/** Topics by their lists of metrics. */
export class WatchedTopics {
  readonly #topics = new Map<string, Watched>()

  get size(): number {
    return this.#topics.size
  }

  get(id: string): Watched | undefined {
    return this.#topics.get(id)
  }

  /** Is it still kept? */
  has(watched: Watched): boolean {
    return [...this.#topics.values()].includes(watched)
  }

  values(): Iterable<Watched> {
    return this.#topics.values()
  }

  /** Adds a page's key to a topic. */
  join(id: string, watched: Watched, page: Page, key: string): void {
    this.#topics.set(id, watched)
    watched.pages.set(page, (watched.pages.get(page) ?? new Set()).add(key))
    clearTimeout(watched.idle?.timer)
    watched.idle = undefined
  }

  /** Removes a page's key. Without a page, a topic with kept rows stays for a while. */
  leave(id: string, watched: Watched, page: Page, key: string): void {
    const keys = watched.pages.get(page)
    keys?.delete(key)
    if (keys === undefined || keys.size > 0) return
    watched.pages.delete(page)
    page.forget(watched.topic)
    if (watched.pages.size > 0 || this.#topics.get(id) !== watched) return
    if (watched.ring === undefined) this.#topics.delete(id)
    else this.#linger(id, watched, page.isGone)
  }

  /** Is a topic without a page kept for a while? */
  get isLingering(): boolean {
    return this.#idle.length > 0
  }

  /** Drops topics without a page while `isTooMuch`, the oldest first. */
  dropIdle(isTooMuch: () => boolean): void {
    for (const each of this.#idle) if (isTooMuch()) this.#drop(...each)
  }

  /** Drops all topics. */
  clear(): void {
    for (const each of this.#topics) this.#drop(...each)
  }

  get #idle(): readonly (readonly [id: string, watched: Watched])[] {
    return [...this.#topics].filter(([, { idle }]) => idle !== undefined)
  }

  #linger(id: string, watched: Watched, isPageGone: boolean): void {
    const others = this.#idle.filter(([, { idle }]) => idle?.isPageGone === isPageGone)
    if (others.length >= MOST_IDLE) this.#drop(...others[0]!)
    // In the order in which pages have left.
    this.#topics.delete(id)
    this.#topics.set(id, watched)
    const timer = setTimeout(() => this.#drop(id, watched), LINGER_MS)
    timer.unref()
    watched.idle = { timer, isPageGone }
  }

  #drop(id: string, { idle, ring }: Watched): void {
    clearTimeout(idle?.timer)
    ring?.clear()
    this.#topics.delete(id)
  }
}
