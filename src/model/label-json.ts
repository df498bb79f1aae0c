/** JSON text to labels: dotted names, values as raw tokens without white space. pmLookupLabels(3) */
import { PcpError } from './errors.ts'
import { LABEL_COMPOUND, type Label } from './labels.ts'

/** Most characters of a label's whole, dotted name: the length travels in a byte, and the reference refuses 255. */
const MAX_NAME = 254
/** Deeper nesting is refused, so that no text exhausts the stack. */
const MAX_DEPTH = 32
const NAME = /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/
const SPACE = /[ \t\r\n]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** What a JSON text says. */
export interface ParsedLabels {
  /** In the order of the text; what nested objects hold has LABEL_COMPOUND. */
  readonly labels: readonly Label[]
  /** Names that cannot be labels and were left out. */
  readonly invalid: readonly string[]
}

/** A JSON value: a compact token, or the members of an object. */
type Raw = string | readonly RawMember[]

interface RawMember {
  /** Between the quotes, as written. */
  readonly name: string
  readonly value: Raw
}

interface Cursor {
  readonly text: string
  at: number
}

/**
 * Reads the labels of a JSON object; `flags` are those of every label. Empty text has no labels. EINVAL for text that is
 * no JSON object and for a name that occurs twice.
 */
export function parseLabels(text: string, flags: number): ParsedLabels {
  const cursor: Cursor = { text, at: 0 }
  skipSpace(cursor)
  if (cursor.at === text.length) return { labels: [], invalid: [] }
  const value = scanValue(cursor, 0)
  skipSpace(cursor)
  if (cursor.at < text.length) throw malformed(cursor, 'one object and nothing else')
  if (typeof value === 'string') throw new PcpError('EINVAL', `Labels are a JSON object, not ${value}`)
  const labels: Label[] = []
  const invalid: string[] = []
  flatten(value, '', flags, labels, invalid)
  const seen = new Set<string>()
  for (const { name } of labels) {
    if (seen.has(name)) throw new PcpError('EINVAL', `Label "${name}" is given twice`)
    seen.add(name)
  }
  return { labels, invalid }
}

/** Does the text break off inside a value? Such text is malformed only because more of it is missing. */
export function isCutShort(text: string): boolean {
  const cursor: Cursor = { text, at: 0 }
  try {
    scanValue(cursor, 0)
    return false
  } catch {
    return cursor.at === text.length
  }
}

function flatten(
  members: readonly RawMember[],
  prefix: string,
  flags: number,
  labels: Label[],
  invalid: string[],
): void {
  for (const { name: key, value } of members) {
    const name = prefix + key
    // Too long a name is not looked into: what is nested in it would repeat it thousands of times.
    if (name.length > MAX_NAME) invalid.push(name)
    else if (typeof value !== 'string' && value.length > 0) flatten(value, `${name}.`, flags, labels, invalid)
    else if (!NAME.test(name)) invalid.push(name)
    else
      labels.push({ name, value: compact(value), flags: name.includes('.') ? flags | LABEL_COMPOUND : flags })
  }
}

function compact(value: Raw): string {
  if (typeof value === 'string') return value
  return `{${value.map((member) => `"${member.name}":${compact(member.value)}`).join(',')}}`
}

function scanValue(cursor: Cursor, depth: number): Raw {
  if (depth > MAX_DEPTH) throw new PcpError('EINVAL', `Labels are nested more than ${MAX_DEPTH} deep`)
  skipSpace(cursor)
  switch (cursor.text[cursor.at]) {
    case '{':
      return scanObject(cursor, depth)
    case '[':
      return scanList(cursor, depth)
    case '"':
      return scanString(cursor)
    default:
      return scanToken(cursor, SCALAR, 'a value')
  }
}

function scanObject(cursor: Cursor, depth: number): RawMember[] {
  const members: RawMember[] = []
  cursor.at++
  if (take(cursor, '}')) return members
  do {
    skipSpace(cursor)
    const name = scanString(cursor).slice(1, -1)
    demand(cursor, ':')
    members.push({ name, value: scanValue(cursor, depth + 1) })
  } while (take(cursor, ','))
  demand(cursor, '}')
  return members
}

function scanList(cursor: Cursor, depth: number): string {
  const items: string[] = []
  cursor.at++
  if (take(cursor, ']')) return '[]'
  do items.push(compact(scanValue(cursor, depth + 1)))
  while (take(cursor, ','))
  demand(cursor, ']')
  return `[${items.join(',')}]`
}

/** A string with its quotes and escapes as written. */
function scanString(cursor: Cursor): string {
  const start = cursor.at
  if (cursor.text[start] !== '"') throw malformed(cursor, 'a string')
  cursor.at++
  while (cursor.text[cursor.at] !== '"') {
    const unit = cursor.text.charCodeAt(cursor.at)
    if (unit === 0x5c) scanToken(cursor, ESCAPE, 'an escape sequence')
    else if (unit >= 0x20) cursor.at++
    else throw malformed(cursor, 'a quote') // a control character, or NaN at the end of the text
  }
  cursor.at++
  return cursor.text.slice(start, cursor.at)
}

function scanToken(cursor: Cursor, pattern: RegExp, what: string): string {
  pattern.lastIndex = cursor.at
  const token = pattern.exec(cursor.text)?.[0]
  if (token === undefined) throw malformed(cursor, what)
  cursor.at += token.length
  return token
}

function skipSpace(cursor: Cursor): void {
  SPACE.lastIndex = cursor.at
  cursor.at += SPACE.exec(cursor.text)![0].length
}

function take(cursor: Cursor, char: string): boolean {
  skipSpace(cursor)
  if (cursor.text[cursor.at] !== char) return false
  cursor.at++
  return true
}

function demand(cursor: Cursor, char: string): void {
  if (!take(cursor, char)) throw malformed(cursor, `'${char}'`)
}

function malformed(cursor: Cursor, expected: string): PcpError {
  return new PcpError('EINVAL', `Labels are not JSON: expected ${expected} at character ${cursor.at + 1}`)
}
