/**
 * The life of a context: its source open, lost, reopened, closed. pmReconnectContext(3)
 *
 *     open ──lost──► lost ──retry, reconnect()──► reopening ──► open        close() leads from each to closed
 *       └────────reconnect()──────────────────────►│   └──failed──► lost
 */
import { Backoff } from '../base/backoff.ts'
import { onAbort } from '../base/on-abort.ts'
import type { DerivedDefinitions } from '../derive/definitions.ts'
import { type DerivedSource, withDerived } from '../derive/derived-source.ts'
import { PcpError } from '../model/errors.ts'
import type { MetricSource, SourceEvent } from '../model/source.ts'
import { SourceListeners } from '../net/source-listeners.ts'
import type { Clock } from './clock.ts'
import { type DerivedSetup, derivedSetup } from './derived.ts'
import { SharedSource } from './shared-source.ts'
import { traced } from './traced.ts'

/** Options for opening a context's source. */
export interface LifecycleOptions {
  /** Initial derived metrics; default: those registered with `registerDerived` so far. */
  readonly derived?: () => DerivedSetup
  /** Reopens the source; without it the context cannot reconnect. It must settle after its signal aborts. */
  readonly reopen?: (signal?: AbortSignal) => Promise<MetricSource>
  /** Reconnect automatically when the source is lost. Default false. */
  readonly reconnect?: boolean
  /** Seconds to wait after each failed attempt to reconnect; the last one repeats. Up to half is added at random. */
  readonly reconnectTimeouts?: readonly number[]
  /** Random number from 0 up to 1 for those delays; replaced in tests. Default Math.random. */
  readonly random?: () => number
}

/** Seconds to wait after failed attempts: PCP's defaults. */
const DEFAULT_DELAYS: readonly number[] = [5, 10, 20, 40, 80]
/** Seconds to wait after the loss and after each failed attempt when reconnecting automatically. */
const AUTO_RECONNECT_DELAYS: readonly number[] = [1, 2, 5, 10, 20, 40, 80]

/** Returns the back-off for reconnecting to a collector; an empty list selects the default delays, in seconds. PMCD_RECONNECT_TIMEOUT */
export function reconnectBackoff(
  seconds: readonly number[] = [],
  random?: () => number,
  defaults: readonly number[] = DEFAULT_DELAYS,
): Backoff {
  const delaysMs = (seconds.length > 0 ? seconds : defaults).map((each) => each * 1000)
  return new Backoff(random === undefined ? { delaysMs } : { delaysMs, random })
}

/** In every state but `open`, calls reject with `why`. */
type State =
  | { readonly is: 'open' }
  | { readonly is: 'lost'; readonly why: PcpError }
  | {
      readonly is: 'reopening'
      readonly why: PcpError
      /** Undefined if the source was closed in order to reopen it. */
      readonly lostBy: PcpError | undefined
      readonly attempt: Attempt
    }
  | { readonly is: 'closed'; readonly why: PcpError; released: Promise<void> }

type Reopen = NonNullable<LifecycleOptions['reopen']>

/** The states of a context and its source. At most one source is open at a time. */
export class Lifecycle {
  /** The source with all layers. Call `assertOpen` before using it. */
  source: MetricSource
  /** The layer of derived metrics within `source`. */
  derived: DerivedSource
  /** Context number, the same on each source. */
  readonly context: number
  /** Number of times a source was opened. */
  openings = 0
  /** Why the previous source was lost; undefined for the first source. */
  lastAway: PcpError | undefined
  #state: State = { is: 'open' }
  /** Aborted when the current state is left. */
  #leaving = new AbortController()
  /** Callers waiting for a state change. */
  readonly #waiting = new Set<() => void>()
  readonly #options: LifecycleOptions
  readonly #clock: Clock
  readonly #backoff: Backoff
  readonly #listeners = new SourceListeners()
  /** Undefined once released. */
  #shared: SharedSource | undefined
  #unsubscribe: () => void = () => {}

