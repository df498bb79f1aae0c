/** Answers that wait for slow readers: node keeps them in memory, however many there are. docs/security.md */
import type { ServerResponse } from 'node:http'

/** Answers below this are not counted: their number is bounded by that of connections. */
const LARGE = 64 * 1024

/** The large answers of a server that have not been read yet. */
export class Unread {
  readonly #most: number
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  /** May an answer of so many bytes be sent? It counts until it has been read, or its reader is gone. */
  admits(bytes: number, response: Pick<ServerResponse, 'once'>): boolean {
    if (bytes < LARGE) return true
    if (this.#bytes + bytes > this.#most) return false
    this.#bytes += bytes
    response.once('close', () => {
      this.#bytes -= bytes
    })
    return true
  }
}
