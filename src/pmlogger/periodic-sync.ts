/** Syncs recorded values within a time limit, off the event loop. docs/reference/pmlogger.md */
import { setLongTimeout } from '../base/after.ts'
import { PcpError } from '../model/errors.ts'

/** Callbacks of a periodic sync. */
export interface SyncActions {
  /** Syncs everything written so far to disk. */
  readonly sync: () => Promise<void>
  /** The oldest value not yet synced was written this many milliseconds ago; undefined if all are synced. */
  readonly atRisk: (ms: number | undefined) => void
  readonly failed: (error: PcpError) => void
}

/** Syncs one archive; at most one sync is in flight. */
export class PeriodicSync {
  readonly #everyMs: number
  readonly #actions: SyncActions
  /** Cancels the next sync; undefined if none is due. */
  #cancel: (() => void) | undefined
  #underWay: Promise<void> | undefined
  /** Time of the first value not covered by a started sync, by performance.now(). */
  #dueSince: number | undefined
  #hasFailed = false
  #isStopped = false

  /** `everyMs` limits how long values wait; with 0 only `now` syncs. */
  constructor(everyMs: number, actions: SyncActions) {
    this.#everyMs = everyMs
    this.#actions = actions
  }

  /** Notes that values were written. */
  written(): void {
    if (this.#dueSince === undefined) {
      this.#dueSince = performance.now()
      if (this.#underWay === undefined) this.#actions.atRisk(0)
    }
    this.#arm()
  }

  /** Syncs everything written before the call, or fails to. Never rejects. */
  async now(): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay
    await this.#begin()
  }

  /** Starts no more syncs; does not wait for one in progress. */
  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  #arm(): void {
    if (this.#cancel !== undefined || this.#underWay !== undefined) return
    if (this.#dueSince === undefined || this.#isStopped || this.#everyMs === 0) return
    const ms = this.#dueSince + this.#everyMs - performance.now()
    this.#cancel = setLongTimeout(this.#hasFailed ? this.#everyMs : ms, () => void this.now())
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
