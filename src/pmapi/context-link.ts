/**
 * The source that a context has open: opened again on request or by itself, closed for good. pmReconnectContext(3)
 *
 *     open ──lost──► away ──attempt──► open            close() wins over everything under way
 *       └──reconnect()──► away
 */
import type { Backoff } from '../base/backoff.ts'
import { onAbort } from '../base/on-abort.ts'
import type { DerivedDefinitions } from '../derive/definitions.ts'
import { type DerivedSource, withDerived } from '../derive/derived-source.ts'
import { PcpError } from '../model/errors.ts'
import type { MetricSource, SourceEvent } from '../model/source.ts'
import { SourceListeners } from '../net/listeners.ts'
import type { Clock } from './clock.ts'
import type { ContextOptions } from './context-options.ts'
import { derivedSetup } from './derived.ts'
import { withEventMetrics } from './event-metrics.ts'
import { ReconnectAttempt } from './reconnect-attempt.ts'
import { reconnectBackoff } from './reconnect-backoff.ts'
import { SharedSource } from './shared-source.ts'
import { traced } from './traced.ts'

/** Seconds to wait after the loss, and after each failed attempt, where the context reconnects by itself. */
const OWN_DELAYS: readonly number[] = [1, 2, 5, 10, 20, 40, 80]

type Reopen = NonNullable<ContextOptions['reopen']>

/** What a context is connected to, now or soon again. At most one source is open at a time. */
export class ContextLink {
  /** The source with all layers: questions go here, after `insistOnOpen`. */
  source: MetricSource
  /** The layer of derived metrics within `source`. */
  derived: DerivedSource
  /** Number of the context, on each of its sources. */
  readonly context: number
  /** How often a source was opened. */
  openings = 0
  /** Why there was no source before the present one was opened; undefined for the first. */
  lastAway: PcpError | undefined
  readonly #options: ContextOptions
  readonly #clock: Clock
  readonly #backoff: Backoff
  readonly #listeners = new SourceListeners()
  /** Callers that wait for a source. */
  readonly #waiting = new Set<() => void>()
  /** Aborted by `close`. */
  readonly #ending = new AbortController()
  /** Undefined once it was released. */
  #shared: SharedSource | undefined
  #unsubscribe: () => void = () => {}
  /** Why questions are refused; undefined while a source is open. */
  #refusal: PcpError | undefined
  #lostBy: PcpError | undefined
  #attempt: ReconnectAttempt | undefined
  #isRetrying = false
  #closing: Promise<void> | undefined

