/** Checks the lengths of PDUs in a forwarded stream. pmproxy(1) -L, docs/formats/wire.md §1 */

/** Size of a PDU header: length, type and sender. */
const HEADER = 12
/** Start of a TLS handshake, which a client may send instead of its next PDU; everything after it is encrypted. */
const TLS_RECORD = 0x1603

/** Tracks PDU boundaries across chunks. */
export class PduLimit {
  readonly #most: number
  /** Bytes missing of the current PDU, once its length is known. */
  #left = 0
  /** The length field read so far, and its number of bytes. */
  #length = 0
  #known = 0
  #isSecret = false

  constructor(most: number) {
    this.#most = most
  }

  /** Returns false if a PDU in this chunk exceeds the limit or is shorter than its header. */
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
