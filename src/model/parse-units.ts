/** Text to units word. pmParseUnitsStr(3) */
import { PcpError } from './errors.ts'
import { EXTRA_UNITS, PM_TIME_SEC, packUnits } from './units.ts'

/** What a text of units means. */
export interface ParsedUnits {
  /** The units word. */
  readonly units: number
  /** A value in the metric's own units times this is the value in the text's units: 0.01 for `100 byte`. */
  readonly multiplier: number
}

const SPACE = 0
const TIME = 1
const COUNT = 2
const DIMENSIONS = ['space', 'time', 'count'] as const

/** Scale that a dimension has after parts in different scales were combined: byte, second, one. */
const BASE_SCALE = [0, PM_TIME_SEC, 0] as const
const NANOSECONDS: readonly number[] = [1, 1e3, 1e6, 1e9, 60e9, 3600e9]

interface Keyword {
  readonly dimension: number
  readonly scale: number
}

/** One side of the slash: per dimension the exponent and scale, or nothing. */
interface Part {
  readonly terms: ({ readonly exponent: number; readonly scale: number } | undefined)[]
  factor: number
  extra: { readonly unit: number; readonly scale: number } | undefined
}

let keywords: Map<string, Keyword> | undefined

/**
 * Reads units such as `Kbyte / sec`, `100 MB / 8 hour` or `count x 10^3`. Spaces separate terms, each dimension may occur
 * once a side. PM_ERR_CONV with a message that says what is wrong. @see pmParseUnitsStr(3)
 */
export function parseUnits(text: string): ParsedUnits {
  const slash = text.indexOf('/')
  const over = parsePart(text, slash < 0 ? text : text.slice(0, slash))
  const under = parsePart(text, slash < 0 ? '' : text.slice(slash + 1))
  if (over.extra !== undefined && under.extra !== undefined) {
    throw fault(text, 'extra units cannot appear in both dividend and divisor')
  }
  const dims = [0, 0, 0]
  const scales = [0, 0, 0]
  let multiplier = under.factor / over.factor
  for (const dimension of [SPACE, TIME, COUNT]) {
    let up = over.terms[dimension]
    let down = under.terms[dimension]
    // A term to the power of zero leaves the other side's scale alone.
    if (up?.exponent === 0 && down !== undefined && down.exponent !== 0) up = undefined
    if (down?.exponent === 0 && up !== undefined && up.exponent !== 0) down = undefined
    const dim = (up?.exponent ?? 0) - (down?.exponent ?? 0)
    if (dim < -8 || dim > 7) throw fault(text, `${DIMENSIONS[dimension]} dimension out of bounds`)
    dims[dimension] = dim
    if ((up !== undefined && down !== undefined) || dim === 0) {
      // Nothing is left to carry the scales: they become part of the multiplier.
      if (up !== undefined) multiplier /= scaleRatio(text, dimension, up.scale) ** up.exponent
      if (down !== undefined) multiplier *= scaleRatio(text, dimension, down.scale) ** down.exponent
      if (dim !== 0) scales[dimension] = BASE_SCALE[dimension]!
    } else scales[dimension] = (up ?? down)!.scale
  }
  const units = packUnits({
    dimSpace: dims[SPACE]!,
    dimTime: dims[TIME]!,
    dimCount: dims[COUNT]!,
    scaleSpace: scales[SPACE]!,
    scaleTime: scales[TIME]!,
    scaleCount: scales[COUNT]!,
    extraUnit: over.extra?.unit ?? -(under.extra?.unit ?? 0),
    extraScale: (over.extra ?? under.extra)?.scale ?? 0,
  })
  return { units, multiplier }
}

/** The units word of an agent's table entry; '' and 'none' are no units. PM_ERR_CONV, also for numbers such as `2 byte`. */
export function unitsFromText(text: string): number {
  if (text === '' || text === 'none') return 0
  const { units, multiplier } = parseUnits(text)
  if (multiplier !== 1) throw fault(text, 'a metric has no factor but its scale')
  return units
}

/** How many base units a scale is. Time scales beyond hours have no length (the reference aborts). */
function scaleRatio(text: string, dimension: number, scale: number): number {
  if (dimension === SPACE) return 1024 ** scale
  if (dimension === COUNT) return 10 ** scale
  const nanoseconds = NANOSECONDS[scale]
  if (nanoseconds === undefined) throw fault(text, `time-${scale} has no known length`)
  return nanoseconds / 1e9
}

const NUMBER = /^-?(?:0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[+-]?\d+)?|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)/i

function parsePart(text: string, part: string): Part {
  const result: Part = { terms: [undefined, undefined, undefined], factor: 1, extra: undefined }
  let rest = part.trimStart()
  while (rest !== '') {
    const used = /^[-.\d]/.test(rest)
      ? parseNumber(text, rest, result)
      : parseExtra(text, rest, result) || parseKeyword(text, rest, result)
    rest = rest.slice(used).trimStart()
  }
  return result
}

function parseNumber(text: string, rest: string, result: Part): number {
  const literal = NUMBER.exec(rest)?.[0]
  const value = literal === undefined ? Number.NaN : numberOf(literal)
  if (literal === undefined || !Number.isFinite(value)) throw fault(text, 'invalid floating point literal')
  result.factor *= value
  return literal.length
}

function numberOf(literal: string): number {
  const hex = /^(-?)0x([0-9a-f]+)\.?([0-9a-f]*)(?:p([+-]?\d+))?$/i.exec(literal)
  if (hex === null) return Number(literal)
  const [, sign, whole, fraction, exponent] = hex
  const size = Number(`0x${whole}${fraction}`) * 2 ** (Number(exponent ?? 0) - 4 * fraction!.length)
  return sign === '-' ? -size : size
}

/** Characters that an extra unit such as `power (mW)` takes at the start of `rest`; 0 when there is none. */
function parseExtra(text: string, rest: string, result: Part): number {
  const lower = rest.toLowerCase()
  for (const [i, { name, scales }] of EXTRA_UNITS.entries()) {
    for (const [j, scale] of scales.entries()) {
      const written = `${name} (${scale})`
      if (!lower.startsWith(written.toLowerCase())) continue
      if (result.extra !== undefined) throw fault(text, 'multiple extra units not allowed')
      result.extra = { unit: i + 1, scale: j + 1 }
      return written.length
    }
  }
  return 0
}

function parseKeyword(text: string, rest: string, result: Part): number {
  keywords ??= makeKeywords()
  const lower = rest.toLowerCase()
  // 'count x 10^2' is the only keyword with spaces, and the longest one wins.
  const words = /^count x 10(?:\^(?:-[1-8]|[2-7]))?(?=$|[\s^])/.exec(lower)?.[0] ?? /^[^\s^]*/.exec(lower)![0]
  const keyword = keywords.get(words)
  const exponent = /^\^(-?\d+)(?=$|\s)/.exec(rest.slice(words.length))
  const hasExponent = rest[words.length] === '^'
  const power = exponent === null ? 1 : Number(exponent[1])
  if (
    keyword === undefined ||
    (hasExponent && exponent === null) ||
    power < -8 ||
    power > 15 ||
    result.terms[keyword.dimension] !== undefined
  ) {
    throw fault(text, 'unrecognized or duplicate base unit')
  }
  result.terms[keyword.dimension] = { exponent: power, scale: keyword.scale }
  return words.length + (exponent?.[0].length ?? 0)
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

function fault(text: string, reason: string): PcpError {
  return new PcpError('PM_ERR_CONV', `Cannot read the units "${text}": ${reason}`)
}
