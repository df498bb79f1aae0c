/** A reading that takes time: refreshed by itself, so that no fetch ever waits for it. docs/agents.md */
import { after, MAX_DELAY_MS } from '../base/after.ts'
import { withSignal } from '../base/with-signal.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import type { Refreshable } from './reading.ts'

/** How a background reading is made. */
export interface BackgroundOptions {
  /** Milliseconds from the start of one refresh to that of the next; one that takes longer delays the next. */
  readonly intervalMs: number
  /** A refresh that takes longer has failed (ETIMEDOUT) and its signal is aborted. Default: ten intervals, 30 s at least. */
  readonly timeoutMs?: number
  /** What was read longer ago counts no more (PM_ERR_AGAIN). Default: forever, while refreshes do not fail. */
  readonly maxAgeMs?: number
  /** Called after each refresh: to announce changed names, to compute rates. What it throws is the reading's error. */
  readonly onRefresh?: () => void
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
}

const LEAST_TIMEOUT_MS = 30_000

/**
 * Reads something again and again, from `start` on, and has ready what was read last. The metrics that name it as their
 * `reading` have PM_ERR_AGAIN until there is something, and the error of a refresh that failed. How long refreshes take,
 * and how many failed, are fields: worth a metric each. Timers and refreshes end with `close`; they keep no process alive.
 */
export class BackgroundReading<T> implements Refreshable {
  readonly #read: (signal: AbortSignal) => T | Promise<T>
  readonly #options: BackgroundOptions
  #intervalMs: number
  #outcome: Outcome<T> = new PcpError('PM_ERR_AGAIN', 'Not read yet')
  #readAt: number | undefined
  #refreshes = 0
  #failures = 0
  #durationMs = 0
  #startedAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  readonly #closing = new AbortController()

  /** `read` is given a signal that is aborted when it takes too long, or at the end. PM_ERR_GENERIC for a wrong interval. */
  constructor(read: (signal: AbortSignal) => T | Promise<T>, options: BackgroundOptions) {
    this.#read = read
    this.#options = options
    this.#intervalMs = checkedInterval(options.intervalMs)
  }

  /** Refreshes finished, also those that failed. */
  get refreshes(): number {
    return this.#refreshes
  }

  /** Refreshes that failed. */
  get failures(): number {
    return this.#failures
  }

  /** How long the last refresh took, in milliseconds. */
  get durationMs(): number {
    return this.#durationMs
  }

  /** Milliseconds since `value` was read; undefined before there was one. */
  get ageMs(): number | undefined {
    return this.#readAt === undefined ? undefined : this.#now() - this.#readAt
  }

  /** Milliseconds from the start of one refresh to that of the next. */
  get intervalMs(): number {
    return this.#intervalMs
  }

  /** Counts from the start of the last refresh: a shorter interval may mean at once. PM_ERR_BADSTORE unless above 0. */
  set intervalMs(intervalMs: number) {
    this.#intervalMs = checkedInterval(intervalMs)
    if (this.#timer !== undefined) this.#schedule()
  }

  /** What was read last. Throws why there is nothing. */
  get value(): T {
    const { error } = this
    if (error !== undefined) throw error
    return this.#outcome as T
  }

  /** Why there is no value: nothing read yet, the last refresh failed, or it is too long ago. */
  get error(): PcpError | undefined {
    if (this.#outcome instanceof PcpError) return this.#outcome
    const { maxAgeMs } = this.#options
    if (maxAgeMs === undefined || this.ageMs! <= maxAgeMs) return undefined
    return new PcpError('PM_ERR_AGAIN', `Read ${this.ageMs} ms ago, longer than ${maxAgeMs} ms`)
  }

  /** Nothing: fetches take what is there. */
  refresh(): void {}

  /** Begins to refresh, now and then each interval. Returns when the first refresh is over. */
  start(): Promise<void> {
    return this.refreshNow()
  }

  /** Refreshes now, or joins the refresh that is under way. Never fails: see `error`. */
  refreshNow(): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.resolve()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running ??= this.#run()
    return this.#running
  }

  /** Stops, and aborts a refresh that is under way. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#closing.abort()
  }

  #now(): number {
    return (this.#options.clock ?? Date.now)()
  }

  async #run(): Promise<void> {
    this.#startedAt = this.#now()
    let outcome: Outcome<T>
    try {
      outcome = await this.#readInTime()
    } catch (error) {
      outcome = PcpError.from(error)
    }
    this.#running = undefined
    if (this.#closing.signal.aborted) return
    this.#refreshes++
    this.#outcome = outcome
    this.#durationMs = this.#now() - this.#startedAt
    if (outcome instanceof PcpError) this.#failures++
    else this.#readAt = this.#now()
    this.#schedule()
    try {
      this.#options.onRefresh?.()
    } catch (error) {
      this.#outcome = PcpError.from(error) // nobody waits here who could be told otherwise
    }
  }

  async #readInTime(): Promise<T> {
    const timeoutMs = this.#options.timeoutMs ?? Math.max(LEAST_TIMEOUT_MS, 10 * this.#intervalMs)
    return withSignal({ signals: [this.#closing.signal] }, async (signal, abort) => {
      let cancel = (): void => {}
      const tooLate = new Promise<never>((_, reject) => {
        const giveUp = (): void => {
          reject(new PcpError('ETIMEDOUT', `No answer within ${timeoutMs} ms`))
          abort()
        }
        cancel = after(timeoutMs, giveUp, { isBackground: true })
      })
      try {
        const read = async (): Promise<T> => this.#read(signal)
        return await Promise.race([read(), tooLate])
      } finally {
        cancel()
      }
    })
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    const wait = Math.max(0, this.#startedAt + this.#intervalMs - this.#now())
    this.#timer = setTimeout(() => void this.refreshNow(), wait)
    this.#timer.unref()
  }
}

function checkedInterval(intervalMs: number): number {
  if (!(intervalMs > 0 && intervalMs <= MAX_DELAY_MS))
    throw new PcpError('PM_ERR_BADSTORE', `An interval of ${intervalMs} ms must be above 0, 24 days at most`)
  return intervalMs
}
