/** The grammar of units. pmParseUnitsStr(3). Free of PCP's error table, which would be large for a browser page. */
import { EXTRA_UNITS, PM_TIME_SEC, packUnits } from './units.ts'

/** Parsed units. */
export interface ParsedUnits {
  /** The units word. */
  readonly units: number
  /** Factor from the metric's own units to the text's units: 0.01 for `100 byte`. */
  readonly multiplier: number
}

const SPACE = 0
const TIME = 1
const COUNT = 2
const DIMENSIONS = ['space', 'time', 'count'] as const

/** Scale of a dimension after combining parts in different scales: byte, second, one. */
const BASE_SCALE = [0, PM_TIME_SEC, 0] as const
const NANOSECONDS: readonly number[] = [1, 1e3, 1e6, 1e9, 60e9, 3600e9]

interface Keyword {
  readonly dimension: number
  readonly scale: number
}

interface Term {
  readonly exponent: number
  readonly scale: number
}

/** One side of the slash: a term per dimension. */
interface Part {
  space: Term | undefined
  time: Term | undefined
  count: Term | undefined
  factor: number
  extra: { readonly unit: number; readonly scale: number } | undefined
}

const NOTHING: Readonly<Part> = {
  space: undefined,
  time: undefined,
  count: undefined,
  factor: 1,
  extra: undefined,
}
const NO_TERM: Combined = { dim: 0, scale: 0, over: 1, under: 1 }

let keywords: Map<string, Keyword> | undefined

/**
 * Parses units such as `Kbyte / sec`, `100 MB / 8 hour` or `count x 10^3`. Terms are separated by spaces; each dimension may occur
 * once per side. Throws a UnitsError with the reason.
 */
export function parseUnitsOrThrow(text: string): ParsedUnits {
  const slash = text.indexOf('/')
  const lower = text.toLowerCase()
  const over = parsePart(text, lower, 0, slash < 0 ? lower.length : slash)
  const under = slash < 0 ? NOTHING : parsePart(text, lower, slash + 1, lower.length)
  if (over.extra !== undefined && under.extra !== undefined) {
    throw new UnitsError(text, 'extra units cannot appear in both dividend and divisor')
  }
  const space = combined(text, SPACE, over.space, under.space)
  const time = combined(text, TIME, over.time, under.time)
  const count = combined(text, COUNT, over.count, under.count)
  const units = packUnits({
    dimSpace: space.dim,
    dimTime: time.dim,
    dimCount: count.dim,
    scaleSpace: space.scale,
    scaleTime: time.scale,
    scaleCount: count.scale,
    extraUnit: over.extra?.unit ?? -(under.extra?.unit ?? 0),
    extraScale: (over.extra ?? under.extra)?.scale ?? 0,
  })
  let multiplier = under.factor / over.factor
  multiplier = (multiplier / space.over) * space.under
  multiplier = (multiplier / time.over) * time.under
  multiplier = (multiplier / count.over) * count.under
  return { units, multiplier }
}

/** Both sides of one dimension combined; `over` and `under` are the factors that the scale cannot express. */
interface Combined {
  readonly dim: number
  readonly scale: number
  readonly over: number
  readonly under: number
}

function combined(
  text: string,
  dimension: number,
  above: Term | undefined,
  below: Term | undefined,
): Combined {
  if (above === undefined && below === undefined) return NO_TERM
  let up = above
  let down = below
  // A term to the power of zero does not affect the scale of the other side.
  if (up?.exponent === 0 && down !== undefined && down.exponent !== 0) up = undefined
  if (down?.exponent === 0 && up !== undefined && up.exponent !== 0) down = undefined
  const dim = (up?.exponent ?? 0) - (down?.exponent ?? 0)
  if (dim < -8 || dim > 7) throw new UnitsError(text, `${DIMENSIONS[dimension]} dimension out of bounds`)
  if ((up === undefined || down === undefined) && dim !== 0)
    return { dim, scale: (up ?? down)!.scale, over: 1, under: 1 }
  return {
    dim,
    scale: dim === 0 ? 0 : BASE_SCALE[dimension]!,
    over: up === undefined ? 1 : scaleRatio(text, dimension, up.scale) ** up.exponent,
    under: down === undefined ? 1 : scaleRatio(text, dimension, down.scale) ** down.exponent,
  }
}

/** Returns the base units of a scale. Time scales beyond hours have no length (the reference aborts). */
function scaleRatio(text: string, dimension: number, scale: number): number {
  if (dimension === SPACE) return 1024 ** scale
  if (dimension === COUNT) return 10 ** scale
  const nanoseconds = NANOSECONDS[scale]
  if (nanoseconds === undefined) throw new UnitsError(text, `time-${scale} has no known length`)
  return nanoseconds / 1e9
}

const NUMBER = /-?(?:0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[+-]?\d+)?|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)/y

/** Parses `text` from `start` to `end`; `lower` is the text in lower case. */
function parsePart(text: string, lower: string, start: number, end: number): Part {
  const result: Part = { ...NOTHING }
  let at = skipBlanks(lower, start, end)
  while (at < end) {
    const code = lower.charCodeAt(at)
    if (code === MINUS || code === DOT || isDigit(code)) at = parseNumber(text, lower, at, result)
    else {
      const behind = parseExtra(text, lower, at, result)
      at = behind > at ? behind : parseKeyword(text, lower, at, end, result)
    }
    at = skipBlanks(lower, at, end)
  }
  return result
}

const CARET = 0x5e
const MINUS = 0x2d
const DOT = 0x2e

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 9 && code <= 13) || (code > 0x7f && /\s/.test(String.fromCharCode(code)))
}

