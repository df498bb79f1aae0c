/** Reports a full or failing disk once when it begins and once when it ends. */
import type { PcpError } from '../model/errors.ts'
import type { LoggerLog } from './settings.ts'

/** Minimum time between two reports, in milliseconds. */
const QUIET_MS = 60_000

/** Results that could not be written. */
export class WriteFailureLog {
  readonly #log: LoggerLog
  readonly #now: () => number
  /** Results lost since the last report. */
  #lost = 0
  #isTold = false
  #toldAt = Number.NEGATIVE_INFINITY

  /** `now` is a monotonic clock in milliseconds. */
  constructor(log: LoggerLog, now: () => number) {
    this.#log = log
    this.#now = now
  }

  failed(error: PcpError): void {
    this.#lost++
    if (this.#isTold || this.#now() - this.#toldAt < QUIET_MS) return
    this.#isTold = true
    this.#toldAt = this.#now()
    this.#log.notice('error', `pmlogger: Cannot write the archive: ${error.message}`)
  }

  passed(): void {
    if (this.#lost > 0 && (this.#isTold || this.#now() - this.#toldAt >= QUIET_MS))
      this.#over('Writing again; ')
  }

  /** Reports the remaining losses. */
  ended(): void {
    if (this.#lost > 0) this.#over('')
  }

  #over(what: string): void {
    this.#log.notice('warning', `${what}${this.#lost} results are lost`)
    this.#lost = 0
    this.#isTold = false
    this.#toldAt = this.#now()
  }
}
