/** Contexts of web clients: known by number, gone when nobody uses them for a while. docs/pmproxy.md */
import { isDerivedPmid } from '../derive/definitions.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { FetchResult } from '../model/values.ts'
import { openArchive } from '../pmapi/archive.ts'
import { type CallOptions, Context } from '../pmapi/context.ts'
import { type DerivedSetup, derivedSetup } from '../pmapi/derived.ts'
import type { Variables } from '../sys/config.ts'
import type { ArchiveRoots } from './archives.ts'
import type { Hosts, Login } from './hosts.ts'
import type { Memo } from './memo.ts'
import { HeldContext, SharedContexts } from './shared-contexts.ts'

/** What a context is made of. */
export interface ContextWish {
  readonly host?: string
  /** Id of an archive below the configured directories. */
  readonly archive?: string
  readonly timeoutMs?: number
  readonly login?: Login
}

/** A context that a client may come back to. */
export class WebContext {
  readonly id: number
  /** The host specification or the id of the archive it was made with. */
  readonly source: string
  /** Who it was made by. */
  readonly user: string | undefined
  /** Milliseconds it may be left alone. */
  readonly timeoutMs: number
  /** When it was last used, ms. */
  lastMs: number
  /** Requests that are using it. */
  uses = 1
  isExpired = false
  /** Has anybody come back to it by its number? */
  isWanted = false
  #held: HeldContext
  /** What it shared before it had one of its own: requests that began then may still be asking that. */
  #before: HeldContext | undefined
  readonly #open: (() => Promise<HeldContext>) | undefined
  #owned: Promise<void> | undefined

  /** `open` opens a context of its own where `held` is shared. */
  constructor(
    id: number,
    { source, user, timeoutMs }: Pick<WebContext, 'source' | 'user' | 'timeoutMs'>,
    held: HeldContext,
    nowMs: number,
    open?: () => Promise<HeldContext>,
  ) {
    this.id = id
    this.source = source
    this.user = user
    this.timeoutMs = timeoutMs
    this.lastMs = nowMs
    this.#held = held
    this.#open = open
  }

  /** Answers for it, and for others: who changes what others would notice asks `own`. */
  get context(): Context {
    return this.#held.context
  }

  /** What routes have found out about lists of names, by list: for some seconds, until names or expressions change. */
  get memo(): Memo {
    return this.#held.memo
  }

  /** Its context, which it shares with nobody from now on. Whatever opening a source throws. */
  async own(): Promise<Context> {
    this.#owned ??= this.#part()
    try {
      await this.#owned
    } catch (error) {
      this.#owned = undefined
      throw error
    }
    return this.context
  }

  /** Values now. Whatever opening a source and `Context.fetch` throw. */
  async fetch(ids: readonly Pmid[], options: CallOptions): Promise<FetchResult> {
    // A derived metric may remember the fetch before, which must not be somebody else's.
    const context = ids.some(isDerivedPmid) ? await this.own() : this.context
    return context.fetch(ids, options)
  }

