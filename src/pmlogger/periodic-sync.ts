/** Syncs recorded values a bounded time after they were written, off the event loop. docs/pmlogger.md */
import { after } from '../base/after.ts'
import { PcpError } from '../model/errors.ts'

/** Callbacks of a periodic sync. */
export interface SyncActions {
  /** Makes everything written so far survive. */
  readonly sync: () => Promise<void>
  /** The oldest value that a power cut would cost was written so many milliseconds ago; undefined when there is none. */
  readonly atRisk: (ms: number | undefined) => void
  readonly failed: (error: PcpError) => void
}

/** Syncs one archive; at most one sync is in flight. */
export class PeriodicSync {
  readonly #everyMs: number
  readonly #actions: SyncActions
  /** Ends the wait for the next sync; undefined when none is due. */
  #cancel: (() => void) | undefined
  #underWay: Promise<void> | undefined
  /** When the first value was written that no sync which has begun covers, by performance.now(). */
  #dueSince: number | undefined
  #hasFailed = false
  #isStopped = false

  /** `everyMs` is the most time that values wait; 0 leaves it to `now`. */
  constructor(everyMs: number, actions: SyncActions) {
    this.#everyMs = everyMs
    this.#actions = actions
  }

  /** Something was written. */
  written(): void {
    if (this.#dueSince === undefined) {
      this.#dueSince = performance.now()
      if (this.#underWay === undefined) this.#actions.atRisk(0)
    }
    this.#arm()
  }

  /** Resolves when everything written before the call survives, or could not be made to. Never rejects. */
  async now(): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay
    await this.#begin()
  }

  /** No sync is begun any more; one that is under way is not waited for. */
  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  #arm(): void {
    if (this.#cancel !== undefined || this.#underWay !== undefined) return
    if (this.#dueSince === undefined || this.#isStopped || this.#everyMs === 0) return
    const ms = this.#dueSince + this.#everyMs - performance.now()
    this.#cancel = after(this.#hasFailed ? this.#everyMs : ms, () => void this.now())
  }

  #begin(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    const since = this.#dueSince
    if (since === undefined || this.#isStopped) return Promise.resolve()
    this.#dueSince = undefined
    this.#underWay = this.#sync(since)
    return this.#underWay
  }

  async #sync(since: number): Promise<void> {
    try {
      await this.#actions.sync()
      this.#hasFailed = false
    } catch (error) {
      this.#hasFailed = true
      this.#dueSince = since
      if (!this.#isStopped) this.#actions.failed(PcpError.from(error))
    } finally {
      this.#underWay = undefined
      const left = this.#dueSince
      if (!this.#isStopped) this.#actions.atRisk(left === undefined ? undefined : performance.now() - left)
      this.#arm()
    }
  }
}
