/**
 * Limits how fast passwords can be guessed. docs/explanation/security.md
 *
 * Each attempt takes a token before the password is checked; only a correct password returns it. An attempt without a
 * token waits for one, then is refused unchecked, so that neither parallel connections nor correct logins in between
 * speed up guessing. A flood from one address uses up the tokens of that address only.
 */
import { setLongTimeout } from '../base/after.ts'
import { type BucketOptions, TokenBucket } from '../base/token-bucket.ts'
import { PcpError } from '../model/errors.ts'
import { type ClientOrigin, originOf } from './client-origin.ts'
import { isLoopback } from './loopback.ts'
import { waitFor } from './wait.ts'

/** A token bucket to take from, by key. */
type BucketRequest = readonly [key: string, options: BucketOptions]

/** How an attempt ended; `unknown` when the password was not checked. */
export type LoginVerdict = 'right' | 'wrong' | 'unknown'

/** Ends an attempt. It must be called exactly once. */
export type ReportVerdict = (verdict: LoginVerdict) => void

/** Settings of `LoginAttempts`; the defaults are those of daemons. */
export interface LoginAttemptsOptions {
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number
  /** Receives the count of failed and refused attempts of an origin at 1, 10, 100... */
  readonly report?: (origin: string, count: number) => void
}

const MINUTE_MS = 60_000
/** Failures of one remote address, or of one user name from one local user: burst, then 4 a minute. */
const ONE = { size: 5, refillMs: MINUTE_MS / 4 }
/** Failures of one local user, and of loopback, where a web server may log in many people. */
const LOCAL = { size: 20, refillMs: MINUTE_MS / 20 }
/** Failures of all remote addresses without an earlier login. */
const ALL = { size: 60, refillMs: MINUTE_MS / 60 }
/** Key of the shared bucket. */
const EVERYONE = ''
/** How long an attempt waits for a token; less than the handshake timeout. */
const WAIT_MS = 5000
/** Waiting attempts per origin and in total. */
const MAX_WAITING_OF_ONE = 16
const MAX_WAITING = 256
/** Buckets kept; beyond this the full ones are dropped, then the oldest. */
const MAX_BUCKETS = 10_000
/** Origins whose failures are counted for `report`; beyond this counting restarts. */
const MAX_COUNTED = 10_000
/** Origin and user pairs of recent successful logins. */
const MAX_KNOWN = 1000

/** Counts and delays failed logins by origin. */
export class LoginAttempts {
  readonly #now: () => number
  readonly #report: (origin: string, count: number) => void
  readonly #buckets = new Map<string, TokenBucket>()
  /** Pairs of origin and user that have logged in; failures of others do not delay them. */
  readonly #known = new Set<string>()
  readonly #failures = new Map<string, number>()
  /** Attempts in progress. */
  #pendingAttempts = 0
  readonly #waiting = new Set<{ readonly origin: string; readonly wake: () => void }>()

  constructor({ now = () => performance.now(), report = () => undefined }: LoginAttemptsOptions = {}) {
    this.#now = now
    this.#report = report
  }

  /** Origins with a bucket. */
  get size(): number {
    return this.#buckets.size
  }

  /**
   * Resolves when a password of `user` may be checked; the caller must then report the verdict. Rejects with EAGAIN after
   * too many failures from this origin, with ECANCELED when `signal` aborts.
   */
  async begin(origin: ClientOrigin, user: string, signal?: AbortSignal): Promise<ReportVerdict> {
    const from = originOf(origin)
    const until = this.#now() + WAIT_MS
    for (;;) {
      const now = this.#now()
      const wanted = this.#wanted(from, origin.address, user)
      const leftMs = Math.max(...wanted.map(([key]) => this.#buckets.get(key)?.remainingMs(now) ?? 0))
      if (leftMs === 0) return this.#take(wanted, from, user)
      // Attempts in progress may succeed and return their tokens.
      const isHopeless = now >= until || (now + leftMs > until && this.#pendingAttempts === 0)
      if (isHopeless || this.#isCrowded(from)) {
        this.#count(from)
        throw tooMany(from, leftMs)
      }
      await this.#wait(from, leftMs, until - now, signal)
    }
  }

  /** Returns the buckets that an attempt takes a token from. */
  #wanted(from: string, address: string | undefined, user: string): readonly BucketRequest[] {
    const pair = pairOf(from, user)
    // Guesses through a web server must not use up the tokens of the user whose name is guessed.
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

  #take(wanted: readonly BucketRequest[], from: string, user: string): ReportVerdict {
    const buckets = wanted.map(([key, options]) => this.#bucket(key, options))
    for (const bucket of buckets) bucket.take(this.#now())
    this.#pendingAttempts++
    let isGiven = false
    return (verdict) => {
      if (isGiven) return
      isGiven = true
      this.#pendingAttempts--
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
    return waitFor<void>(
      { ms: maxMs, createTimeoutError: late, signal, what: `A login from ${origin}` },
      (end) => {
        const waiter = { origin, wake: () => end() }
        this.#waiting.add(waiter)
        const cancel = setLongTimeout(Math.ceil(leftMs), waiter.wake)
        return () => {
          cancel()
          this.#waiting.delete(waiter)
        }
      },
    )
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
