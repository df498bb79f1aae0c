/** Splits a byte stream into PDUs, checking only length, type and limit. docs/formats/wire.md §1.1, §1.2 */
import { PcpError } from '../model/errors.ts'
import { PDU_HEADER, pduLength, pduName, wordAt } from './pdu.ts'

/** Largest PDU without a limit. */
const MAX_PDU = 2 ** 31 - 1 - 1024
/** Largest buffer allocated for a PDU before its bytes arrive: a length alone must not cost memory. */
const FIRST_ROOM = 65536

/**
 * Takes chunks of any size and passes on whole PDUs in order, synchronously. A PDU within one chunk borrows it; one in
 * pieces is copied once.
 */
export class Framer {
  readonly #onPdu: (pdu: Uint8Array) => void
  readonly #limit: number
  /** Chunks not processed yet; empty unless paused. */
  #waiting: Uint8Array[] = []
  #isPaused = false
  #isFeeding = false
  /** An incomplete PDU, and how many of its bytes have arrived. */
  #partial = new Uint8Array(0)
  #have = 0

  /** `limit` is the length of the largest PDU. */
  constructor(onPdu: (pdu: Uint8Array) => void, limit: number = MAX_PDU) {
    this.#onPdu = onPdu
    this.#limit = limit
  }

  /** Whether there is an incomplete PDU. */
  get hasPartial(): boolean {
    return this.#have > 0
  }

  /** Bytes kept: of an incomplete PDU, and of chunks that wait for `resume`. */
  get bytes(): number {
    let bytes = this.#partial.length
    for (const chunk of this.#waiting) bytes += chunk.length
    return bytes
  }

  /** Takes bytes. Throws PM_ERR_IPC for an invalid header, PM_ERR_TOOBIG for a length beyond the limit; the framer is then unusable. */
  push(chunk: Uint8Array): void {
    this.#waiting.push(chunk)
    this.#drain()
  }

  /** Stops passing on PDUs, even in the middle of a chunk. */
  pause(): void {
    this.#isPaused = true
  }

  /** Passes on the PDUs that have been waiting. Throws like `push`. */
  resume(): void {
    this.#isPaused = false
    this.#drain()
  }

  /** Returns, in order, the bytes after the last PDU, for a paused stream that changes its protocol. */
  takeRemaining(): Uint8Array[] {
    const begun = this.#have > 0 ? [this.#partial.subarray(0, this.#have)] : []
    const rest = [...begun, ...this.#waiting]
    this.#have = 0
    this.#waiting = []
    return rest
  }

  #drain(): void {
    if (this.#isFeeding) return
    while (!this.#isPaused && this.#waiting.length > 0) this.#feed(this.#waiting.shift()!)
  }

  #feed(chunk: Uint8Array): void {
    this.#isFeeding = true
    try {
      let at = 0
      while (at < chunk.length && !this.#isPaused)
        at = this.#have > 0 ? this.#join(chunk, at) : this.#cut(chunk, at)
      if (at < chunk.length) this.#waiting.unshift(chunk.subarray(at))
    } finally {
      this.#isFeeding = false
    }
  }

  /** Passes on the PDU at `at`, or keeps its beginning. Returns the offset after the consumed bytes. */
  #cut(chunk: Uint8Array, at: number): number {
    const left = chunk.length - at
    if (left >= PDU_HEADER) {
      const length = this.#checkHeader(chunk, at)
      if (length <= left) {
        this.#onPdu(new Uint8Array(chunk.buffer, chunk.byteOffset + at, length))
        return at + length
      }
      this.#partial = new Uint8Array(Math.min(length, Math.max(left, FIRST_ROOM)))
    } else {
      this.#partial = new Uint8Array(PDU_HEADER)
    }
    this.#partial.set(chunk.subarray(at))
    this.#have = left
    return chunk.length
  }

  /** Adds bytes to the incomplete PDU. */
  #join(chunk: Uint8Array, at: number): number {
    if (this.#have < PDU_HEADER) {
      const end = Math.min(chunk.length, at + PDU_HEADER - this.#have)
      this.#append(chunk, at, end, PDU_HEADER)
      if (this.#have < PDU_HEADER) return end
      this.#checkHeader(this.#partial, 0)
      at = end
    }
    const length = pduLength(this.#partial)
    const end = Math.min(chunk.length, at + length - this.#have)
    this.#append(chunk, at, end, length)
    if (this.#have === length) {
      const pdu = this.#partial
      this.#partial = new Uint8Array(0)
      this.#have = 0
      this.#onPdu(pdu)
    }
    return end
  }

  #append(chunk: Uint8Array, start: number, end: number, most: number): void {
    const have = this.#have + end - start
    if (have > this.#partial.length || (have === most && this.#partial.length !== most)) {
      const room = have === most ? most : Math.min(most, Math.max(have, 2 * this.#partial.length, FIRST_ROOM))
      const larger = new Uint8Array(room)
      larger.set(this.#partial.subarray(0, this.#have))
      this.#partial = larger
    }
    this.#partial.set(chunk.subarray(start, end), this.#have)
    this.#have = have
  }

  #checkHeader(bytes: Uint8Array, at: number): number {
    const length = wordAt(bytes, at)
    const type = wordAt(bytes, at + 4)
    if (length < PDU_HEADER) throw new PcpError('PM_ERR_IPC', `PDU header gives a length of ${length} bytes`)
    if (type < 0) throw new PcpError('PM_ERR_IPC', `PDU header gives the type ${type}`)
    if (length > this.#limit)
      throw new PcpError(
        'PM_ERR_TOOBIG',
        `${pduName(type)} PDU of ${length} bytes, the limit is ${this.#limit}`,
      )
    return length
  }
}
