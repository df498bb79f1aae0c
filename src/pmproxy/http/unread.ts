/** Limits responses that wait in memory for slow clients. docs/explanation/security.md */

/** Smaller responses are not counted; the number of connections limits them. */
const LARGE = 64 * 1024
/** Callback of responses that are not counted. */
export const NOT_COUNTED = (): void => undefined

/** Counts large unread responses of a server. */
export class UnreadLimit {
  readonly #most: number
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Counts a response; call the returned function once it is read or the client has disconnected. Undefined if there are too many. */
  admit(bytes: number): (() => void) | undefined {
    if (bytes < LARGE) return NOT_COUNTED
    if (this.#bytes + bytes > this.#most) return undefined
    this.#bytes += bytes
    return () => {
      this.#bytes -= bytes
    }
  }
}
