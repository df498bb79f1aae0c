/** Lines of the log about peers: each once, so that strangers cannot fill it. */

/** No one reads about more, and an IPv6 network has more addresses than we have memory. */
const MAX_KEYS = 10_000

/** Keys that have a line in the log. */
export class RateLimitedLog {
  readonly #keys = new Set<string>()

  /** Returns whether a key gets a line now: not a second time, nor after ten thousand others. */
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
