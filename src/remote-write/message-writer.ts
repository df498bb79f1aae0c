/** Writes Protocol Buffers into one growing buffer, without a schema. */
const INITIAL_BYTES = 64 << 10
const TWO_32 = 0x1_0000_0000
/** Bytes reserved for the length of a nested message; most are shorter than 16 KB. */
const RESERVED = 2
const encoder = new TextEncoder()

/** The wire types that are used. */
export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2

/** A message under construction. Fields with the default value 0 or '' are omitted, as in proto3. */
export class MessageWriter {
  #bytes = new Uint8Array(INITIAL_BYTES)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  /** Empties the buffer, which is reused. */
  clear(): void {
    this.#length = 0
  }

  /** The bytes so far, valid until the next change. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Writes a non-negative integer below 2^53. */
  integer(field: number, value: number): void {
    if (value === 0) return
    this.#reserve(20)
    this.#varint((field << 3) | VARINT)
    this.#varint(value)
  }

  /** Writes a signed 64-bit integer. */
  int64(field: number, value: number): void {
    if (value >= 0) {
      this.integer(field, value)
      return
    }
    this.#reserve(20)
    this.#varint((field << 3) | VARINT)
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80
    this.#bytes[this.#length++] = Number(rest)
  }

  /** Writes a double; -0 is not the default. */
  double(field: number, value: number): void {
    if (Object.is(value, 0)) return
    this.#reserve(20)
    this.#varint((field << 3) | FIXED64)
    this.#view.setFloat64(this.#length, value, true)
    this.#length += 8
  }

  /** Writes the 64 bits of a double from its two words: JavaScript does not keep the payload of NaN. */
  doubleBits(field: number, high: number, low: number): void {
    this.#reserve(20)
    this.#varint((field << 3) | FIXED64)
    this.#view.setUint32(this.#length, low, true)
    this.#view.setUint32(this.#length + 4, high, true)
    this.#length += 8
  }

  /** Writes a text as UTF-8; lone surrogates become U+FFFD. */
  text(field: number, value: string): void {
    if (value !== '') this.element(field, value)
  }

  /** Writes an element of a repeated field of texts, where an empty one counts. */
  element(field: number, value: string): void {
    this.#reserve(20 + 3 * value.length)
    this.#varint((field << 3) | BYTES)
    const at = this.#length
    this.#length += RESERVED
    this.#length += encoder.encodeInto(value, this.#bytes.subarray(this.#length)).written
    this.end(at)
  }

  /** Begins a nested message, or packed field; the result is for `end`. */
  begin(field: number): number {
    this.#reserve(20)
    this.#varint((field << 3) | BYTES)
    this.#length += RESERVED
    return this.#length - RESERVED
  }

  /** Ends a nested message: writes its length. */
  end(at: number): void {
    const from = at + RESERVED
    const length = this.#length - from
    const size =
      length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x20_0000 ? 3 : length < 0x1000_0000 ? 4 : 5
    if (size !== RESERVED) {
      this.#reserve(8)
      this.#bytes.copyWithin(at + size, from, this.#length)
    }
    this.#length = at
    this.#varint(length)
    this.#length += length
  }

  /** Writes an element of a packed field of integers. */
  packed(value: number): void {
    this.#reserve(10)
    this.#varint(value)
  }

  #varint(value: number): void {
    let rest = value
    while (rest >= TWO_32 / 2) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    for (; rest > 0x7f; rest >>>= 7) this.#bytes[this.#length++] = (rest & 0x7f) | 0x80
    this.#bytes[this.#length++] = rest
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length))
    grown.set(this.bytes)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}
