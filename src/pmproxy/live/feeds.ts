/** All feeds of a server: which hosts are watched how often, by whom. docs/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import { originOf } from '../../net/client-origin.ts'
import { isLoopback } from '../../net/loopback.ts'
import type { ContextWish, WebContexts } from '../contexts.ts'
import type { Statistics } from '../statistics.ts'
import { isNamed, userKey, type WebUser } from '../web-user.ts'
import { Feed } from './feed.ts'
import type { Subscription } from './messages.ts'
import { Page, type Sink } from './page.ts'
import { PageStream } from './page-stream.ts'

/** Whose page it is. */
export interface PageOwner {
  /** The host that is meant where a page names none. */
  readonly defaultHost: string
  readonly user: WebUser
  /** Counts bytes that its subscriptions take, fewer when negative. */
  readonly keep: (bytes: number) => void
}

const MOST_PAGES = 2000
/** Feeds at once, and those of them that are kept for clients with a login or the key. */
const MOST_FEEDS = 256
const RESERVED = 32
/** Feeds at once that one client begins, and one anonymous page over loopback, where forwarders are. */
const MOST_OF_CLIENT = 128
const MOST_OF_PAGE = 64
/** A host that cannot be reached is not asked by every page that waits for it, but once in so long, ms. */
const RETRY_MS = 2000

/** What feeds are counted by: an address and its network, or a page. */
type Client = string | Page

interface Entry {
  /** Began it. */
  readonly client: Client
  readonly feed: Feed
  readonly opened: Promise<void>
  /** It stays for a while, for those who ask for it again. */
  hasFailed: boolean
  /** Subscriptions, those being made included. */
  users: number
}

/** Pages and what they watch. */
export class Feeds {
  readonly #contexts: Pick<WebContexts, 'open'>
  readonly #statistics: Statistics
  readonly #feeds = new Map<string, Entry>()
  #topics = 0

  constructor(contexts: Pick<WebContexts, 'open'>, statistics: Statistics) {
    this.#contexts = contexts
    this.#statistics = statistics
  }

  /** Begins to serve a page. PM_ERR_CONNLIMIT for too many. */
  open(sink: Sink, { defaultHost, user, keep }: PageOwner): PageStream {
    if (this.#statistics.pages >= MOST_PAGES) throw new PcpError('PM_ERR_CONNLIMIT', 'Too many live pages')
    this.#statistics.pages++
    const page = new Page(sink, this.#statistics)
    return new PageStream({
      page,
      defaultHost,
      keep,
      watch: (wish, signal) => this.#watch(page, wish, user, signal),
      closed: () => {
        this.#statistics.pages--
      },
    })
  }

  /** Ends all feeds; idempotent. */
  async close(): Promise<void> {
    const feeds = [...this.#feeds.values()]
    this.#feeds.clear()
    await Promise.all(feeds.map(({ feed }) => feed.close().catch(() => undefined)))
  }

  /** Keeps the feed from the very call on: who replaces a subscription calls this before the old one ends. */
  async #watch(
    page: Page,
    { key, host, every, metrics, derive }: Subscription,
    user: WebUser,
    signal: AbortSignal,
  ): Promise<() => void> {
    const everyMs = Math.round(every * 1000)
    const id = JSON.stringify([everyMs, host, userKey(user)])
    const entry = this.#feeds.get(id) ?? this.#open(id, page, { host, user }, everyMs)
    entry.users++
    const leave = (): void => {
      if (--entry.users > 0 || entry.hasFailed) return
      this.#forget(id, entry)
      entry.feed.close().catch(() => undefined) // its connection has failed already
    }
    try {
      await entry.opened
      const end = await entry.feed.watch(page, key, { metrics, derive }, signal)
      return () => {
        end()
        leave()
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  #open(id: string, page: Page, wish: ContextWish & { readonly user: WebUser }, everyMs: number): Entry {
    const client = this.#admit(page, wish.user)
    const feed = new Feed(
      () => this.#contexts.open(wish),
      everyMs,
      this.#statistics,
      () => ++this.#topics,
    )
    const entry: Entry = { client, feed, opened: feed.start(), hasFailed: false, users: 0 }
    this.#feeds.set(id, entry)
    entry.opened.catch(() => {
      entry.hasFailed = true
      setTimeout(() => this.#forget(id, entry), RETRY_MS).unref()
    })
    return entry
  }

  /** Returns the client that one feed more is counted for. PM_ERR_CONNLIMIT for too many. */
  #admit(page: Page, user: WebUser): Client {
    const isKnown = isNamed(user)
    const isLocal = user.from === undefined || isLoopback(user.from)
    const client = isLocal ? page : originOf({ address: user.from })
    const most = isLocal && !isKnown ? MOST_OF_PAGE : MOST_OF_CLIENT
    let own = 0
    for (const entry of this.#feeds.values()) if (entry.client === client) own++
    if (own >= most)
      throw new PcpError(
        'PM_ERR_CONNLIMIT',
        `More than ${most} hosts and intervals are being watched from here`,
      )
    const mostOfAll = MOST_FEEDS - (isKnown ? 0 : RESERVED)
    if (this.#feeds.size >= mostOfAll)
      throw new PcpError('PM_ERR_CONNLIMIT', `More than ${mostOfAll} hosts and intervals are being watched`)
    return client
  }

  #forget(id: string, entry: Entry): void {
    if (this.#feeds.get(id) === entry) this.#feeds.delete(id)
  }
}
