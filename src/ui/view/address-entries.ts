/** Writes the address into the browser's history, so that Back undoes a zoom or pan and Forward redoes it. */

/** The part of a browser in use. */
export interface BrowserEntries {
  /** Fragment of the current entry, with `#`. */
  readonly current: () => string
  readonly push: (fragment: string) => void
  readonly replace: (fragment: string) => void
}

/** Changes that follow each other faster than this are one step of the user: a drag, a turn of the wheel, playback. */
export const REST_MS = 600
/** Shortest time between two writes. Safari rejects more than 100 in 30 seconds. */
export const WRITE_MS = 400

/**
 * Turns a stream of addresses into history entries: one entry for each step, whose address follows the step until it ends. At most one write in
 * `WRITE_MS`.
 */
export class AddressEntries {
  readonly #browser: BrowserEntries
  #wanted: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #changedAt = Number.NEGATIVE_INFINITY
  #writtenAt = Number.NEGATIVE_INFINITY
  /** Does the next write begin an entry? */
  #isNewStep = false

  constructor(browser: BrowserEntries) {
    this.#browser = browser
  }

  /** The page shows something else now; `isStep`: a separate step, however soon after the last one. */
  change(fragment: string, isStep = false): void {
    const now = performance.now()
    if (fragment === (this.#wanted ?? this.#browser.current())) return
    if (isStep || now - this.#changedAt >= REST_MS) this.#isNewStep = true
    this.#changedAt = now
    this.#wanted = fragment
    this.#timer ??= setTimeout(() => this.flush(), Math.max(0, this.#writtenAt + WRITE_MS - now))
  }

  /** Writes a pending address. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const wanted = this.#wanted
    this.#wanted = undefined
    const current = this.#browser.current()
    if (wanted === undefined || wanted === current) return
    this.#writtenAt = performance.now()
    // An entry with another address gets ours: the start of the page, the link to skip the header.
    const isEntry = current.includes('=')
    if (this.#isNewStep && isEntry) this.#browser.push(wanted)
    else this.#browser.replace(wanted)
    this.#isNewStep = false
  }

  /** The user has moved to another entry: what is pending belongs to the one before. */
  drop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#wanted = undefined
    this.#isNewStep = false
    this.#changedAt = Number.NEGATIVE_INFINITY
  }

  /** The page has taken over the current entry: drops a pending address, and completes the address of the entry. */
  adopt(fragment: string): void {
    this.drop()
    if (fragment === this.#browser.current()) return
    this.#writtenAt = performance.now()
    this.#browser.replace(fragment)
  }
}
