/**
 * Scans numbers and words in bytes without splitting them into strings, for files like /proc/stat that are reread
 * all the time. A number costs about 10 ns; split and parseInt cost ten times as much and leave garbage.
 */

const TAB = 0x09
const NEWLINE = 0x0a
const SPACE = 0x20
const ZERO = 0x30
const MINUS = 0x2d

/** 2^53: a run of digits that reaches it may have lost low bits as a double. */
const EXACT = 2 ** 53

/**
 * A position in `bytes[pos, end)`. Reading functions move `pos` but never beyond `end`, and only the line functions move
 * past a newline. The bytes are borrowed and may be a buffer that is refilled for each reading; `reset` reuses a Scanner.
 */
export class Scanner {
  bytes: Uint8Array
  pos: number
  end: number

  constructor(bytes: Uint8Array = new Uint8Array(0), end: number = bytes.length) {
    this.bytes = bytes
    this.pos = 0
    this.end = Math.min(end, bytes.length)
  }

  /** Starts over on other bytes. Returns this scanner. */
  reset(bytes: Uint8Array, end: number = bytes.length): this {
    this.bytes = bytes
    this.pos = 0
    this.end = Math.min(end, bytes.length)
    return this
  }

  /** Whether everything is consumed. */
  get atEnd(): boolean {
    return this.pos >= this.end
  }

  /** Whether the position is at a newline or at the end. */
  get atLineEnd(): boolean {
    return this.pos >= this.end || this.bytes[this.pos] === NEWLINE
  }

  /** Skips blanks and tabs, but not newlines. */
  skipBlanks(): void {
    const { bytes, end } = this
    let pos = this.pos
    while (pos < end && (bytes[pos] === SPACE || bytes[pos] === TAB)) pos++
    this.pos = pos
  }

  /** Moves to the first byte of the next line. Returns false after the last line. */
  nextLine(): boolean {
    const at = this.bytes.indexOf(NEWLINE, this.pos)
    this.pos = at < 0 || at >= this.end ? this.end : at + 1
    return this.pos < this.end
  }

  /** Skips the next `count` words (runs of non-blank bytes) of the line, and the blanks before them. */
  skipWords(count = 1): void {
    for (let i = 0; i < count; i++) {
      this.skipBlanks()
      this.pos = this.#wordEnd()
    }
  }

  /**
   * Skips `text` (ASCII) if the next bytes are exactly that; returns whether they are. A `:` or blank in `text` makes it match
   * whole keywords: `accept('cpu ')` does not accept 'cpu0 '.
   */
  accept(text: string): boolean {
    const { bytes, pos } = this
    if (pos + text.length > this.end) return false
    for (let i = 0; i < text.length; i++) if (bytes[pos + i] !== text.charCodeAt(i)) return false
    this.pos = pos + text.length
    return true
  }

  /** Returns the next byte, -1 at the end, without moving. */
  peek(): number {
    return this.pos < this.end ? this.bytes[this.pos]! : -1
  }

