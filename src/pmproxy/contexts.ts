/** Contexts of web clients: known by number, gone when nobody uses them for a while. docs/pmproxy.md */

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
import type { Hosts, Shortage } from './hosts.ts'
import { HeldContext, SharedContexts } from './shared-contexts.ts'
import { isNamed, UNKNOWN, userKey, type WebUser } from './web-user.ts'

/** What a context is made of. */
export interface ContextWish {
  readonly host?: string
  /** Id of an archive below the configured directories. */
  readonly archive?: string
  readonly timeoutMs?: number
  /** Default: `UNKNOWN`. */
  readonly user?: WebUser
  /** Origin of the page of others that requests it, which may name listed hosts only. */
  readonly origin?: string | undefined
  /** Address of the client; undefined for a unix socket. */
  readonly address?: string | undefined
}

/** A context that a client may come back to. */
export class WebContext {
  readonly id: number
  /** The host specification or the id of the archive it was made with. */
  readonly source: string
  /** Who it was made by: user and password, so that nobody gets at it by a name alone, and origin. */
  readonly owner: string
  /** Address of the client it was made for; undefined for a unix socket. */
  readonly address: string | undefined
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
  /** Characters of expressions that are defined in it. */
  defined = 0
  /** What it is known to take; undefined once it is dropped. */
  account: ByteAccount | undefined
  /** Bytes counted so far. */
  weight = 0
  #isClosed = false
  /** Is it over an archive? */
  get isOfArchive(): boolean {
    return this.#open === undefined
  }

