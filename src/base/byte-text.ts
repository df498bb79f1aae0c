/** Text written straight into bytes, for reports of millions of numbers: no string is made for any of them. */
import { type DecimalParts, POWERS, splitDecimal, splitFixed } from './decimal.ts'
import { formatF, formatG } from './printf.ts'
import { encodeText } from './text.ts'

const ZERO = 0x30
const MINUS = 0x2d
const POINT = 0x2e
const BLANK = 0x20
/** Longest number written: a sign, 20 digits and a point, or the exponent form of 17 digits. */
const NUMBER_ROOM = 32
const TEN_MILLION = 10_000_000
/** Numbers of so many digits are 32-bit integers. */
const MOST_DIGITS = 9
const BILLION = 1e9

/** The digits of 0 to 9,999, four bytes each. */
const DIGITS = fourDigits()

/** Zeros at the end go away eight, four and one at a time. */
const TRAILING: readonly (readonly [number, number])[] = [
  [1e8, 8],
  [1e4, 4],
  [10, 1],
]

const parts: DecimalParts = { whole: 0, fraction: 0, places: 0 }

/** A growing buffer of text. `bytes` up to `length` is what was written; `clear` starts over without giving memory back. */
export class ByteText {
  bytes: Uint8Array
  length = 0

  constructor(room: number = 64 * 1024) {
    this.bytes = new Uint8Array(room)
  }

  /** What was written so far: borrowed, valid until the next write. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }

  /** Makes room for `size` more bytes. */
  reserve(size: number): void {
    if (this.length + size <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + size))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  /** One byte, such as an ASCII character. */
  byte(value: number): void {
    this.reserve(1)
    this.bytes[this.length++] = value
  }

  /** Bytes as they are. A loop: below some fifty bytes it is faster than `set`. */
  raw(from: Uint8Array): void {
    const size = from.length
    this.reserve(size)
    const { bytes } = this
    let at = this.length
    if (size > 48) bytes.set(from, at)
    else for (let i = 0; i < size; i++) bytes[at + i] = from[i]!
    at += size
    this.length = at
  }

  /** Text, as `base/text.ts` encodes it. */
  text(text: string): void {
    const size = text.length
    this.reserve(size)
    const { bytes, length } = this
    for (let i = 0; i < size; i++) {
      const unit = text.charCodeAt(i)
      if (unit >= 0x80) {
        this.raw(encodeText(text))
        return
      }
      bytes[length + i] = unit
    }
    this.length += size
  }

  /** An integer of at most 2^53 in size, in decimal. */
  int(value: number): void {
    this.reserve(NUMBER_ROOM)
    let rest = value
    if (rest < 0) {
      this.bytes[this.length++] = MINUS
      rest = -rest
    }
    this.#digits(rest)
  }

  /** A natural number with zeros in front up to `width` digits; it must not need more. */
  padded(value: number, width: number): void {
    this.reserve(width)
    const { bytes, length } = this
    let rest = value
    let at = length + width
    for (; at >= length + 4; at -= 4) {
      const higher = Math.floor(rest / 10_000)
      const digits = (rest - higher * 10_000) * 4
      bytes[at - 4] = DIGITS[digits]!
      bytes[at - 3] = DIGITS[digits + 1]!
      bytes[at - 2] = DIGITS[digits + 2]!
      bytes[at - 1] = DIGITS[digits + 3]!
      rest = higher
    }
    for (let digits = rest * 4 + 3; at > length; digits--) bytes[--at] = DIGITS[digits]!
    this.length = length + width
  }

  /** The 64-bit integer of two words; `high` signed or unsigned says which it is. */
  int64(high: number, low: number): void {
    const near = high * 0x1_0000_0000 + low
    if (near <= Number.MAX_SAFE_INTEGER && near >= Number.MIN_SAFE_INTEGER) {
      this.int(near)
      return
    }
    this.text(String((BigInt(high) << 32n) | BigInt(low)))
  }