  /** Connects again where its host went away. */
  async revive(): Promise<void> {
    if (this.#held.isLost) await this.#held.revive()
  }

  /** Lets go of its context. */
  async close(): Promise<void> {
    await Promise.all([this.#held.release(), this.#before?.release()])
  }

  async #part(): Promise<void> {
    if (this.#open === undefined) return
    const own = (await this.#open()).hold()
    this.#before = this.#held
    this.#held = own
  }
}

/** What a context is made of. */
export interface ContextWish {
  readonly host?: string
  /** Id of an archive below the configured directories. */
  readonly archive?: string
  readonly timeoutMs?: number
  readonly login?: Login
}

/** How long a context lives unless the client says otherwise, ms. */
const DEFAULT_TIMEOUT_MS = 5000
/** Longest a client may ask for. */
const MOST_TIMEOUT_MS = 86_400_000
/** How often contexts that have expired are removed; until then they are said to have expired, afterwards to be unknown. */
const SWEEP_MS = 2000
/** Contexts at once. */
const MOST_CONTEXTS = 20_000

/** All contexts of one server. */
export class WebContexts {
  readonly #contexts = new Map<number, WebContext>()
  readonly #shared = new SharedContexts()
  readonly #hosts: Hosts
  readonly #archives: ArchiveRoots
  readonly #env: Variables
  readonly #now: () => number
  readonly #sweeper: NodeJS.Timeout
  readonly #derived: () => DerivedSetup

  constructor(hosts: Hosts, archives: ArchiveRoots, env: Variables, now: () => number = Date.now) {
    this.#hosts = hosts
    this.#archives = archives
    this.#env = env
    this.#now = now
    this.#derived = () => derivedSetup(env, () => undefined)
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS)
    this.#sweeper.unref()
  }

  /** How many there are. */
  get count(): number {
    return this.#contexts.size
  }

  /** Makes one and uses it: `release` it. Whatever opening a source throws, PM_ERR_CONNLIMIT for too many. */
  async make(wish: ContextWish): Promise<WebContext> {
    if (this.#contexts.size >= MOST_CONTEXTS) this.#makeRoom()
    const { host = 'localhost', archive, login } = wish
    const open = async (): Promise<HeldContext> => new HeldContext(await this.open(wish), this.#now)
    // Over an archive each has a position of its own.
    const held =
      archive === undefined
        ? await this.#shared.hold(JSON.stringify([host, login]), open)
        : (await open()).hold()
    const about = {
      source: archive ?? host,
      user: login?.user,
      timeoutMs: Math.min(wish.timeoutMs ?? DEFAULT_TIMEOUT_MS, MOST_TIMEOUT_MS),
    }
    const made = new WebContext(
      this.#freeId(),
      about,
      held,
      this.#now(),
      archive === undefined ? open : undefined,
    )
    this.#contexts.set(made.id, made)
    return made
  }

  /** A context that is nobody's but the caller's, who closes it. */
  async open({ host = 'localhost', archive, login }: ContextWish): Promise<Context> {
    const derived = this.#derived
    if (archive !== undefined)
      return openArchive(this.#archives.path(archive), {
        env: this.#env,
        derived,
        onWarning: () => undefined,
      })
    const open = () => this.#hosts.lease(host, login)
    return Context.over(await open(), { hostname: host, derived, reopen: open })
  }

  /** Uses one by its number, which somebody of that name made: `release` it. PM_ERR_NOCONTEXT with PCP's words. */
  async use(id: number, user: string | undefined): Promise<WebContext> {
    const held = this.#contexts.get(id)
    // Somebody else's context is none.
    if (held === undefined || held.user !== user)
      throw new PcpError('PM_ERR_NOCONTEXT', `unknown context identifier: ${id}`)
    if (held.isExpired || (held.uses === 0 && this.#now() - held.lastMs > held.timeoutMs)) {
      held.isExpired = true
      throw new PcpError('PM_ERR_NOCONTEXT', `expired context identifier: ${id}`)
    }
    held.uses++
    held.isWanted = true
    try {
      await held.revive()
    } catch (error) {
      held.uses--
      throw error
    }
    return held
  }

  /** Its time runs from now on. */
  release({ id }: WebContext): void {
    const held = this.#contexts.get(id)
    if (held === undefined) return
    held.uses--
    held.lastMs = this.#now()
  }

  /** Closes all; idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    const all = [...this.#contexts.values()]
    this.#contexts.clear()
    await Promise.all(all.map((each) => each.close()))
  }

  #sweep(): void {
    const now = this.#now()
    for (const held of this.#contexts.values())
      if (held.uses === 0 && (held.isExpired || now - held.lastMs > held.timeoutMs)) this.#drop(held)
  }

  /** What nobody came back to goes first: most were made by requests that need no second one. */
  #makeRoom(): void {
    let left = MOST_CONTEXTS / 10
    for (const held of this.#contexts.values()) {
      if (held.uses > 0 || held.isWanted) continue
      this.#drop(held)
      if (--left === 0) return
    }
    if (this.#contexts.size >= MOST_CONTEXTS) throw new PcpError('PM_ERR_CONNLIMIT', 'too many contexts')
  }

  #drop(context: WebContext): void {
    this.#contexts.delete(context.id)
    void context.close().catch(() => undefined)
  }

  #freeId(): number {
    const { randomInt } = process.getBuiltinModule('node:crypto')
    for (;;) {
      const id = randomInt(1, 2 ** 31)
      if (!this.#contexts.has(id)) return id
    }
  }
}