function skipBlanks(text: string, from: number, end: number): number {
  let at = from
  while (at < end && isBlank(text.charCodeAt(at))) at++
  return at
}

function parseNumber(text: string, lower: string, at: number, result: Part): number {
  NUMBER.lastIndex = at
  const literal = NUMBER.exec(lower)?.[0]
  const value = literal === undefined ? Number.NaN : numberOf(literal)
  if (literal === undefined || !Number.isFinite(value))
    throw new UnitsError(text, 'invalid floating point literal')
  result.factor *= value
  return at + literal.length
}

function numberOf(literal: string): number {
  const hex = /^(-?)0x([0-9a-f]+)\.?([0-9a-f]*)(?:p([+-]?\d+))?$/.exec(literal)
  if (hex === null) return Number(literal)
  const [, sign, whole, fraction, exponent] = hex
  const size = Number(`0x${whole}${fraction}`) * 2 ** (Number(exponent ?? 0) - 4 * fraction!.length)
  return sign === '-' ? -size : size
}

/** Returns the end of an extra unit such as `power (mW)` that starts at `at`; `at` without one. */
function parseExtra(text: string, lower: string, at: number, result: Part): number {
  for (let i = 0; i < EXTRA_UNITS.length; i++) {
    const { name, scales } = EXTRA_UNITS[i]!
    if (!lower.startsWith(name, at)) continue
    for (const [j, scale] of scales.entries()) {
      const written = `${name} (${scale.toLowerCase()})`
      if (!lower.startsWith(written, at)) continue
      if (result.extra !== undefined) throw new UnitsError(text, 'multiple extra units not allowed')
      result.extra = { unit: i + 1, scale: j + 1 }
      return at + written.length
    }
  }
  return at
}

/** Returns the end of a keyword and its exponent that start at `at`. */
function parseKeyword(text: string, lower: string, at: number, end: number, result: Part): number {
  keywords ??= makeKeywords()
  const behind = wordEnd(lower, at, end)
  const keyword = keywords.get(lower.slice(at, behind))
  const hasExponent = behind < end && lower.charCodeAt(behind) === CARET
  const stop = hasExponent ? exponentEnd(lower, behind + 1, end) : behind
  const exponent = hasExponent ? (stop < 0 ? Number.NaN : Number(lower.slice(behind + 1, stop))) : 1
  if (keyword === undefined || !(exponent >= -8 && exponent <= 15))
    throw new UnitsError(text, 'unrecognized or duplicate base unit')
  const { dimension, scale } = keyword
  const name = DIMENSIONS[dimension]!
  if (result[name] !== undefined) throw new UnitsError(text, 'unrecognized or duplicate base unit')
  result[name] = { exponent, scale }
  return stop
}

const TEN_COUNTS = /count x 10(?:\^(?:-[1-8]|[2-7]))?(?=$|[\s^/])/y

/** 'count x 10^2' is the only keyword with blanks, and the longest match wins. */
function wordEnd(lower: string, at: number, end: number): number {
  let behind = at
  while (behind < end) {
    const code = lower.charCodeAt(behind)
    if (code === CARET || isBlank(code)) break
    behind++
  }
  if (behind - at !== 5 || !lower.startsWith(' x 10', behind) || !lower.startsWith('count', at)) return behind
  TEN_COUNTS.lastIndex = at
  return TEN_COUNTS.test(lower) ? TEN_COUNTS.lastIndex : behind
}

/** Returns the end of an integer at `at` that is followed by a blank or the end of the text; -1 without one. */
function exponentEnd(lower: string, at: number, end: number): number {
  const first = at < end && lower.charCodeAt(at) === MINUS ? at + 1 : at
  let behind = first
  while (behind < end && isDigit(lower.charCodeAt(behind))) behind++
  const isWhole = behind > first && (behind === end || isBlank(lower.charCodeAt(behind)))
  return isWhole ? behind : -1
}

function makeKeywords(): Map<string, Keyword> {
  const table = new Map<string, Keyword>()
  const add = (dimension: number, scale: number, names: string): void => {
    for (const name of names.split(' ')) table.set(name, { dimension, scale })
  }
  add(TIME, 0, 'ns nanosec nanosecond nanoseconds')
  add(TIME, 1, 'us microsec microsecond microseconds')
  add(TIME, 2, 'ms millisec millisecond milliseconds')
  add(TIME, 3, 's sec second seconds')
  add(TIME, 4, 'min minute minutes')
  add(TIME, 5, 'h hr hour hours')
  add(SPACE, 0, 'byte bytes')
  const prefixes =
    'k kibi kilo m mebi mega g gibi giga t tebi tera p pebi peta e exbi exa z zebi zetta y yobi yotta'
  for (const [i, prefix] of prefixes.split(' ').entries()) {
    const scale = Math.floor(i / 3) + 1
    add(SPACE, scale, `${prefix}byte ${prefix}bytes`)
    if (i % 3 === 0) add(SPACE, scale, `${prefix}b ${prefix}ib`)
  }
  for (let n = 0; n < 16; n++) {
    add(SPACE, n, `space-${n}`)
    add(TIME, n, `time-${n}`)
  }
  add(COUNT, 0, 'count counts')
  table.set('count x 10', { dimension: COUNT, scale: 1 })
  for (let n = -8; n < 8; n++)
    if (n < 0 || n > 1) table.set(`count x 10^${n}`, { dimension: COUNT, scale: n })
  return table
}

/** Thrown for invalid units. */
export class UnitsError extends Error {
  constructor(text: string, reason: string) {
    super(`Cannot read the units "${text}": ${reason}`)
  }
}
