/** Contexts of web clients: known by number, gone when nobody uses them for a while. docs/pmproxy.md */
import { PcpError } from '../model/errors.ts'
import { openArchive } from '../pmapi/archive.ts'
import { Context } from '../pmapi/context.ts'
import { type DerivedSetup, derivedSetup } from '../pmapi/derived.ts'
import type { Variables } from '../sys/config.ts'
import type { ArchiveRoots } from './archives.ts'
import type { Hosts, Login } from './hosts.ts'

/** A context that a client may come back to. */
export interface WebContext {
  readonly id: number
  readonly context: Context
  /** The host specification or the id of the archive it was made with. */
  readonly source: string
  /** Who it was made by. */
  readonly user: string | undefined
  /** What routes have found out about lists of names, by list: for some seconds, until names or expressions change. */
  readonly memo: Memo
  /** Milliseconds it may be left alone. */
  readonly timeoutMs: number
}

/** Answers that are good for a while. */
export class Memo {
  readonly #answers = new Map<string, unknown>()
  readonly #now: () => number
  #since = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** The answer to a question, asked for when it is not known; only short ones are kept. */
  async get<T extends string | readonly unknown[]>(question: string, ask: () => Promise<T>): Promise<T> {
    const now = this.#now()
    if (now - this.#since > MEMO_MS || this.#answers.size >= MOST_MEMOS) {
      this.#answers.clear()
      this.#since = now
    }
    const known = this.#answers.get(question)
    if (known !== undefined) return known as T
    const answer = await ask()
    if (answer.length < (typeof answer === 'string' ? MOST_TEXT : MOST_ITEMS))
      this.#answers.set(question, answer)
    return answer
  }

  /** Nothing is known any more. */
  clear(): void {
    this.#answers.clear()
  }
}

/** How long answers are good, ms, and how many there may be. */
const MEMO_MS = 5000
const MOST_MEMOS = 50
const MOST_TEXT = 65_536
const MOST_ITEMS = 1000

/** What a context is made of. */
export interface ContextWish {
  readonly host?: string
  /** Id of an archive below the configured directories. */
  readonly archive?: string
  readonly timeoutMs?: number
  readonly login?: Login
}

interface Held extends WebContext {
  /** When it was last used, ms; Infinity while it is being used. */
  lastMs: number
  uses: number
  isExpired: boolean
  isLost: boolean
  /** Has anybody come back to it by its number? */
  isWanted: boolean
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
  readonly #contexts = new Map<number, Held>()
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
    const context = await this.open(wish)
    const held: Held = {
      id: this.#freeId(),
      context,
      source: wish.archive ?? wish.host ?? 'localhost',
      user: wish.login?.user,
      memo: new Memo(this.#now),
      timeoutMs: Math.min(wish.timeoutMs ?? DEFAULT_TIMEOUT_MS, MOST_TIMEOUT_MS),
      lastMs: this.#now(),
      uses: 1,
      isExpired: false,
      isLost: false,
      isWanted: false,
    }
    context.subscribe(({ type }) => {
      if (type === 'lost') held.isLost = true
      if (type !== 'ready' && type !== 'notready') held.memo.clear()
    })
    this.#contexts.set(held.id, held)
    return held
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
    if (held.isLost) {
      try {
        await held.context.reconnect()
        held.isLost = false
      } catch (error) {
        held.uses--
        throw error
      }
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
    await Promise.all(all.map(({ context }) => context.close()))
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

  #drop({ id, context }: Held): void {
    this.#contexts.delete(id)
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
