/**
 * Limits how fast passwords can be guessed. docs/security.md
 *
 * Each attempt takes a token before the password is checked; only a correct password returns it. An attempt without a token
 * waits for one, then is refused unchecked, so that neither parallel connections nor a correct login between wrong ones
 * speeds up guessing. A flood from one address uses up the tokens of that address only.
 */
import { after } from '../base/after.ts'
import { type BucketOptions, TokenBucket } from '../base/token-bucket.ts'
import { PcpError } from '../model/errors.ts'
import { type ClientOrigin, originOf } from './client-origin.ts'
import { isLoopback } from './loopback.ts'
import { wait } from './wait.ts'

/** A bucket, by what it is for. */
type Wanted = readonly [key: string, options: BucketOptions]

/** How an attempt ended; `unknown` when the password was not judged. */
export type LoginVerdict = 'right' | 'wrong' | 'unknown'

/** An attempt that may be made now. Its verdict must be given, once. */
export type GiveVerdict = (verdict: LoginVerdict) => void

/** Settings of `LoginAttempts`; the defaults are those of daemons. */
export interface LoginAttemptsOptions {
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number
  /** Receives the count of failed and refused attempts of an origin at 1, 10, 100... */
  readonly report?: (origin: string, count: number) => void
}

const MINUTE_MS = 60_000
/** Failures of one remote address, or of one user name from one user of this machine: at first, then 4 a minute. */
const ONE = { size: 5, refillMs: MINUTE_MS / 4 }
/** Failures of one user of this machine, and of loopback, where a web server may log in many people. */
const LOCAL = { size: 20, refillMs: MINUTE_MS / 20 }
/** Failures of all remote addresses that have not logged in before. */
const ALL = { size: 60, refillMs: MINUTE_MS / 60 }
/** Key of the bucket that all share. */
const EVERYONE = ''
/** How long an attempt waits for a token: less than a handshake may take. */
const WAIT_MS = 5000
/** Attempts that wait, of one origin and in all. */
const MAX_WAITING_OF_ONE = 16
const MAX_WAITING = 256
/** Buckets that are remembered; at this size the full ones are forgotten, then the oldest. */
const MAX_BUCKETS = 10_000
/** Origins whose failures are counted for the report; then the counts start over. */
const MAX_COUNTED = 10_000
/** Origins and names of the last successful logins. */
const MAX_KNOWN = 1000

/** Counts and delays failed logins by origin. */
export class LoginAttempts {
  readonly #now: () => number
  readonly #report: (origin: string, count: number) => void
  readonly #buckets = new Map<string, TokenBucket>()
  /** Pairs of origin and user that have logged in: what others do there does not delay them. */
  readonly #known = new Set<string>()
  readonly #failures = new Map<string, number>()
  /** Attempts without a verdict. */
  #underWay = 0
  readonly #waiting = new Set<{ readonly origin: string; readonly wake: () => void }>()

  constructor({ now = () => performance.now(), report = () => undefined }: LoginAttemptsOptions = {}) {
    this.#now = now
    this.#report = report
  }

  /** Origins that are remembered. */
  get size(): number {
    return this.#buckets.size
  }

  /**
   * Resolves when a password of `user` may be checked. EAGAIN when too many attempts of this origin have failed, ECANCELED by the signal.
   * The caller must give the verdict.
   */
  async begin(origin: ClientOrigin, user: string, signal?: AbortSignal): Promise<GiveVerdict> {
    const from = originOf(origin)
    const until = this.#now() + WAIT_MS
    for (;;) {
      const now = this.#now()
      const wanted = this.#wanted(from, origin.address, user)
      const leftMs = Math.max(...wanted.map(([key]) => this.#buckets.get(key)?.leftMs(now) ?? 0))
      if (leftMs === 0) return this.#take(wanted, from, user)
      // Attempts under way may turn out right and return their tokens.
      const isHopeless = now >= until || (now + leftMs > until && this.#underWay === 0)
      if (isHopeless || this.#isCrowded(from)) {
        this.#count(from)
        throw tooMany(from, leftMs)
      }
      await this.#wait(from, leftMs, until - now, signal)
    }
  }

  /** Returns the buckets that an attempt needs a token of. */
  #wanted(from: string, address: string | undefined, user: string): readonly Wanted[] {
    const pair = pairOf(from, user)
    // One who guesses a name through a web server must not use up what its owner has.
    const isShared = address !== undefined && isLoopback(address)
    if (this.#known.has(pair)) return [[pair, isShared ? LOCAL : ONE]]
    if (isShared) return [[from, LOCAL]]
    if (address === undefined)
      return [
        [from, LOCAL],
        [pair, ONE],
      ]
    return [
      [from, ONE],
      [EVERYONE, ALL],
    ]
  }

  #take(wanted: readonly Wanted[], from: string, user: string): GiveVerdict {
    const buckets = wanted.map(([key, options]) => this.#bucket(key, options))
    for (const bucket of buckets) bucket.take(this.#now())
    this.#underWay++
    let isGiven = false
    return (verdict) => {
      if (isGiven) return
      isGiven = true
      this.#underWay--
      if (verdict === 'wrong') {
        this.#count(from)
        return
      }
      for (const bucket of buckets) bucket.giveBack(this.#now())
      if (verdict === 'right') this.#know(pairOf(from, user))
      for (const { wake } of [...this.#waiting]) wake()
    }
  }

  #bucket(key: string, options: BucketOptions): TokenBucket {
    const now = this.#now()
    const found = this.#buckets.get(key)
    if (found !== undefined) return found
    if (this.#buckets.size >= MAX_BUCKETS)
      for (const [old, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(old)
    if (this.#buckets.size >= MAX_BUCKETS) {
      const [first, second] = this.#buckets.keys()
      this.#buckets.delete(first === EVERYONE ? second! : first!)
    }
    const bucket = new TokenBucket(options, now)
    this.#buckets.set(key, bucket)
    return bucket
  }

  #know(pair: string): void {
    this.#known.delete(pair)
    this.#known.add(pair)
    const [oldest] = this.#known
    if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest!)
  }

  /** Waits until a token is due or one is returned. EAGAIN after `maxMs`. */
  #wait(origin: string, leftMs: number, maxMs: number, signal: AbortSignal | undefined): Promise<void> {
    const late = (): PcpError => {
      this.#count(origin)
      return tooMany(origin, leftMs)
    }
    return wait<void>({ ms: maxMs, late, signal, what: `A login from ${origin}` }, (end) => {
      const waiter = { origin, wake: () => end() }
      this.#waiting.add(waiter)
      const cancel = after(Math.ceil(leftMs), waiter.wake)
      return () => {
        cancel()
        this.#waiting.delete(waiter)
      }
    })
  }

  #isCrowded(from: string): boolean {
    if (this.#waiting.size >= MAX_WAITING) return true
    let count = 0
    for (const { origin } of this.#waiting) if (origin === from) count++
    return count >= MAX_WAITING_OF_ONE
  }

  #count(origin: string): void {
    if (this.#failures.size >= MAX_COUNTED && !this.#failures.has(origin)) this.#failures.clear()
    const count = (this.#failures.get(origin) ?? 0) + 1
    this.#failures.set(origin, count)
    if (/^10*$/.test(String(count))) this.#report(origin, count)
  }
}

function tooMany(origin: string, leftMs: number): PcpError {
  const seconds = Math.max(1, Math.ceil(leftMs / 1000))
  return new PcpError('EAGAIN', `Too many failed logins from ${origin}: try again in ${seconds} s`)
}

function pairOf(origin: string, user: string): string {
  return `${origin} ${user}`
}
