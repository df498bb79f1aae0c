/** The topics of a feed: watched by pages, or kept for a while with their rows for a reload. docs/reference/pmproxy.md */
import type { Page } from './page.ts'
import type { RowRing } from './row-ring.ts'
import type { Topic } from './topic.ts'

/** Time for which rows are fetched and kept after the last page has left, e.g. to be reloaded, ms. */
export const LINGER_MS = 60_000
/** Maximum number of topics without a page. */
const MOST_IDLE = 2
/** A list that is watched for less is one of those through which a page comes to its own: it replaces no other, ms. */
const LEAST_WATCHED_MS = 2000

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
  /** Ends the topic; set while it has no page. */
  idle: ReturnType<typeof setTimeout> | undefined
  /** When the first of its pages came, by `performance.now()`. */
  watchedSince?: number
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
    if (watched.pages.size === 0) watched.watchedSince = performance.now()
    watched.pages.set(page, (watched.pages.get(page) ?? new Set()).add(key))
    clearTimeout(watched.idle)
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
    else this.#linger(id, watched)
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

  #linger(id: string, watched: Watched): void {
    const idle = this.#idle
    if (idle.length >= MOST_IDLE) {
      const isBrief = performance.now() - (watched.watchedSince ?? 0) < LEAST_WATCHED_MS
      const [droppedId, dropped] = isBrief ? [id, watched] : idle[0]!
      this.#drop(droppedId, dropped)
      if (isBrief) return
    }
    // In the order in which pages have left.
    this.#topics.delete(id)
    this.#topics.set(id, watched)
    watched.idle = setTimeout(() => this.#drop(id, watched), LINGER_MS)
    watched.idle.unref()
  }

  #drop(id: string, { idle, ring }: Watched): void {
    clearTimeout(idle)
    ring?.clear()
    this.#topics.delete(id)
  }
}
