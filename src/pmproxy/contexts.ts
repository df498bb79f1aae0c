/** Contexts of web clients, identified by a number and dropped when unused for a while. docs/reference/pmproxy.md */

import type { ByteAccount, ByteBudget } from '../base/byte-budget.ts'
import { every } from '../base/every.ts'
import { defaultControls, isDerivedPmid } from '../derive/definitions.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { profileBytes } from '../model/profile.ts'
import type { FetchResult } from '../model/values.ts'
import { type CallOptions, Context } from '../pmapi/context.ts'
import { type DerivedSetup, derivedSetup } from '../pmapi/derived.ts'
import type { Variables } from '../sys/config.ts'
import { monotonicMs } from '../sys/monotonic.ts'
import type { ArchiveRoots } from './archives.ts'
import type { HostConnections, LimitReached } from './hosts.ts'
import { SharedContext, SharedContexts } from './shared-contexts.ts'
import { isNamed, UNKNOWN, userKey, type WebUser } from './web-user.ts'

/** Parameters of a context. */
export interface ContextRequest {
  readonly host?: string
  /** Id of an archive below the configured directories. */
  readonly archive?: string
  readonly timeoutMs?: number
  /** Default: `UNKNOWN`. */
  readonly user?: WebUser
  /** Origin of the requesting page if it is not this server's; such a page may only name listed hosts. */
  readonly origin?: string | undefined
  /** Address of the client; undefined for a unix socket. */
  readonly address?: string | undefined
}

/** A context that a client may use again. */
export class WebContext {
  readonly id: number
  /** Host specification or archive id from which it was made. */
  readonly source: string
  /** Key of its owner: user with password, so that a name alone gives no access, and origin. */
  readonly owner: string
  /** Address of the client; undefined for a unix socket. */
  readonly address: string | undefined
  /** Milliseconds it may stay unused. */
  readonly timeoutMs: number
  /** Time of its last use, ms. */
  lastMs: number
  /** Number of requests that use it now. */
  uses = 1
  isExpired = false
  /** Has the client used it again by its number? */
  isReused = false
  #held: SharedContext
  /** The shared context before this one got its own; requests in flight may still use it. */
  #before: SharedContext | undefined
  readonly #open: (() => Promise<SharedContext>) | undefined
  #owned: Promise<void> | undefined
  /** Characters of the expressions defined in it. */
  defined = 0
  /** Accounts for its memory; undefined once it is dropped. */
  account: ByteAccount | undefined
  /** Bytes accounted so far. */
  weight = 0
  #isClosed = false
  /** Is its source an archive? */
  get isOfArchive(): boolean {
    return this.#open === undefined
  }

  /** `open` opens a private context if `held` is shared. */
  constructor(
    id: number,
    { source, owner, address, timeoutMs }: Pick<WebContext, 'source' | 'owner' | 'address' | 'timeoutMs'>,
    held: SharedContext,
    nowMs: number,
    open?: () => Promise<SharedContext>,
  ) {
    this.id = id
    this.source = source
    this.owner = owner
    this.address = address
    this.timeoutMs = timeoutMs
    this.lastMs = nowMs
    this.#held = held
    this.#open = open
  }

  /** The possibly shared context. Callers that change its state use `own`. */
  get context(): Context {
    return this.#held.context
  }

  /** Cached answers of routes about lists of names, for some seconds or until names or expressions change. */
  get memo(): SharedContext['cache'] {
    return this.#held.cache
  }

  /** Returns a private context, which this one uses from then on. Errors of opening a source. */
  async makePrivate(): Promise<Context> {
    this.#owned ??= this.#part()
    try {
      await this.#owned
    } catch (error) {
      this.#owned = undefined
      throw error
    }
    return this.context
  }

  /** Fetches current values. Errors of opening a source and of `Context.fetch`. */
  async fetch(ids: readonly Pmid[], options: CallOptions): Promise<FetchResult> {
    // A derived metric keeps its previous fetch, which must not be another client's.
    const context = ids.some(isDerivedPmid) ? await this.makePrivate() : this.context
    return context.fetch(ids, options)
  }