  /** `open` opens a context of its own where `held` is shared. */
  constructor(
    id: number,
    { source, owner, address, timeoutMs }: Pick<WebContext, 'source' | 'owner' | 'address' | 'timeoutMs'>,
    held: HeldContext,
    nowMs: number,
    open?: () => Promise<HeldContext>,
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

  /** Answers for it, and for others: who changes what others would notice asks `own`. */
  get context(): Context {
    return this.#held.context
  }

  /** What routes have found out about lists of names, by list: for some seconds, until names or expressions change. */
  get memo(): HeldContext['memo'] {
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

  /** Returns about how many bytes it takes. */
  get bytes(): number {
    const shared = CONTEXT_BYTES + 4 * (this.source.length + this.owner.length)
    if (this.#owned === undefined) return shared
    return shared + OWN_BYTES + DEFINED_BYTES * this.defined + profileBytes(this.context.profile)
  }

  /** Has its host gone away? */
  get isLost(): boolean {
    return this.#held.isLost
  }

  /** Connects again. Errors as `Context.reconnect`. */
  revive(): Promise<void> {
    return this.#held.revive()
  }

  /** Lets go of its context. */
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

/** What a number of a shared context takes, a context of its own, and a character of an expression: the tree made of it is larger. */
const CONTEXT_BYTES = 1500
const OWN_BYTES = 12_000
const DEFINED_BYTES = 20
/** How long a context lives unless the client says otherwise, ms. */
const DEFAULT_TIMEOUT_MS = 5000
/** Longest a client may ask for. */
const MOST_TIMEOUT_MS = 86_400_000
/** How often contexts that have expired are removed; until then they are said to have expired, afterwards to be unknown. */
const SWEEP_MS = 2000
/** Contexts at once. */
const MOST_CONTEXTS = 20_000
/** Those over archives among them, each of which has files open. */
const MOST_OF_ARCHIVES = 100
/** Expressions of one context, and their characters. */
const MOST_DEFINED = 1000
const MOST_CHARACTERS = 256 * 1024

/** Returns a key of those who may use a context. A page of another origin may not use what our own pages made: it may make less. */
function ownerKey(user: WebUser, origin: string | undefined): string {
  const key = userKey(user)
  return origin === undefined ? key : JSON.stringify([key, origin])
}

/** All contexts of one server. */
export class WebContexts {
  readonly #contexts = new Map<number, WebContext>()
  readonly #shared = new SharedContexts()
  readonly #hosts: Hosts
  readonly #archives: ArchiveRoots
  readonly #now: () => number
  readonly #sweeper: NodeJS.Timeout
  readonly #derived: () => DerivedSetup
  /** Contexts that were looked at when expired ones were last dropped, and those that were. */
  swept: { readonly scans: number; readonly drops: number } = { scans: 0, drops: 0 }
  readonly #budget: ByteBudget
  #ofArchives = 0

  constructor(
    hosts: Hosts,
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
      () => undefined, // the next sweep drops what this one left
    )
    this.#sweeper.unref()
  }

  /** How many there are. */
  get count(): number {
    return this.#contexts.size
  }

  /** Makes one and uses it: `release` it. Whatever opening a source throws, PM_ERR_CONNLIMIT for too many. */
  async make(wish: ContextWish): Promise<WebContext> {
    const { host = 'localhost', archive, user = UNKNOWN } = wish
    if (wish.origin !== undefined) this.#hosts.checkListed(host)
    if (this.#contexts.size >= MOST_CONTEXTS && !this.#makeRoom(MOST_CONTEXTS / 10, () => true))
      throw new PcpError('PM_ERR_CONNLIMIT', 'too many contexts')
    const isFull = archive !== undefined && this.#ofArchives >= MOST_OF_ARCHIVES
    if (isFull && !this.#makeRoom(1, ({ isOfArchive }) => isOfArchive))
      throw new PcpError('PM_ERR_CONNLIMIT', `More than ${MOST_OF_ARCHIVES} contexts over archives`)
    const open = async (): Promise<HeldContext> => new HeldContext(await this.open(wish), this.#now)
    // Over an archive each has a position of its own.
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
    this.weigh(made)
    return made
  }

  /** A context that is nobody's but the caller's, who closes it. */
  async open({ host = 'localhost', archive, user = UNKNOWN, origin }: ContextWish): Promise<Context> {
    const derived = this.#derived
    // An archive does not record which users could see a process: unidentified users see none.
    if (archive !== undefined) return this.#archives.open(archive, { derived, seesProcesses: isNamed(user) })
    const makeRoom = (shortage: Shortage): Promise<void> =>
      this.#freeHosts(shortage, ownerKey(user, origin), user.from)
    const open = (signal?: AbortSignal) => this.#hosts.lease(host, user, { signal, makeRoom })
    return Context.over(await open(), { hostname: host, derived, reopen: open })
  }

  /** Uses one by its number, which the same user and origin made: `release` it. PM_ERR_NOCONTEXT with PCP's words. */
  async use(id: number, user: WebUser, origin?: string): Promise<WebContext> {
    const held = this.#contexts.get(id)
    // Somebody else's context is none.
    if (held === undefined || held.owner !== ownerKey(user, origin))
      throw new PcpError('PM_ERR_NOCONTEXT', `unknown context identifier: ${id}`)
    if (this.#isOver(held)) {
      held.isExpired = true
      throw new PcpError('PM_ERR_NOCONTEXT', `expired context identifier: ${id}`)
    }
    held.uses++
    held.isWanted = true
    try {
      if (held.isLost) await held.revive()
    } catch (error) {
      held.uses--
      throw error
    }
    return held
  }

  /** So many characters of expressions more are to be defined in one, or fewer are. E2BIG for too many. */
  define(context: WebContext, characters: number): void {
    if (context.defined + characters > MOST_CHARACTERS)
      throw new PcpError('E2BIG', 'Too many expressions are defined')
    context.defined += characters
    this.weigh(context)
  }

  /** Counts what a context takes now. PM_ERR_NOCONTEXT when it was dropped because that is too much. */
  weigh(context: WebContext): void {
    const { bytes, weight, account } = context
    context.weight = bytes
    account?.keep(bytes - weight)
    if (context.account === undefined)
      throw new PcpError('PM_ERR_NOCONTEXT', `dropped context identifier: ${context.id}`)
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
    const scans = this.#contexts.size
    for (const held of this.#contexts.values())
      if (this.#isOver(held)) void this.#drop(held)
      else held.memo.tidy()
    this.swept = { scans, drops: scans - this.#contexts.size }
  }

  /** Has nobody used it for too long? */
  #isOver({ isExpired, uses, lastMs, timeoutMs }: WebContext): boolean {
    return isExpired || (uses === 0 && this.#now() - lastMs > timeoutMs)
  }

  /** Drops some that nobody came back to: most were made by requests that need no second one. False when there is none. */
  #makeRoom(most: number, isMeant: (held: WebContext) => boolean): boolean {
    let count = 0
    for (const held of this.#contexts.values()) {
      if (count === most) break
      if (!isMeant(held) || held.uses > 0 || (held.isWanted && !this.#isOver(held))) continue
      void this.#drop(held)
      count++
    }
    return count > 0
  }

  /** Drops contexts on hosts that their clients did not come back to, the client's own or all: they keep connections open. */
  async #freeHosts(shortage: Shortage, owner: string, address: string | undefined): Promise<void> {
    const isLeft = ({ isOfArchive, isWanted, uses, lastMs }: WebContext): boolean =>
      !isOfArchive && !isWanted && uses === 0 && this.#now() - lastMs > DEFAULT_TIMEOUT_MS
    const isMeant = (held: WebContext): boolean =>
      isLeft(held) && (shortage === 'all' || (held.owner === owner && held.address === address))
    await Promise.all([...this.#contexts.values()].filter(isMeant).map((held) => this.#drop(held)))
  }

  async #drop(context: WebContext): Promise<void> {
    if (!this.#contexts.delete(context.id)) return
    if (context.account !== undefined) this.#budget.close(context.account)
    context.account = undefined
    if (context.isOfArchive) this.#ofArchives--
    await context.close().catch(() => undefined) // its connection has failed already
  }

  #freeId(): number {
    const { randomInt } = process.getBuiltinModule('node:crypto')
    for (;;) {
      const id = randomInt(1, 2 ** 31)
      if (!this.#contexts.has(id)) return id
    }
  }
}
