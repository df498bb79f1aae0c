/** Refused hosts in the log: the first ones, once each, because clients choose them. docs/pmproxy.md */
import type { Log } from '../sys/log.ts'

/** Refused hosts that are logged. */
const MOST_REFUSED = 32

/** Hosts that have been logged. */
export class RefusedHosts {
  readonly #log: Pick<Log, 'notice'>
  readonly #known = new Set<string>()

  constructor(log: Pick<Log, 'notice'>) {
    this.#log = log
  }

  /** Logs the text for a host unless it has been logged, or too many others have. */
  report(host: string, text: string): void {
    if (this.#known.size >= MOST_REFUSED || this.#known.has(host)) return
    this.#known.add(host)
    this.#log.notice('warning', text)
  }
}