  /** Estimates its size in bytes. */
  get bytes(): number {
    const shared = CONTEXT_BYTES + 4 * (this.source.length + this.owner.length)
    if (this.#owned === undefined) return shared
    return shared + OWN_BYTES + DEFINED_BYTES * this.defined + profileBytes(this.context.profile)
  }

  /** Is the connection to its host lost? */
  get isLost(): boolean {
    return this.#held.isLost
  }

  /** Reconnects. Errors of `Context.reconnect`. */
  reconnect(): Promise<void> {
    return this.#held.reconnect()
  }

  /** Releases its context. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#held.release(), this.#before?.release()])
  }

  async #part(): Promise<void> {
    if (this.#open === undefined) return
    const own = (await this.#open()).hold()
    if (this.#isClosed) {
      await own.release()
      throw new PcpError('PM_ERR_NOCONTEXT', `dropped context identifier: ${this.id}`)
    }
    this.#before = this.#held
    this.#held = own
  }
}

/** Estimated bytes of an entry, of a private context, and per character of an expression, whose tree is larger than its text. */
const CONTEXT_BYTES = 1500
const OWN_BYTES = 12_000
const DEFINED_BYTES = 20
/** Default lifetime of an unused context, ms. */
const DEFAULT_TIMEOUT_MS = 5000
/** Maximum lifetime that a client may request. */
const MOST_TIMEOUT_MS = 86_400_000
/** How often expired contexts are removed, ms. Until then they are reported as expired, afterwards as unknown. */
const SWEEP_MS = 2000
/** Maximum number of contexts. */
const MOST_CONTEXTS = 20_000
/** Maximum number of contexts on archives, each of which has open files. */
const MOST_OF_ARCHIVES = 100
/** Limits of one context: expressions, and their characters. */
const MOST_DEFINED = 1000
const MOST_CHARACTERS = 256 * 1024

/** Returns the key of a context's owner. Pages of other origins have fewer rights, so they may not use contexts of this server's pages. */
function ownerKey(user: WebUser, origin: string | undefined): string {
  const key = userKey(user)
  return origin === undefined ? key : JSON.stringify([key, origin])
}

/** All contexts of one server. */
export class WebContexts {
  readonly #contexts = new Map<number, WebContext>()
  readonly #shared = new SharedContexts()
  readonly #hosts: HostConnections
  readonly #archives: ArchiveRoots
  readonly #now: () => number
  readonly #sweeper: NodeJS.Timeout
  readonly #derived: () => DerivedSetup
  /** Counts of the last sweep: contexts checked and dropped. */
  swept: { readonly scans: number; readonly drops: number } = { scans: 0, drops: 0 }
  readonly #budget: ByteBudget
  #ofArchives = 0

  constructor(
    hosts: HostConnections,
    archives: ArchiveRoots,
    env: Variables,
    budget: ByteBudget,
    now: () => number = monotonicMs,
  ) {
    this.#hosts = hosts
    this.#budget = budget
    this.#archives = archives
    this.#now = now
    this.#derived = () => {
      const setup = derivedSetup(env, () => undefined)
      const { controls = defaultControls() } = setup
      const contextLimit = controls.contextLimit < 0 ? MOST_DEFINED : controls.contextLimit
      return { ...setup, controls: { ...controls, contextLimit } }
    }
    this.#sweeper = every(
      SWEEP_MS,
      () => this.#sweep(),
      () => undefined, // the next sweep retries
    )
    this.#sweeper.unref()
  }

  /** Number of contexts. */
  get count(): number {
    return this.#contexts.size
  }

