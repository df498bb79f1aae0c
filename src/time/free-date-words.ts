/** Lexer and vocabulary of free-form dates. pmParseTimeWindow(3) */
import { monthOfName, weekdayOfName } from './calendar-words.ts'

/** Units of relative items. */
export type Unit = 'second' | 'day' | 'month'

export type Token =
  | {
      readonly kind: 'number'
      readonly value: number
      readonly isSigned: boolean
      readonly fraction: string | undefined
    }
  /** A unit of `value` seconds, days or months. */
  | { readonly kind: 'unit'; readonly unit: Unit; readonly value: number }
  /** A relative day such as `today`: offset in days. */
  | { readonly kind: 'day'; readonly value: number }
  | { readonly kind: 'weekday'; readonly value: number }
  | { readonly kind: 'month'; readonly value: number }
  /** Minutes west of UTC. */
  | { readonly kind: 'zone'; readonly value: number }
  | { readonly kind: 'meridian'; readonly value: 'am' | 'pm' }
  | { readonly kind: 'mark'; readonly text: string }
  | { readonly kind: 'ago' }
  | { readonly kind: 'dst' }

type UnitToken = Token & { readonly kind: 'unit' }

const UNITS: ReadonlyMap<string, readonly [Unit, number]> = new Map([
  ['year', ['month', 12]],
  ['month', ['month', 1]],
  ['fortnight', ['day', 14]],
  ['week', ['day', 7]],
  ['day', ['day', 1]],
  ['hour', ['second', 3600]],
  ['minute', ['second', 60]],
  ['min', ['second', 60]],
  ['second', ['second', 1]],
  ['sec', ['second', 1]],
])

/** `second` is a unit, so the ordinal two is only `next`. */
const ORDINALS: ReadonlyMap<string, number> = new Map([
  ['last', -1],
  ['this', 1],
  ['next', 2],
  ['first', 1],
  ['third', 3],
  ['fourth', 4],
  ['fifth', 5],
  ['sixth', 6],
  ['seventh', 7],
  ['eighth', 8],
  ['ninth', 9],
  ['tenth', 10],
  ['eleventh', 11],
  ['twelfth', 12],
])

const DAYS: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['yesterday', -1],
  ['tomorrow', 1],
])

/** Short names of more than three letters. */
const WEEKDAYS: ReadonlyMap<string, number> = new Map([
  ['tues', 2],
  ['wednes', 3],
  ['thur', 4],
  ['thurs', 4],
])

/** Hours west of UTC, including daylight saving in names that imply it. Measured: `vectors/time/window.json` and the library. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ...zones(0, 'utc gmt ut wet'),
  ...zones(1, 'wat'),
  ...zones(2, 'at'),
  ...zones(3, 'adt'),
  ...zones(4, 'ast edt'),
  ...zones(5, 'est cdt'),
  ...zones(6, 'cst mdt'),
  ...zones(7, 'mst pdt'),
  ...zones(8, 'pst ydt'),
  ...zones(9, 'yst hdt'),
  ...zones(10, 'hst cat ahst'),
  ...zones(11, 'nt'),
  ...zones(12, 'idlw'),
  ...zones(-1, 'bst cet met mewt swt fwt'),
  ...zones(-2, 'mest sst fst eet'),
  ...zones(-3, 'bt'),
  ...zones(-7, 'wast'),
  ...zones(-8, 'wadt cct'),
  ...zones(-9, 'jst'),
  ...zones(-10, 'east gst'),
  ...zones(-11, 'eadt'),
  ...zones(-12, 'nzt nzst idle'),
  ...zones(-13, 'nzdt'),
  ...[...'abcdefghi'].map((letter, i): [string, number] => [letter, i + 1]),
  ...[...'klm'].map((letter, i): [string, number] => [letter, i + 10]),
  ...[...'nopqrstuvwxy'].map((letter, i): [string, number] => [letter, -i - 1]),
  ['z', 0],
])

function zones(hours: number, names: string): [string, number][] {
  return names.split(' ').map((name) => [name, hours])
}

const NUMBER = /([+-]?)(\d+)(?:\.(\d+))?/y
const WORD = /[a-z][a-z.]*/y

/** Splits a text into tokens; undefined if it has an unknown word. Comments in brackets are skipped. */
export function readTokens(given: string): readonly Token[] | undefined {
  const text = withoutComments(given.toLowerCase())
  const tokens: Token[] = []
  for (let at = 0; at < text.length; ) {
    const character = text[at]!
    NUMBER.lastIndex = at
    WORD.lastIndex = at
    const number = NUMBER.exec(text)
    const word = number === null ? WORD.exec(text)?.[0] : undefined
    if (number !== null) {
      const [all, sign, digits, fraction] = number
      const value = sign === '-' ? -Number(digits) : Number(digits)
      tokens.push({ kind: 'number', value, isSigned: sign !== '', fraction })
      at += all.length
    } else if (word !== undefined) {
      const token = wordToken(word)
      if (token === undefined) return undefined
      tokens.push(...token)
      at += word.length
    } else {
      // A sign without a number is a separator, as in 14-Nov-2023.
      if (!/[\s+-]/.test(character)) tokens.push({ kind: 'mark', text: character })
      at++
    }
  }
  return tokens
}

function withoutComments(text: string): string {
  let depth = 0
  let kept = ''
  for (const character of text) {
    if (character === '(') depth++
    else if (character === ')' && depth > 0) depth--
    else if (depth === 0) kept += character
  }
  return kept
}

function wordToken(word: string): Token[] | undefined {
  if (word === 'am' || word === 'a.m.') return [{ kind: 'meridian', value: 'am' }]
  if (word === 'pm' || word === 'p.m.') return [{ kind: 'meridian', value: 'pm' }]
  const name = word.length === 4 && word.endsWith('.') ? word.slice(0, 3) : word
  const month = name === 'sept' ? 9 : monthOfName(name)
  if (month !== undefined) return [{ kind: 'month', value: month }]
  const weekday = WEEKDAYS.get(name) ?? weekdayOfName(name)
  if (weekday !== undefined) return [{ kind: 'weekday', value: weekday }]
  // Names such as U.T.C. may contain dots, but not after the letter of a military zone.
  const plain = name.replaceAll('.', '')
  const zone = ZONES.get(plain.length > 1 ? plain : name)
  if (zone !== undefined) return [{ kind: 'zone', value: zone * 60 }]
  if (name === 'dst') return [{ kind: 'dst' }]
  if (name === 'ago') return [{ kind: 'ago' }]
  if (name === 'now') return [{ kind: 'unit', unit: 'second', value: 0 }]
  const day = DAYS.get(name)
  if (day !== undefined) return [{ kind: 'day', value: day }]
  const ordinal = ORDINALS.get(name)
  if (ordinal !== undefined) return [{ kind: 'number', value: ordinal, isSigned: false, fraction: undefined }]
  const unit = unitOf(name)
  return unit === undefined ? undefined : [unit]
}

/** Returns the unit of a word, with or without a final `s`. */
export function unitOf(word: string): UnitToken | undefined {
  const found = UNITS.get(word) ?? (word.endsWith('s') ? UNITS.get(word.slice(0, -1)) : undefined)
  return found === undefined ? undefined : { kind: 'unit', unit: found[0], value: found[1] }
}