  constructor(shared: SharedSource, options: ContextOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
    this.context = shared.nextContext()
    const { reconnectTimeouts, random } = options
    this.#backoff = reconnectBackoff(
      reconnectTimeouts,
      random,
      this.reconnectsItself ? OWN_DELAYS : undefined,
    )
    this.derived = this.#layers(shared)
    this.source = traced(this.derived)
    this.#hold(shared)
  }

  /** Does the context reconnect by itself? */
  get reconnectsItself(): boolean {
    return this.#options.reconnect === true && this.#options.reopen !== undefined
  }

  /** Error that the source was lost with; undefined while one is open and after `close`. */
  get away(): PcpError | undefined {
    return this.#ending.signal.aborted ? undefined : this.#refusal
  }

  /** The open source; undefined while it is away and after `close`. */
  get shared(): SharedSource | undefined {
    return this.#shared
  }

  /** Throws PM_ERR_NOCONTEXT after `close`, and why the source is away while it is. */
  insistOnOpen(): void {
    if (this.#refusal !== undefined) throw this.#refusal
  }

  /** Subscribes to events of every source there will be, until `close`. */
  subscribe(listener: (event: SourceEvent) => void): () => void {
    return this.#listeners.subscribe(listener)
  }

  /** Closes the source and opens another one; callers at the same time share one attempt. Errors as `Context.reconnect`. */
  async reconnect(signal?: AbortSignal): Promise<void> {
    this.insistOnNotClosed()
    const { reopen } = this.#options
    if (reopen === undefined) return
    if (signal?.aborted === true) throw this.#givenUp(signal)
    let attempt = this.#attempt
    if (attempt === undefined || attempt.isGivenUp) {
      if (!this.#backoff.mayTry(this.#clock.now()))
        throw new PcpError('ETIMEDOUT', 'Too soon after the last failed attempt to reconnect')
      attempt = this.#begin(reopen, attempt)
    }
    await attempt.join(signal, () => this.#givenUp(signal))
  }

  /** Waits until a source is open. Rejects with the loss if nothing reconnects, and with ECANCELED by the signal. */
  async untilOpen(signal?: AbortSignal): Promise<void> {
    while (this.#refusal !== undefined) {
      this.insistOnNotClosed()
      if (!this.reconnectsItself && this.#attempt === undefined) throw this.#refusal
      await this.#change(signal)
    }
  }

  /** Ends an attempt under way and releases the source for good; idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#refusal = new PcpError('PM_ERR_NOCONTEXT', 'The context was closed')
    this.#ending.abort()
    const attempt = this.#attempt
    attempt?.giveUp()
    const released = this.#release()
    this.#tellWaiting()
    await Promise.allSettled([released, attempt?.settled])
    await released
  }

  /** Throws PM_ERR_NOCONTEXT after `close`. */
  insistOnNotClosed(): void {
    if (this.#ending.signal.aborted) throw this.#refusal!
  }

  #givenUp(signal: AbortSignal | undefined): PcpError {
    if (this.#ending.signal.aborted) return this.#refusal!
    return new PcpError('ECANCELED', 'Reconnecting was given up', { cause: signal?.reason })
  }

  /** The source with what every context adds to it, and derived metrics of this one alone. */
  #layers({ source }: SharedSource, own?: DerivedDefinitions): DerivedSource {
    const { list, ...rest } = (this.#options.derived ?? derivedSetup)()
    const options = own === undefined ? rest : { ...rest, own }
    return withDerived(withEventMetrics(source), list, options)
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
    // Other contexts may keep the source open for long.
    if (shared.release()) await this.source.close()
    else this.derived.release()
  }

  #hear(event: SourceEvent): void {
    const isLost = event.type === 'lost' && this.#options.reopen !== undefined
    if (isLost) {
      this.#lostBy ??= PcpError.from(event.error)
      this.#refusal ??= this.#lostBy
      if (this.reconnectsItself) this.#backoff.failed(this.#clock.now())
    }
    this.#listeners.emit(event)
    if (isLost) void this.#keepTrying()
  }

  #begin(reopen: Reopen, before: ReconnectAttempt | undefined): ReconnectAttempt {
    this.#refusal ??= new PcpError('PM_ERR_EOF', 'The source was closed to open it again')
    const attempt: ReconnectAttempt = new ReconnectAttempt(async (signal) => {
      try {
        // An attempt that was given up may still have a source to close.
        await before?.settled
        await this.#reopen(reopen, signal)
      } catch (error) {
        this.#lostBy ??= PcpError.from(error)
        if (!this.#ending.signal.aborted) this.#refusal = this.#lostBy
        throw error
      } finally {
        if (this.#attempt === attempt) this.#attempt = undefined
        this.#tellWaiting()
        void this.#keepTrying()
      }
    })
    this.#attempt = attempt
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
      if (signal.aborted) throw this.#givenUp(signal)
      this.#backoff.failed(this.#clock.now())
      throw new PcpError('ETIMEDOUT', `Cannot reconnect: ${(error as Error).message}`, { cause: error })
    }
  }

  #adopt(shared: SharedSource): void {
    const wasLost = this.#lostBy !== undefined
    this.derived = this.#layers(shared, this.derived.own)
    this.source = traced(this.derived)
    this.#hold(shared)
    this.lastAway = this.#refusal
    this.#refusal = undefined
    this.#lostBy = undefined
    this.#backoff.succeeded(this.#clock.now())
    // A listener that throws must not count as a failed attempt.
    if (wasLost) queueMicrotask(() => this.#listeners.emit({ type: 'back' }))
  }

  /** Attempts to reconnect until one succeeds, if the context reconnects by itself. */
  async #keepTrying(): Promise<void> {
    if (!this.reconnectsItself || this.#isRetrying) return
    this.#isRetrying = true
    const { signal } = this.#ending
    while (this.#lostBy !== undefined && !signal.aborted) {
      try {
        await this.#clock.sleep(this.#backoff.leftMs(this.#clock.now()), signal)
        if (this.#lostBy !== undefined) await this.reconnect()
      } catch {
        // The next attempt follows when the back-off allows it; `close` ends the loop.
      }
    }
    this.#isRetrying = false
  }

  #tellWaiting(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  /** Waits until an attempt ends, or `close`. */
  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#waiting.delete(wake)
        unwatch()
        settle()
      }
      const wake = (): void => end(resolve)
      const giveUp = (): void => end(() => reject(this.#givenUp(signal)))
      this.#waiting.add(wake)
      const unwatch = onAbort(signal, giveUp)
      if (signal?.aborted === true) giveUp()
    })
  }
}
