/** Limits log lines about peers to one each, so that strangers cannot fill the log. */

/** Limits memory: an IPv6 network has a virtually unlimited number of addresses. */
const MAX_KEYS = 10_000

/** Keys that have been logged. */
export class RateLimitedLog {
  readonly #keys = new Set<string>()

  /** Returns true the first time a key is seen, for up to ten thousand keys. */
  isNew(key: string): boolean {
    if (this.#keys.size >= MAX_KEYS || this.#keys.has(key)) return false
    this.#keys.add(key)
    return true
  }

  /** Forgets all keys. */
  clear(): void {
    this.#keys.clear()
  }
}