  /** Makes a context for use; `release` it. Errors of opening a source, PM_ERR_CONNLIMIT if there are too many. */
  async make(wish: ContextRequest): Promise<WebContext> {
    const { host = this.#hosts.defaultHost, archive, user = UNKNOWN } = wish
    if (wish.origin !== undefined) this.#hosts.checkListed(host)
    if (this.#contexts.size >= MOST_CONTEXTS && !this.#makeRoom(MOST_CONTEXTS / 10, () => true))
      throw new PcpError('PM_ERR_CONNLIMIT', 'too many contexts')
    const isFull = archive !== undefined && this.#ofArchives >= MOST_OF_ARCHIVES
    if (isFull && !this.#makeRoom(1, ({ isOfArchive }) => isOfArchive))
      throw new PcpError('PM_ERR_CONNLIMIT', `More than ${MOST_OF_ARCHIVES} contexts on archives`)
    const open = async (): Promise<SharedContext> => new SharedContext(await this.open(wish), this.#now)
    // Contexts on archives have a position, so they are not shared.
    const held =
      archive === undefined
        ? await this.#shared.hold(JSON.stringify([host, userKey(user)]), open)
        : (await open()).hold()
    const about = {
      source: archive ?? host,
      owner: ownerKey(user, wish.origin),
      address: wish.address,
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
    if (made.isOfArchive) this.#ofArchives++
    const group = wish.address ?? ''
    made.account = this.#budget.open({
      name: `Context ${made.id} of ${group === '' ? 'a unix socket' : group}`,
      group,
      evict: () => void this.#drop(made),
    })
    this.updateSize(made)
    return made
  }

  /** Opens a context that only the caller uses and closes. The signal ends waiting for a connection. */
  async open(wish: ContextRequest, signal?: AbortSignal): Promise<Context> {
    const { host = this.#hosts.defaultHost, archive, user = UNKNOWN, origin } = wish
    const derived = this.#derived
    // An archive does not record who may see a process, so unidentified users see none.
    if (archive !== undefined) return this.#archives.open(archive, { derived, seesProcesses: isNamed(user) })
    const makeRoom = (shortage: LimitReached): Promise<void> =>
      this.#freeHosts(shortage, ownerKey(user, origin), user.from)
    const open = (stop?: AbortSignal) => this.#hosts.lease(host, user, { signal: stop, makeRoom })
    return Context.over(await open(signal), { hostname: host, derived, reopen: open })
  }

  /** Returns a context by number, if the same user and origin made it; `release` it. PM_ERR_NOCONTEXT with PCP's text. */
  async use(id: number, user: WebUser, origin?: string): Promise<WebContext> {
    const held = this.#contexts.get(id)
    // Contexts of other users are reported as unknown.
    if (held === undefined || held.owner !== ownerKey(user, origin))
      throw new PcpError('PM_ERR_NOCONTEXT', `unknown context identifier: ${id}`)
    if (this.#isOver(held)) {
      held.isExpired = true
      throw new PcpError('PM_ERR_NOCONTEXT', `expired context identifier: ${id}`)
    }
    held.uses++
    held.isReused = true
    try {
      if (held.isLost) await held.reconnect()
    } catch (error) {
      held.uses--
      throw error
    }
    return held
  }

  /** Accounts for `characters` more, or fewer, of expressions in a context. E2BIG for too many. */
  addDerivedSize(context: WebContext, characters: number): void {
    if (context.defined + characters > MOST_CHARACTERS)
      throw new PcpError('E2BIG', 'Too many expressions are defined')
    context.defined += characters
    this.updateSize(context)
  }

  /** Accounts for the current size of a context. PM_ERR_NOCONTEXT if it was dropped because it is too large. */
  updateSize(context: WebContext): void {
    const { bytes, weight, account } = context
    context.weight = bytes
    account?.keep(bytes - weight)
    if (context.account === undefined)
      throw new PcpError('PM_ERR_NOCONTEXT', `dropped context identifier: ${context.id}`)
  }

  /** Ends one use of a context; its lifetime starts now. */
  release({ id }: WebContext): void {
    const held = this.#contexts.get(id)
    if (held === undefined) return
    held.uses--
    held.lastMs = this.#now()
  }

  /** Closes all contexts; idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    const all = [...this.#contexts.values()]
    this.#contexts.clear()
    await Promise.all(all.map((each) => each.close()))
  }

  #sweep(): void {
    const scans = this.#contexts.size
    for (const held of this.#contexts.values())
      if (this.#isOver(held)) void this.#drop(held)
      else held.memo.expire()
    this.swept = { scans, drops: scans - this.#contexts.size }
  }

  /** Has it been unused for too long? */
  #isOver({ isExpired, uses, lastMs, timeoutMs }: WebContext): boolean {
    return isExpired || (uses === 0 && this.#now() - lastMs > timeoutMs)
  }

  /** Drops contexts that were never used again, as most requests need no second one. Returns false if there are none. */
  #makeRoom(most: number, isMeant: (held: WebContext) => boolean): boolean {
    let count = 0
    for (const held of this.#contexts.values()) {
      if (count === most) break
      if (!isMeant(held) || held.uses > 0 || (held.isReused && !this.#isOver(held))) continue
      void this.#drop(held)
      count++
    }
    return count > 0
  }

  /** Drops contexts on hosts that were never used again, of this client or of all, because they keep connections open. */
  async #freeHosts(shortage: LimitReached, owner: string, address: string | undefined): Promise<void> {
    const isLeft = ({ isOfArchive, isReused, uses, lastMs }: WebContext): boolean =>
      !isOfArchive && !isReused && uses === 0 && this.#now() - lastMs > DEFAULT_TIMEOUT_MS
    const isMeant = (held: WebContext): boolean =>
      isLeft(held) && (shortage === 'all' || (held.owner === owner && held.address === address))
    await Promise.all([...this.#contexts.values()].filter(isMeant).map((held) => this.#drop(held)))
  }

  async #drop(context: WebContext): Promise<void> {
    if (!this.#contexts.delete(context.id)) return
    if (context.account !== undefined) this.#budget.close(context.account)
    context.account = undefined
    if (context.isOfArchive) this.#ofArchives--
    await context.close().catch(() => undefined) // its connection has already failed
  }

  #freeId(): number {
    const { randomInt } = process.getBuiltinModule('node:crypto')
    for (;;) {
      const id = randomInt(1, 2 ** 31)
      if (!this.#contexts.has(id)) return id
    }
  }
}