  /**
   * Skips blanks and reads decimal digits as a double, exact below 2^53 (see `uintExact`). Returns NaN, and skips only the
   * blanks, without a digit.
   */
  uint(): number {
    this.skipBlanks()
    const { bytes, end } = this
    let pos = this.pos
    let value = 0
    for (; pos < end; pos++) {
      const digit = bytes[pos]! - ZERO
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    if (pos === this.pos) return Number.NaN
    this.pos = pos
    return value
  }

  /** As `uint`, with an optional minus sign. */
  int(): number {
    this.skipBlanks()
    if (this.peek() !== MINUS) return this.uint()
    const start = this.pos++
    // a blank between sign and digits is not a number
    const value = this.peek() === SPACE || this.peek() === TAB ? Number.NaN : this.uint()
    if (Number.isNaN(value)) {
      this.pos = start
      return value
    }
    return value === 0 ? 0 : -value
  }

  /** As `uint`, but returns a bigint from 2^53 on, so that 64-bit counters keep every bit. */
  uintExact(): number | bigint {
    this.skipBlanks()
    const start = this.pos
    const value = this.uint()
    if (!(value >= EXACT)) return value
    return BigInt(ascii(this.bytes, start, this.pos))
  }

  /** Skips blanks and reads hexadecimal digits (after an optional 0x) as a double; NaN without a digit. */
  hex(): number {
    this.skipBlanks()
    const { bytes, end } = this
    const start = this.pos
    let pos = start
    if (
      pos + 2 < end &&
      bytes[pos] === ZERO &&
      (bytes[pos + 1]! | 0x20) === 0x78 &&
      hexDigit(bytes[pos + 2]!) >= 0
    )
      pos += 2
    const digits = pos
    let value = 0
    for (; pos < end; pos++) {
      const digit = hexDigit(bytes[pos]!)
      if (digit < 0) break
      value = value * 16 + digit
    }
    if (pos === digits) return Number.NaN
    this.pos = pos
    return value
  }

  /**
   * Skips blanks and reads a decimal number with an optional sign and fraction, without exponent ('0.25'). NaN without a digit.
   * Digits beyond a double's precision are accumulated: the last place may be off by one unit.
   */
  decimal(): number {
    this.skipBlanks()
    const start = this.pos
    const negative = this.peek() === MINUS
    if (negative) this.pos++
    const { bytes, end } = this
    let pos = this.pos
    let value = 0
    let digits = 0
    let scale = 1
    for (let inFraction = false; pos < end; pos++) {
      const digit = bytes[pos]! - ZERO
      if (digit === -2 && !inFraction) {
        inFraction = true // '.'
        continue
      }
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
      if (inFraction) scale *= 10
      digits++
    }
    if (digits === 0) {
      this.pos = start
      return Number.NaN
    }
    this.pos = pos
    return negative ? -(value / scale) : value / scale
  }

  /**
   * Skips blanks and returns the next word of the line as Latin-1 text, '' at the end of the line. If the word equals `expected`
   * (its previous value), that string is returned: words hardly ever change, and comparing is cheaper than making a string.
   */
  word(expected = ''): string {
    this.skipBlanks()
    const start = this.pos
    if (expected !== '' && this.accept(expected)) {
      if (this.#atWordEnd) return expected
      this.pos = start
    }
    this.pos = this.#wordEnd()
    return ascii(this.bytes, start, this.pos)
  }

  /** Returns text up to, not including, `stop` (one ASCII character) or the end of the line; moves just past `stop`. */
  until(stop: string): string {
    const code = stop.charCodeAt(0)
    const { bytes, end } = this
    const start = this.pos
    let pos = start
    while (pos < end && bytes[pos] !== code && bytes[pos] !== NEWLINE) pos++
    this.pos = pos < end && bytes[pos] === code ? pos + 1 : pos
    return ascii(bytes, start, pos)
  }

  /** Returns the rest of the line as Latin-1 text without its newline; moves to the newline. `expected` as for `word`. */
  rest(expected = ''): string {
    const start = this.pos
    if (expected !== '' && this.accept(expected)) {
      if (this.atLineEnd) return expected
      this.pos = start
    }
    const at = this.bytes.indexOf(NEWLINE, start)
    this.pos = at < 0 || at > this.end ? this.end : at
    return ascii(this.bytes, start, this.pos)
  }

  get #atWordEnd(): boolean {
    const byte = this.peek()
    return byte === SPACE || byte === TAB || byte === NEWLINE || byte === -1
  }

  #wordEnd(): number {
    const { bytes, end } = this
    let pos = this.pos
    for (; pos < end; pos++) {
      const byte = bytes[pos]
      if (byte === SPACE || byte === TAB || byte === NEWLINE) break
    }
    return pos
  }
}

/** Decodes bytes as Latin-1. For names that may be UTF-8 use `decodeText`. */
export function ascii(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  let text = ''
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i]!)
  return text
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
