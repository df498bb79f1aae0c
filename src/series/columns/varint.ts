/** Bytes that grow, and numbers of variable length: seven bits a byte, the lowest first. docs/formats/rollups.md */
import { PcpError } from '../../model/errors.ts'

/** Largest number of a varint. */
export const MOST_VARINT: number = Number.MAX_SAFE_INTEGER

/** Appends numbers to a buffer. */
export class ByteBuilder {
  #bytes: Uint8Array<ArrayBuffer>
  #view: DataView
  #length = 0

  constructor(size = 64) {
    this.#bytes = new Uint8Array(size)
    this.#view = new DataView(this.#bytes.buffer)
  }

  get length(): number {
    return this.#length
  }

  /** All bytes so far; valid until the next one is added. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Adds a whole number from 0 to `MOST_VARINT`. */
  varint(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest > 0x7fffffff) {
      this.#bytes[this.#length++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest & 127) | 128
      rest >>>= 7
    }
    this.#bytes[this.#length++] = rest
  }

  /** Adds a whole number of either sign, at most half of `MOST_VARINT`. */
  signed(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  float32(value: number): void {
    this.#reserve(4)
    this.#view.setFloat32(this.#length, value, true)
    this.#length += 4
  }

  float64(value: number): void {
    this.#reserve(8)
    this.#view.setFloat64(this.#length, value, true)
    this.#length += 8
  }

  /** Adds the lowest 64 bits. */
  int64(value: bigint): void {
    this.#reserve(8)
    this.#view.setBigUint64(this.#length, BigInt.asUintN(64, value), true)
    this.#length += 8
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    const bytes = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count))
    bytes.set(this.#bytes)
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }
}

/** Reads what `ByteBuilder` wrote. PM_ERR_LOGREC at the end of the bytes, and for numbers that are too large. */
export class ByteReader {
  /** Public, with `at`, for loops over short numbers. */
  readonly bytes: Uint8Array
  /** Position of the next byte. */
  at = 0
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  varint(): number {
    const { bytes } = this
    let byte = this.#byte()
    if (byte < 128) return byte
    let value = byte & 127
    let scale = 128
    do {
      byte = this.at < bytes.length ? bytes[this.at++]! : this.#byte()
      value += (byte & 127) * scale
      scale *= 128
      if (value > MOST_VARINT) throw new PcpError('PM_ERR_LOGREC', 'a number is too large')
    } while (byte > 127)
    return value
  }

  signed(): number {
    const value = this.varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  float32(): number {
    return this.#view.getFloat32(this.#step(4), true)
  }

  float64(): number {
    return this.#view.getFloat64(this.#step(8), true)
  }

  int64(isUnsigned: boolean): bigint {
    const at = this.#step(8)
    return isUnsigned ? this.#view.getBigUint64(at, true) : this.#view.getBigInt64(at, true)
  }

  #byte(): number {
    return this.bytes[this.#step(1)]!
  }

  #step(count: number): number {
    const { at } = this
    if (at + count > this.bytes.length) throw new PcpError('PM_ERR_LOGREC', 'a block ends too early')
    this.at += count
    return at
  }
}
