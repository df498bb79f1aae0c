/** All feeds of a server: who watches what, on which host, how often. docs/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import type { ContextWish, WebContexts } from '../contexts.ts'
import type { Login } from '../hosts.ts'
import type { Statistics } from '../statistics.ts'
import { Feed, type Wish } from './feed.ts'
import { Page, type Sink } from './page.ts'

/** A subscription as a page sends it, checked. */
export interface Subscription extends Wish {
  readonly key: string
  readonly host: string
  /** Seconds. */
  readonly every: number
}

/** Whose page it is. */
export interface PageOwner {
  /** The host that is meant where a page names none. */
  readonly defaultHost: string
  readonly login: Login | undefined
}

const MOST_PAGES = 2000
const MOST_FEEDS = 256
const MOST_KEYS = 200
const MOST_METRICS = 1000
const MOST_TEXT = 4096
/** Shortest and longest interval, seconds. */
const SHORTEST = 0.2
const LONGEST = 3600

interface Entry {
  readonly opened: Promise<Feed>
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
  open(sink: Sink, { defaultHost, login }: PageOwner): PageStream {
    if (this.#statistics.pages >= MOST_PAGES) throw new PcpError('PM_ERR_CONNLIMIT', 'Too many live pages')
    this.#statistics.pages++
    const page = new Page(sink, this.#statistics)
    const watching = new Map<string, () => void>()
    let isOpen = true
    // One after the other: a subscribe that replaces one must not overtake it.
    let queue = Promise.resolve()
    const stop = (key: string): void => {
      watching.get(key)?.()
      watching.delete(key)
    }
    const subscribe = async (wish: Subscription): Promise<void> => {
      stop(wish.key)
      if (watching.size >= MOST_KEYS)
        throw new PcpError('PM_ERR_TOOBIG', `More than ${MOST_KEYS} subscriptions of one page`)
      const end = await this.#watch(page, wish, login)
      if (isOpen) watching.set(wish.key, end)
      else end()
    }
    const handle = async (text: string): Promise<void> => {
      if (!isOpen) return
      let key: string | undefined
      try {
        const message = parseMessage(text, defaultHost)
        key = message.key
        if (message.wish === undefined) stop(message.key)
        else await subscribe(message.wish)
      } catch (error) {
        const { code, message } = PcpError.from(error)
        page.tell(JSON.stringify({ type: 'error', key: key ?? keyOf(text), code, message }))
      }
    }
    return {
      receive: (text) => {
        queue = queue.then(() => handle(text))
        return queue
      },
      close: () => {
        if (!isOpen) return
        isOpen = false
        this.#statistics.pages--
        for (const key of [...watching.keys()]) stop(key)
      },
    }
  }

  /** Ends all feeds; idempotent. */
  async close(): Promise<void> {
    const feeds = [...this.#feeds.values()]
    this.#feeds.clear()
    await Promise.all(feeds.map(({ opened }) => opened.then((feed) => feed.close()).catch(() => undefined)))
  }

  async #watch(
    page: Page,
    { key, host, every, metrics, derive }: Subscription,
    login: Login | undefined,
  ): Promise<() => void> {
    const everyMs = Math.round(every * 1000)
    const id = JSON.stringify([everyMs, host, login])
    const entry =
      this.#feeds.get(id) ?? this.#open(id, { host, ...(login === undefined ? {} : { login }) }, everyMs)
    entry.users++
    const leave = (): void => {
      if (--entry.users > 0 || this.#feeds.get(id) !== entry) return
      this.#feeds.delete(id)
      void entry.opened.then((feed) => feed.close()).catch(() => undefined)
    }
    try {
      const feed = await entry.opened
      const end = await feed.watch(page, key, { metrics, derive })
      return () => {
        end()
        leave()
      }
    } catch (error) {
      leave()
      throw error
    }
  }

  #open(id: string, wish: ContextWish, everyMs: number): Entry {
    if (this.#feeds.size >= MOST_FEEDS)
      throw new PcpError('PM_ERR_CONNLIMIT', `More than ${MOST_FEEDS} hosts and intervals are being watched`)
    const opened = this.#contexts.open(wish).then(async (context) => {
      const feed = new Feed(context, everyMs, this.#statistics, () => ++this.#topics)
      try {
        await feed.start()
        return feed
      } catch (error) {
        await feed.close()
        throw error
      }
    })
    const entry: Entry = { opened, users: 0 }
    this.#feeds.set(id, entry)
    return entry
  }
}

/** A page's stream. */
export interface PageStream {
  /** A message of the page. Resolves when it has been dealt with; never rejects. */
  receive(text: string): Promise<void>
  /** The page is gone; idempotent. */
  close(): void
}

/** Takes a message apart. PM_ERR_ARG says what is wrong with it. */
function parseMessage(text: string, defaultHost: string): { key: string; wish?: Subscription } {
  const message = object(parseJson(text), 'a message')
  const { subscribe, unsubscribe, host = defaultHost, every = 1, metrics, derive = {} } = message
  if (unsubscribe !== undefined) return { key: shortText(unsubscribe, 'unsubscribe') }
  const key = shortText(subscribe, 'subscribe')
  if (typeof every !== 'number' || !(every >= SHORTEST && every <= LONGEST))
    throw bad(`every is a number of seconds from ${SHORTEST} to ${LONGEST}`)
  if (!Array.isArray(metrics) || metrics.length === 0 || metrics.length > MOST_METRICS)
    throw bad(`metrics is a list of 1 to ${MOST_METRICS} names`)
  const expressions: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, expression] of Object.entries(object(derive, 'derive')))
    expressions[name] = shortText(expression, `the expression of ${name}`)
  return {
    key,
    wish: {
      key,
      host: shortText(host, 'host'),
      every,
      metrics: metrics.map((name) => shortText(name, 'a metric')),
      derive: expressions,
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw bad('a message is an object in JSON')
  }
}

/** What an error can be about when the message was not understood. */
function keyOf(text: string): string | null {
  try {
    const { subscribe } = JSON.parse(text) as { subscribe?: unknown }
    return typeof subscribe === 'string' ? subscribe.slice(0, MOST_TEXT) : null
  } catch {
    return null
  }
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw bad(`${what} is an object`)
}

function shortText(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length > 0 && value.length <= MOST_TEXT) return value
  throw bad(`${what} is a text of 1 to ${MOST_TEXT} characters`)
}

function bad(what: string): PcpError {
  return new PcpError('PM_ERR_ARG', what)
}
