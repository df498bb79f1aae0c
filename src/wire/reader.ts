/** PduReader: a cursor over one PDU that checks every length before it is used. docs/formats/wire.md §1 */
import { decodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import { PDU_HEADER, pduLength, pduName, pduType, round4 } from './pdu.ts'

/**
 * Reads one PDU, or one archive record, from `offset` to its end. Malformed data throws PM_ERR_IPC naming the
 * PDU, the offset and the reason. Nothing is allocated for an impossible count.
 */
export class PduReader {
  readonly view: DataView
  readonly bytes: Uint8Array
  /** Position of the next read. */
  offset: number
  readonly #name: string

  private constructor(bytes: Uint8Array, offset: number, name: string) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.offset = offset
    this.#name = name
  }

  /** Opens a PDU after its header, which must have this `type` and the actual length. */
  static open(pdu: Uint8Array, type: number): PduReader {
    const reader = new PduReader(pdu, PDU_HEADER, pduName(type))
    if (pdu.length < PDU_HEADER) reader.fail(`${pdu.length} bytes are less than a header`)
    if (pduLength(pdu) !== pdu.length)
      reader.fail(`its header has length ${pduLength(pdu)}, but it has ${pdu.length} bytes`)
    if (pduType(pdu) !== type) reader.fail(`expected it, got ${pduName(pduType(pdu))}`)
    return reader
  }

  /** Opens bytes that are laid out like a PDU; `name` appears in errors. */
  static over(bytes: Uint8Array, offset: number, name: string): PduReader {
    return new PduReader(bytes, offset, name)
  }

  /** Bytes not read yet. */
  get remaining(): number {
    return this.bytes.length - this.offset
  }

  /** Throws PM_ERR_IPC with the current offset. */
  fail(problem: string): never {
    throw new PcpError('PM_ERR_IPC', `Malformed ${this.#name} PDU at byte ${this.offset}: ${problem}`)
  }

  /** Throws unless `length` more bytes are available. */
  need(length: number): void {
    if (length > this.remaining) this.fail(`${length} bytes needed, ${this.remaining} left`)
  }

  /** Reads a signed 32-bit integer. */
  i32(): number {
    this.need(4)
    const value = this.view.getInt32(this.offset)
    this.offset += 4
    return value
  }

  /** Reads an unsigned 32-bit integer. */
  u32(): number {
    return this.i32() >>> 0
  }

  /** Reads an unsigned 16-bit integer. */
  u16(): number {
    this.need(2)
    const value = this.view.getUint16(this.offset)
    this.offset += 2
    return value
  }

  /** Reads an unsigned byte. */
  u8(): number {
    this.need(1)
    return this.bytes[this.offset++]!
  }

  /** Reads a signed 64-bit integer as a double, exact up to 2^53. */
  i64(): number {
    const high = this.i32()
    return high * 2 ** 32 + this.u32()
  }

  /** Reads a count of items of at least `itemBytes` bytes each; throws if it is negative or exceeds the rest of the PDU. */
  count(itemBytes: number): number {
    const count = this.i32()
    if (count < 0 || count * itemBytes > this.remaining) {
      this.offset -= 4
      this.fail(`a count of ${count} does not fit into ${this.remaining - 4} bytes`)
    }
    return count
  }

  /** Returns the next `length` bytes, borrowed. */
  take(length: number): Uint8Array {
    this.need(length)
    const part = this.bytes.subarray(this.offset, this.offset + length)
    this.offset += length
    return part
  }

  /** Reads text of `length` bytes. */
  text(length: number): string {
    this.need(length)
    const text = decodeText(this.bytes, this.offset, this.offset + length)
    this.offset += length
    return text
  }

  /** Reads text of `length` bytes, padded to whole words. */
  paddedText(length: number): string {
    this.need(round4(length))
    const text = this.text(length)
    this.offset += round4(length) - length
    return text
  }

  /** Throws unless the PDU ends here. */
  end(): void {
    if (this.remaining !== 0) this.fail(`${this.remaining} bytes left over`)
  }
}
