/** A reading refreshed on a timer, so that no fetch waits for it. docs/reference/agent-toolkit.md */
import { MAX_DELAY_MS, setLongTimeout } from '../base/after.ts'
import { withSignal } from '../base/with-signal.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import type { Refreshable } from './reading.ts'

/** Options of a background reading. */
export interface BackgroundOptions {
  /** Milliseconds between the starts of two refreshes. A slow refresh delays the next one. */
  readonly intervalMs: number
  /** A refresh that takes longer fails with ETIMEDOUT and its signal is aborted. Default: ten intervals, at least 30 s. */
  readonly timeoutMs?: number
  /** Older values are replaced by PM_ERR_AGAIN. Default: values never expire while refreshes succeed. */
  readonly maxAgeMs?: number
  /** Called after each refresh, for example to announce changed names or compute rates. An exception becomes the reading's error. */
  readonly onRefresh?: () => void
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
}

const LEAST_TIMEOUT_MS = 30_000

/**
 * Calls a function periodically, from `start` on, and keeps its last result. Metrics that name it as their `reading`
 * return PM_ERR_AGAIN before the first result and the error of a failed refresh. Duration and failures of refreshes are
 * fields that agents can export as metrics. `close` stops timers and refreshes; they keep no process alive.
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

  /** The signal given to `read` is aborted on timeout and by `close`. PM_ERR_BADSTORE for a wrong interval. */
  constructor(read: (signal: AbortSignal) => T | Promise<T>, options: BackgroundOptions) {
    this.#read = read
    this.#options = options
    this.#intervalMs = checkedInterval(options.intervalMs)
  }

  /** Finished refreshes, including failed ones. */
  get refreshes(): number {
    return this.#refreshes
  }

  get failures(): number {
    return this.#failures
  }

  /** Duration of the last refresh, in milliseconds. */
  get durationMs(): number {
    return this.#durationMs
  }

  /** Milliseconds since `value` was read; undefined before the first value. */
  get ageMs(): number | undefined {
    return this.#readAt === undefined ? undefined : this.#now() - this.#readAt
  }

  /** Milliseconds between the starts of two refreshes. */
  get intervalMs(): number {
    return this.#intervalMs
  }

  /** Counted from the start of the last refresh, so a shorter interval may trigger one immediately. PM_ERR_BADSTORE unless above 0. */
  set intervalMs(intervalMs: number) {
    this.#intervalMs = checkedInterval(intervalMs)
    if (this.#timer !== undefined) this.#schedule()
  }

  /** The last result. Throws `error` without one. */
  get value(): T {
    const { error } = this
    if (error !== undefined) throw error
    return this.#outcome as T
  }

  /** Reason of a missing value: not read yet, the last refresh failed, or the value expired. */
  get error(): PcpError | undefined {
    if (this.#outcome instanceof PcpError) return this.#outcome
    const { maxAgeMs } = this.#options
    if (maxAgeMs === undefined || this.ageMs! <= maxAgeMs) return undefined
    return new PcpError('PM_ERR_AGAIN', `Read ${this.ageMs} ms ago, longer than ${maxAgeMs} ms`)
  }

  /** Does nothing: fetches use the last result. */
  refresh(): void {}

  /** Starts periodic refreshes. Resolves after the first one. */
  start(): Promise<void> {
    return this.refreshNow()
  }

  /** Refreshes now or joins the refresh in progress. Never rejects; see `error`. */
  refreshNow(): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.resolve()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running ??= this.#run()
    return this.#running
  }

  /** Stops the timer and aborts a refresh in progress. */
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
      this.#outcome = PcpError.from(error) // runs on a timer, without a caller to throw to
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
        cancel = setLongTimeout(timeoutMs, giveUp, { isBackground: true })
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
