/** Logs refused hosts once each, and only the first ones, because clients choose their names. docs/reference/pmproxy.md */
import type { Log } from '../sys/log.ts'

/** Maximum number of logged hosts. */
const MOST_REFUSED = 32

/** The hosts that have been logged. */
export class RefusedHosts {
  readonly #log: Pick<Log, 'notice'>
  readonly #known = new Set<string>()

  constructor(log: Pick<Log, 'notice'>) {
    this.#log = log
  }

  /** Logs a message about a host, unless it was logged before or there are too many. */
  report(host: string, text: string): void {
    if (this.#known.size >= MOST_REFUSED || this.#known.has(host)) return
    this.#known.add(host)
    this.#log.notice('warning', text)
  }
}
