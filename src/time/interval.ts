/** Intervals as people write them: `1.5 min`, `2h30m`, `5`. pmParseInterval(3) */
import type { Timestamp } from '../base/timestamp.ts'
import { atCaret } from './caret.ts'

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

/** What strtod(3) takes as a number; a sign is left to the caller. */
const HEX = /0x(?=\.?[0-9a-f])([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?\d+))?/iy
const DECIMAL = /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy
const BLANKS = /[ \t\n\v\f\r]*/y
const LETTERS = /[A-Za-z]*/y
const SIGN = /[+-]?/y

/** Seconds from here on do not fit the type PCP keeps them in. */
const TOO_LONG = 2 ** 63

/**
 * Reads an interval: terms that add up, each a number and perhaps a unit, seconds without one. Blanks alone are zero.
 * Throws a SyntaxError whose message is PCP's: the text, and below it a caret and what is wrong. Nothing negative, no
 * infinity, no NaN. @see pmParseInterval(3)
 */
export function parseInterval(text: string): Timestamp {
  if (text === '') throw atCaret(text, 0, 'Null or empty specification')
  let total = 0
  let at = match(BLANKS, text, 0).length
  while (at < text.length) {
    const number = readNumber(text, at)
    if (number === undefined) throw atCaret(text, at, 'unexpected value')
    const unitAt = number.end + match(BLANKS, text, number.end).length
    const letters = match(LETTERS, text, unitAt)
    const scale = letters === '' ? 1 : scaleOf(letters.toLowerCase())
    if (scale === undefined) throw atCaret(text, unitAt, 'unexpected value')
    total += number.value * scale
    if (!(total < TOO_LONG)) throw atCaret(text, at, 'unexpected value')
    at = unitAt + letters.length
    at += match(BLANKS, text, at).length
  }
  const sec = Math.floor(total)
  // Rounding may reach the next second: 0.9999999999 is one second.
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
