/** Formats text directly into bytes, for reports of millions of numbers: no string is made for any of them. */
import { type DecimalParts, digitsOf, scaledInteger, splitDecimal, splitFixed } from './decimal.ts'
import { formatF, formatG } from './printf.ts'
import { encodeText } from './text.ts'

const ZERO = 0x30
const MINUS = 0x2d
const POINT = 0x2e
const BLANK = 0x20
/** Longest number: a sign, 20 digits and a point, or the exponent form with 17 digits. */
const NUMBER_ROOM = 32
const TEN_MILLION = 10_000_000
/** Numbers of nine digits are 32-bit integers. */
const NINE = 9
const BILLION = 1e9
/** Most decimals of numbers that are written backwards from their last digit. */
const MOST_PLACES = 9

/** The digits of 0 to 9,999, four bytes each. */
const DIGITS = fourDigits()

/** Trailing zeros are removed eight, four and one at a time. */
const TRAILING: readonly (readonly [number, number])[] = [
  [1e8, 8],
  [1e4, 4],
  [10, 1],
]

const parts: DecimalParts = { whole: 0, fraction: 0, places: 0 }

/** A growing buffer of text, `bytes[0, length)`. `clear` starts over without releasing memory. */
export class ByteText {
  bytes: Uint8Array
  length = 0

  constructor(room: number = 64 * 1024) {
    this.bytes = new Uint8Array(room)
  }

  /** Returns the text so far: borrowed, valid until the next write. */
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

  /** Writes one byte, such as an ASCII character. */
  byte(value: number): void {
    this.reserve(1)
    this.bytes[this.length++] = value
  }

  /** Copies bytes. A loop: up to some fifty bytes it is faster than `set`. */
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

  /** Writes text as `encodeText` encodes it. */
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

  /** Writes an integer of at most 2^53 in magnitude, in decimal. */
  int(value: number): void {
    this.reserve(NUMBER_ROOM)
    let rest = value
    if (rest < 0) {
      this.bytes[this.length++] = MINUS
      rest = -rest
    }
    this.#digits(rest)
  }

  /** Writes a natural number with leading zeros up to `width` digits, which must be enough. */
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

  /** Writes a 64-bit integer from its two words; it is signed if `high` is. */
  int64(high: number, low: number): void {
    const near = high * 0x1_0000_0000 + low
    if (near <= Number.MAX_SAFE_INTEGER && near >= Number.MIN_SAFE_INTEGER) {
      this.int(near)
      return
    }
    this.text(String((BigInt(high) << 32n) | BigInt(low)))
  }

  /** Writes `%.{digits}g`, `digits` at most 16. */
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

  /** Writes `%.{places}f`. */
  fixed(value: number, places: number): void {
    const scaled = places > MOST_PLACES ? -1 : scaledInteger(value, places)
    if (scaled >= 0) this.#putScaled(scaled, places, value < 0, 0)
    else if (splitFixed(value, places, parts)) {
      this.reserve(NUMBER_ROOM)
      if (value < 0) this.bytes[this.length++] = MINUS
      this.#digits(parts.whole)
      if (places === 0) return
      this.bytes[this.length++] = POINT
      this.padded(parts.fraction, places)
    } else this.text(formatF(value, places))
  }

  /** Writes `%{width}.{places}f`. Returns false and writes nothing if the text is wider. */
  fixedRight(value: number, places: number, width: number): boolean {
    const scaled = places > MOST_PLACES ? -1 : scaledInteger(value, places)
    if (scaled >= 0) return this.#putScaled(scaled, places, value < 0, width)
    const text = formatF(value, places)
    if (text.length > width) return false
    this.text(text.padStart(width))
    return true
  }

  /** Writes `scaled / 10^places`, padded with blanks to `width`. Returns false and writes nothing if it is wider than a non-zero width. */
  #putScaled(scaled: number, places: number, isNegative: boolean, width: number): boolean {
    const digits = Math.max(digitsOf(scaled), places + 1)
    const size = digits + (places > 0 ? 1 : 0) + (isNegative ? 1 : 0)
    if (width > 0 && size > width) return false
    const taken = Math.max(size, width)
    this.reserve(taken)
    const { bytes, length: start } = this
    this.length = start + taken
    const higher = scaled < BILLION ? 0 : Math.floor(scaled / BILLION)
    let rest = (scaled - higher * BILLION) | 0
    let at = start + taken
    for (let i = 0; i < digits; i++) {
      if (i === places && i > 0) bytes[--at] = POINT
      if (i === NINE) rest = higher
      const tenth = (rest / 10) | 0
      bytes[--at] = ZERO + rest - tenth * 10
      rest = tenth
    }
    if (isNegative) bytes[--at] = MINUS
    while (at > start) bytes[--at] = BLANK
    return true
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
