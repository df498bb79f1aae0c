/** Parsing intervals: `1.5 min`, `2h30m`, `5`. pmParseInterval(3) */
import type { Timestamp } from '../base/timestamp.ts'
import { caretError } from './caret.ts'

/** Seconds in each unit. A final `s` may follow, so `ms` means minutes, as in PCP. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['nanosecond', 1e-9],
  ['nsec', 1e-9],
  ['microsecond', 1e-6],
  ['usec', 1e-6],
  ['millisecond', 1e-3],
  ['msec', 1e-3],
  ['second', 1],
  ['sec', 1],
  ['s', 1],
  ['minute', 60],
  ['min', 60],
  ['m', 60],
  ['hour', 3600],
  ['hr', 3600],
  ['h', 3600],
  ['day', 86_400],
  ['d', 86_400],
])

/** Numbers as strtod(3) accepts them, without the sign. */
const HEX = /0x(?=\.?[0-9a-f])([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?\d+))?/iy
const DECIMAL = /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy
const BLANKS = /[ \t\n\v\f\r]*/y
const LETTERS = /[A-Za-z]*/y
const SIGN = /[+-]?/y

/** Seconds that no longer fit PCP's type. */
const TOO_LONG = 2 ** 63

/**
 * Parses an interval: the sum of terms, each a number and an optional unit, by default seconds. Blanks alone mean zero. Negative
 * numbers, infinity and NaN are errors. Throws a SyntaxError in PCP's format: the text, and below it a caret and the message.
 * @see pmParseInterval(3)
 */
export function parseInterval(text: string): Timestamp {
  if (text === '') throw caretError(text, 0, 'Null or empty specification')
  let total = 0
  let at = match(BLANKS, text, 0).length
  while (at < text.length) {
    const number = readNumber(text, at)
    if (number === undefined) throw caretError(text, at, 'unexpected value')
    const unitAt = number.end + match(BLANKS, text, number.end).length
    const letters = match(LETTERS, text, unitAt)
    const scale = letters === '' ? 1 : scaleOf(letters.toLowerCase())
    if (scale === undefined) throw caretError(text, unitAt, 'unexpected value')
    total += number.value * scale
    if (!(total < TOO_LONG)) throw caretError(text, at, 'unexpected value')
    at = unitAt + letters.length
    at += match(BLANKS, text, at).length
  }
  const sec = Math.floor(total)
  // Rounding may carry into the seconds: 0.9999999999 is one second.
  const nsec = Math.floor((total - sec) * 1e9 + 0.5)
  return nsec === 1e9 ? { sec: sec + 1, nsec: 0 } : { sec, nsec }
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

function readNumber(text: string, at: number): { value: number; end: number } | undefined {
  const sign = match(SIGN, text, at)
  const start = at + sign.length
  HEX.lastIndex = start
  const hex = HEX.exec(text)
  const digits = hex === null ? match(DECIMAL, text, start) : hex[0]
  if (digits === '') return undefined
  const value = hex === null ? Number(digits) : hexValue(hex[1]!, hex[2]!, Number(hex[3] ?? 0))
  if (sign === '-' && value !== 0) return undefined
  return { value, end: start + digits.length }
}

function hexValue(whole: string, fraction: string, exponent: number): number {
  let value = 0
  for (const digit of whole + fraction) value = value * 16 + Number.parseInt(digit, 16)
  return value * 2 ** (exponent - 4 * fraction.length)
}

function scaleOf(word: string): number | undefined {
  return UNITS.get(word) ?? (word.endsWith('s') ? UNITS.get(word.slice(0, -1)) : undefined)
}