  constructor(shared: SharedSource, options: LifecycleOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
    this.context = shared.nextContext()
    const { reconnectTimeouts, random } = options
    this.#backoff = reconnectBackoff(
      reconnectTimeouts,
      random,
      this.reconnectsItself ? AUTO_RECONNECT_DELAYS : undefined,
    )
    this.derived = this.#layers(shared)
    this.source = traced(this.derived)
    this.#hold(shared)
  }

  /** True if the context reconnects automatically. */
  get reconnectsItself(): boolean {
    return this.#options.reconnect === true && this.#options.reopen !== undefined
  }

  /** Why the source is away; undefined while one is open and after `close`. */
  get away(): PcpError | undefined {
    const state = this.#state
    return state.is === 'open' || state.is === 'closed' ? undefined : state.why
  }

  /** The open source; undefined while reopening and after `close`. */
  get shared(): SharedSource | undefined {
    return this.#shared
  }

  /** Throws PM_ERR_NOCONTEXT after `close`, or the reason the source is away. */
  assertOpen(): void {
    if (this.#state.is !== 'open') throw this.#state.why
  }

  /** Throws PM_ERR_NOCONTEXT after `close`. */
  assertNotClosed(): void {
    if (this.#state.is === 'closed') throw this.#state.why
  }

  /** Subscribes to events of the current and all later sources, until `close`. */
  subscribe(listener: (event: SourceEvent) => void): () => void {
    return this.#listeners.subscribe(listener)
  }

  /** Closes the source and opens it again; concurrent callers share one attempt. Errors as `Context.reconnect`. */
  async reconnect(signal?: AbortSignal): Promise<void> {
    this.assertNotClosed()
    const { reopen } = this.#options
    if (reopen === undefined) return
    if (signal?.aborted === true) throw this.#canceled(signal)
    let attempt = this.#state.is === 'reopening' ? this.#state.attempt : undefined
    if (attempt === undefined || attempt.isGivenUp) {
      if (!this.#backoff.canRetry(this.#clock.now()))
        throw new PcpError('ETIMEDOUT', 'Too soon after the last failed attempt to reconnect')
      attempt = this.#begin(reopen, attempt)
    }
    await attempt.join(signal, () => this.#canceled(signal))
  }

  /** Resolves when a source is open. Rejects with the reason of the loss if nothing reconnects, with ECANCELED on abort. */
  async untilOpen(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const state = this.#state
      if (state.is === 'open') return
      if (state.is === 'closed' || (state.is === 'lost' && !this.reconnectsItself)) throw state.why
      await this.#change(signal)
    }
  }

  /** Cancels a pending attempt and releases the source for good. Idempotent. */
  close(): Promise<void> {
    const state = this.#state
    if (state.is === 'closed') return state.released
    const attempt = state.is === 'reopening' ? state.attempt : undefined
    const why = new PcpError('PM_ERR_NOCONTEXT', 'The context was closed')
    const closed = { is: 'closed' as const, why, released: Promise.resolve() }
    this.#enter(closed)
    closed.released = this.#end(attempt)
    return closed.released
  }

  async #end(attempt: Attempt | undefined): Promise<void> {
    attempt?.cancel()
    const released = this.#release()
    await Promise.allSettled([released, attempt?.settled])
    await released
  }

  #enter(state: State): void {
    this.#state = state
    this.#leaving.abort()
    this.#leaving = new AbortController()
    for (const wake of [...this.#waiting]) wake()
    if (state.is === 'lost' && this.reconnectsItself) void this.#retry(this.#leaving.signal)
  }

  /** Attempts to reconnect at the pace of the back-off while the source is lost. */
  async #retry(leaving: AbortSignal): Promise<void> {
    while (!leaving.aborted) {
      try {
        await this.#clock.sleep(this.#backoff.remainingMs(this.#clock.now()), leaving)
        await this.reconnect()
      } catch {
        // A failed attempt has re-entered the lost state, which retries.
      }
    }
  }

  #canceled(signal: AbortSignal | undefined): PcpError {
    if (this.#state.is === 'closed') return this.#state.why
    return new PcpError('ECANCELED', 'Reconnecting was canceled', { cause: signal?.reason })
  }

  /** Adds the layers of every context to a source, including the context's own derived metrics. */
  #layers({ source }: SharedSource, own?: DerivedDefinitions): DerivedSource {
    const { list, ...rest } = (this.#options.derived ?? derivedSetup)()
    return withDerived(source, list, { ...rest, hasEvents: true, ...(own === undefined ? {} : { own }) })
  }

  #hold(shared: SharedSource): void {
    this.#shared = shared.share()
    this.#unsubscribe = this.source.subscribe((event) => this.#hear(event))
    this.openings++
  }

  async #release(): Promise<void> {
    const shared = this.#shared
    if (shared === undefined) return
    this.#shared = undefined
    this.#unsubscribe()
    // Other contexts may keep the source open.
    if (shared.release()) await this.source.close()
    else this.derived.release()
  }

  #hear(event: SourceEvent): void {
    if (event.type === 'lost' && this.#options.reopen !== undefined) {
      const lostBy = PcpError.from(event.error)
      if (this.reconnectsItself) this.#backoff.failed(this.#clock.now())
      if (this.#state.is === 'open') this.#enter({ is: 'lost', why: lostBy })
      else this.#noteLoss(lostBy)
    }
    this.#listeners.emit(event)
  }

  /** Records why the source was lost, unless an earlier reason is recorded. */
  #noteLoss(lostBy: PcpError): void {
    const state = this.#state
    if (state.is === 'reopening' && state.lostBy === undefined) this.#enter({ ...state, why: lostBy, lostBy })
  }

  #begin(reopen: Reopen, before: Attempt | undefined): Attempt {
    const attempt: Attempt = new Attempt(async (signal) => {
      try {
        // A canceled attempt may still have a source to close.
        await before?.settled
        await this.#reopen(reopen, signal)
      } catch (error) {
        this.#noteLoss(PcpError.from(error))
        const state = this.#state
        if (state.is === 'reopening' && state.attempt === attempt) this.#enter({ is: 'lost', why: state.why })
        throw error
      }
    })
    const state = this.#state
    const lostBy = state.is === 'lost' ? state.why : state.is === 'reopening' ? state.lostBy : undefined
    const why = lostBy ?? new PcpError('PM_ERR_EOF', 'The source was closed to open it again')
    this.#enter({ is: 'reopening', why, lostBy, attempt })
    return attempt
  }

  async #reopen(reopen: Reopen, signal: AbortSignal): Promise<void> {
    let source: MetricSource | undefined
    try {
      await this.#release().catch(() => {}) // it is gone either way
      signal.throwIfAborted()
      source = await reopen(signal)
      signal.throwIfAborted()
      this.#adopt(new SharedSource(source, this.context + 1))
    } catch (error) {
      await source?.close().catch(() => {})
      if (signal.aborted) throw this.#canceled(signal)
      this.#backoff.failed(this.#clock.now())
      throw new PcpError('ETIMEDOUT', `Cannot reconnect: ${(error as Error).message}`, { cause: error })
    }
  }

  #adopt(shared: SharedSource): void {
    this.derived = this.#layers(shared, this.derived.own)
    this.source = traced(this.derived)
    this.#hold(shared)
    this.lastAway = this.away
    this.#backoff.succeeded(this.#clock.now())
    // An exception of a listener must not count as a failed attempt.
    if (this.#state.is === 'reopening' && this.#state.lostBy !== undefined)
      queueMicrotask(() => this.#listeners.emit({ type: 'back' }))
    this.#enter({ is: 'open' })
  }

  /** Resolves when the state changes. */
  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#waiting.delete(wake)
        unwatch()
        settle()
      }
      const wake = (): void => end(resolve)
      const giveUp = (): void => end(() => reject(this.#canceled(signal)))
      this.#waiting.add(wake)
      const unwatch = onAbort(signal, giveUp)
      if (signal?.aborted === true) giveUp()
    })
  }
}

