/** Lengths of PDUs in a stream that is forwarded. pmproxy(1) -L, docs/formats/wire.md §1 */

/** Bytes before a PDU's body: length, type and sender. */
const HEADER = 12
/** A TLS handshake, which a client may begin in place of its next PDU; what follows cannot be looked into. */
const TLS_RECORD = 0x1603

/** Looks at where PDUs begin, however the stream is cut. */
export class PduLimit {
  readonly #most: number
  /** Bytes of the present PDU that are still to come, when its length is known. */
  #left = 0
  /** The bytes of a length so far, and their number. */
  #length = 0
  #known = 0
  #isSecret = false

  constructor(most: number) {
    this.#most = most
  }

  /** May this chunk pass? No, when a PDU in it claims to be longer than the limit, or shorter than its own header. */
  passes(chunk: Uint8Array): boolean {
    let at = 0
    while (at < chunk.length && !this.#isSecret) {
      const skipped = Math.min(this.#left, chunk.length - at)
      this.#left -= skipped
      at += skipped
      while (this.#left === 0 && at < chunk.length) {
        this.#length = this.#length * 256 + chunk[at++]!
        if (++this.#known < 4) continue
        if (this.#length >>> 16 === TLS_RECORD) this.#isSecret = true
        else if (this.#length < HEADER || this.#length > this.#most) return false
        this.#left = this.#length - 4
        this.#length = 0
        this.#known = 0
      }
    }
    return true
  }
}
