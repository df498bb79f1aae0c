/** All feeds of a server, by host, interval and user. docs/reference/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import { originOf } from '../../net/client-origin.ts'
import { isLoopback } from '../../net/loopback.ts'
import type { ContextRequest, WebContexts } from '../contexts.ts'
import type { Statistics } from '../statistics.ts'
import { isNamed, userKey, type WebUser } from '../web-user.ts'
import { Feed } from './feed.ts'
import type { Subscription } from './messages.ts'
import { Page, type Sink } from './page.ts'
import { PageStream } from './page-stream.ts'
import type { RingBudget } from './row-ring.ts'
import { LINGER_MS } from './watched-topics.ts'

/** Owner of a page's stream. */
export interface PageOwner {
  /** Host used when a page names none. */
  readonly defaultHost: string
  readonly user: WebUser
  /** Accounts for memory of its subscriptions; negative when freed. */
  readonly keep: (bytes: number) => void
}

const MOST_PAGES = 2000
/** Maximum number of feeds, and how many of them are reserved for clients with a login or the key. */
const MOST_FEEDS = 256
const RESERVED = 32
/** Maximum number of feeds started by one client, and by one anonymous page over loopback, where forwarders connect. */
const MOST_OF_CLIENT = 128
const MOST_OF_PAGE = 64
/** Minimum time between attempts to reach a host for several pages, ms. */
const RETRY_MS = 2000
/** Maximum number of feeds without a page; they do not count for the limits above. */
const MOST_LINGERING = 8

/** What feeds are counted by: an address with its network, or a page. */
type Client = string | Page

interface Entry {
  /** The client that started it. */
  readonly client: Client
  readonly feed: Feed
  readonly opened: Promise<void>
  /** It failed, and is kept for a while to answer further requests. */
  hasFailed: boolean
  /** Number of subscriptions, including those being made. */
  users: number
  /** Ends the feed; set while it is only kept for pages that are reloaded. */
  lingering: ReturnType<typeof setTimeout> | undefined
}

/** Pages and the feeds they watch. */
export class Feeds {
  readonly #contexts: Pick<WebContexts, 'open'>
  readonly #statistics: Statistics
  readonly #feeds = new Map<string, Entry>()
  readonly #ringBudget: RingBudget = { bytes: 0 }
  #topics = 0

  constructor(contexts: Pick<WebContexts, 'open'>, statistics: Statistics) {
    this.#contexts = contexts
    this.#statistics = statistics
  }

  /** Serves a new page. PM_ERR_CONNLIMIT for too many. */
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
    for (const { lingering } of feeds) clearTimeout(lingering)
    await Promise.all(feeds.map(({ feed }) => feed.close().catch(() => undefined)))
  }

  /** Holds the feed from the call on, so that a replaced subscription does not end it. */
  async #watch(
    page: Page,
    { key, host, every, metrics, derive, past = false }: Subscription,
    user: WebUser,
    signal: AbortSignal,
  ): Promise<() => void> {
    const everyMs = Math.round(every * 1000)
    const id = JSON.stringify([everyMs, host, userKey(user)])
    const entry = this.#feeds.get(id) ?? this.#open(id, page, { host, user }, everyMs)
    clearTimeout(entry.lingering)
    entry.lingering = undefined
    entry.users++
    const leave = (): void => {
      if (--entry.users > 0 || entry.hasFailed) return
      if (entry.feed.isLingering) this.#linger(id, entry)
      else this.#end(id, entry)
    }
    try {
      await entry.opened
      const end = await entry.feed.watch(page, key, { metrics, derive, past }, signal)
      return () => {
        end()
        leave()
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  #open(id: string, page: Page, wish: ContextRequest & { readonly user: WebUser }, everyMs: number): Entry {
    const client = this.#admit(page, wish.user)
    const feed = new Feed(
      () => this.#contexts.open(wish),
      everyMs,
      this.#statistics,
      () => ++this.#topics,
      Math.random,
      this.#ringBudget,
    )
    const entry: Entry = {
      ...{ client, feed, opened: feed.start() },
      ...{ hasFailed: false, users: 0, lingering: undefined },
    }
    this.#feeds.set(id, entry)
    entry.opened.catch(() => {
      entry.hasFailed = true
      setTimeout(() => this.#forget(id, entry), RETRY_MS).unref()
    })
    return entry
  }

  /** Returns the client to count a new feed for. PM_ERR_CONNLIMIT for too many. */
  #admit(page: Page, user: WebUser): Client {
    const isKnown = isNamed(user)
    const isLocal = user.from === undefined || isLoopback(user.from)
    const client = isLocal ? page : originOf({ address: user.from })
    const most = isLocal && !isKnown ? MOST_OF_PAGE : MOST_OF_CLIENT
    let own = 0
    let all = 0
    for (const entry of this.#feeds.values()) {
      if (entry.lingering !== undefined) continue
      all++
      if (entry.client === client) own++
    }
    if (own >= most)
      throw new PcpError('PM_ERR_CONNLIMIT', `This client watches more than ${most} hosts and intervals`)
    const mostOfAll = MOST_FEEDS - (isKnown ? 0 : RESERVED)
    if (all >= mostOfAll)
      throw new PcpError(
        'PM_ERR_CONNLIMIT',
        `More than ${mostOfAll} hosts and intervals watched on this server`,
      )
    return client
  }

  /** Keeps a feed without a page for a while. */
  #linger(id: string, entry: Entry): void {
    const others = [...this.#feeds].filter(([, { lingering }]) => lingering !== undefined)
    if (others.length >= MOST_LINGERING) this.#end(...others[0]!)
    // In the order in which pages have left.
    this.#feeds.delete(id)
    this.#feeds.set(id, entry)
    entry.lingering = setTimeout(() => this.#end(id, entry), LINGER_MS)
    entry.lingering.unref()
  }

  #end(id: string, entry: Entry): void {
    clearTimeout(entry.lingering)
    this.#forget(id, entry)
    entry.feed.close().catch(() => undefined) // its connection has already failed
  }

  #forget(id: string, entry: Entry): void {
    if (this.#feeds.get(id) === entry) this.#feeds.delete(id)
  }
}