  /** `%.{digits}g`, `digits` at most 16. */
  general(value: number, digits: number): void {
    if (!splitDecimal(value, digits, parts)) {
      this.text(formatG(value, digits))
      return
    }
    this.reserve(NUMBER_ROOM)
    if (value < 0) this.bytes[this.length++] = MINUS
    this.#digits(parts.whole)
    if (parts.fraction === 0) return
    let { fraction, places } = parts
    for (const [power, zeros] of TRAILING) {
      for (let shorter = fraction / power; shorter === Math.floor(shorter); shorter = fraction / power) {
        fraction = shorter
        places -= zeros
      }
    }
    this.bytes[this.length++] = POINT
    this.padded(fraction, places)
  }

  /** `%.{places}f`. */
  fixed(value: number, places: number): void {
    if (!splitFixed(value, places, parts)) {
      this.text(formatF(value, places))
      return
    }
    this.reserve(NUMBER_ROOM)
    if (value < 0) this.bytes[this.length++] = MINUS
    this.#digits(parts.whole)
    if (places === 0) return
    this.bytes[this.length++] = POINT
    this.padded(parts.fraction, places)
  }

  /** `%{width}.{places}f`; false, and nothing is written, where the text is wider, or the number needs more than this arithmetic. */
  fixedRight(value: number, places: number, width: number): boolean {
    if (places > MOST_DIGITS || places >= width || !splitFixed(value, places, parts)) return false
    const { whole, fraction } = parts
    const room = width - (value < 0 ? 1 : 0) - (places > 0 ? places + 1 : 0)
    if (room < 1 || (room < POWERS.length && whole >= POWERS[room]!)) return false
    this.reserve(width)
    const start = this.length
    let at = start + width
    if (places > 0) {
      at = this.#before(at, fraction, at - places)
      this.bytes[--at] = POINT
    }
    if (whole < BILLION) at = this.#before(at, whole, at - 1)
    else {
      const higher = Math.floor(whole / BILLION)
      at = this.#before(at, whole - higher * BILLION, at - MOST_DIGITS)
      at = this.#before(at, higher, at - 1)
    }
    if (value < 0) this.bytes[--at] = MINUS
    while (at > start) this.bytes[--at] = BLANK
    this.length = start + width
    return true
  }

  /** Digits of a natural number below a billion in front of `end`, with zeros back to `from`; returns where they start. */
  #before(end: number, value: number, from: number): number {
    const { bytes } = this
    let rest = value | 0
    let at = end
    while (rest >= 10 || at - 1 > from) {
      const higher = (rest / 10) | 0
      bytes[--at] = ZERO + rest - higher * 10
      rest = higher
    }
    bytes[--at] = ZERO + rest
    return at
  }

  #digits(value: number): void {
    if (value < 10_000) {
      this.#small(value)
      return
    }
    if (value < 100_000_000) {
      const high = (value / 10_000) | 0
      this.#small(high)
      this.#four(value - high * 10_000)
      return
    }
    const high = Math.floor(value / (10 * TEN_MILLION))
    this.#digits(high)
    const low = value - high * (10 * TEN_MILLION)
    const middle = (low / 10_000) | 0
    this.#four(middle)
    this.#four(low - middle * 10_000)
  }

  #four(value: number): void {
    const { bytes, length } = this
    const at = value * 4
    bytes[length] = DIGITS[at]!
    bytes[length + 1] = DIGITS[at + 1]!
    bytes[length + 2] = DIGITS[at + 2]!
    bytes[length + 3] = DIGITS[at + 3]!
    this.length = length + 4
  }

  #small(value: number): void {
    const { bytes } = this
    let { length } = this
    const at = value * 4
    if (value >= 1000) bytes[length++] = DIGITS[at]!
    if (value >= 100) bytes[length++] = DIGITS[at + 1]!
    if (value >= 10) bytes[length++] = DIGITS[at + 2]!
    bytes[length++] = DIGITS[at + 3]!
    this.length = length
  }
}

function fourDigits(): Uint8Array {
  const digits = new Uint8Array(40_000)
  for (let value = 0; value < 10_000; value++) {
    let rest = value
    for (let at = 3; at >= 0; at--) {
      digits[value * 4 + at] = ZERO + (rest % 10)
      rest = Math.floor(rest / 10)
    }
  }
  return digits
}