/** One attempt to reopen the source, shared by its callers. Canceled by `giveUp`, or when no caller waits any more. */
class Attempt {
  readonly #controller = new AbortController()
  readonly #outcome: Promise<void>
  #callers = 0
  /** Resolves when the attempt has finished completely; never rejects. */
  readonly settled: Promise<void>

  /** Starts `run`, which must settle after its signal aborts. */
  constructor(run: (signal: AbortSignal) => Promise<void>) {
    this.#outcome = run(this.#controller.signal)
    this.settled = this.#outcome.catch(() => {})
  }

  /** Whether `giveUp` was called; the attempt may still be finishing. */
  get isGivenUp(): boolean {
    return this.#controller.signal.aborted
  }

  /** Cancels the attempt. */
  cancel(): void {
    this.#controller.abort()
  }

  /** Waits for the outcome; rejects with `givenUp` when the caller's signal aborts. */
  join(signal: AbortSignal | undefined, givenUp: () => PcpError): Promise<void> {
    this.#callers++
    return new Promise((resolve, reject) => {
      const unwatch = onAbort(signal, () => {
        unwatch()
        reject(givenUp())
        if (--this.#callers === 0) this.cancel()
      })
      this.#outcome.finally(unwatch).then(resolve, reject)
    })
  }
}
