/** Answers that wait for slow readers: node keeps them in memory, however many there are. docs/security.md */

/** Answers below this are not counted: their number is bounded by that of connections. */
const LARGE = 64 * 1024
/** What is to be called after an answer that is not counted. */
export const NOT_COUNTED = (): void => undefined

/** The large answers of a server that have not been read yet. */
export class Unread {
  readonly #most: number
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Counts an answer of so many bytes: call what this returns when it has been read, or its reader is gone. Undefined: it is too much. */
  admit(bytes: number): (() => void) | undefined {
    if (bytes < LARGE) return NOT_COUNTED
    if (this.#bytes + bytes > this.#most) return undefined
    this.#bytes += bytes
    return () => {
      this.#bytes -= bytes
    }
  }
}
