/** Telling the log about each host once: what strangers do must not fill it. */

/** Nobody reads about more, and whoever has a network of IPv6 has more addresses than we have memory. */
const MAX_KEYS = 10_000

/** What has been told. */
export class Once {
  readonly #told = new Set<string>()

  /** Is this to be told now? Not when it has been, nor after ten thousand others. */
  isNew(key: string): boolean {
    if (this.#told.size >= MAX_KEYS || this.#told.has(key)) return false
    this.#told.add(key)
    return true
  }

  /** From now on everything is new. */
  clear(): void {
    this.#told.clear()
  }
}
