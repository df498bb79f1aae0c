/** Parsing JSON text into labels: dotted names, values as raw tokens without white space. pmLookupLabels(3) */
import { PcpError } from './errors.ts'
import { LABEL_COMPOUND, type Label } from './labels.ts'

/** Longest dotted name of a label: the length is one byte on the wire, and the reference rejects 255. */
const MAX_NAME = 254
/** Deepest nesting, so that no text exhausts the stack. */
const MAX_DEPTH = 32
const NAME = /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/
const SPACE = /[ \t\r\n]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Result of parsing. */
export interface ParsedLabels {
  /** In the order of the text; labels in nested objects have LABEL_COMPOUND. */
  readonly labels: readonly Label[]
  /** Invalid names, which were skipped. */
  readonly invalid: readonly string[]
}

/** A JSON value: a compact token, or the members of an object. */
type Raw = string | readonly RawMember[]

interface RawMember {
  /** Between the quotes, verbatim. */
  readonly name: string
  readonly value: Raw
}

interface Cursor {
  readonly text: string
  at: number
}

/**
 * Parses the labels of a JSON object and gives each of them `flags`. Empty text has no labels. EINVAL for any other text that is
 * not a JSON object, and for duplicate names.
 */
export function parseLabels(text: string, flags: number): ParsedLabels {
  const cursor: Cursor = { text, at: 0 }
  skipSpace(cursor)
  if (cursor.at === text.length) return { labels: [], invalid: [] }
  const value = scanValue(cursor, 0)
  skipSpace(cursor)
  if (cursor.at < text.length) throw malformed(cursor, 'one object and nothing else')
  if (typeof value === 'string') throw new PcpError('EINVAL', `Labels must be a JSON object, not ${value}`)
  const labels: Label[] = []
  const invalid: string[] = []
  flatten(value, '', flags, labels, invalid)
  const seen = new Set<string>()
  for (const { name } of labels) {
    if (seen.has(name)) throw new PcpError('EINVAL', `Label "${name}" occurs twice`)
    seen.add(name)
  }
  return { labels, invalid }
}

/** Returns whether the text ends inside a value, so that more text could make it valid. */
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
    // Members of an object with too long a name are skipped: each would repeat that name.
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

/** Scans a string; quotes and escapes stay verbatim. */
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
  return new PcpError(
    'EINVAL',
    `Labels are not valid JSON: expected ${expected} at character ${cursor.at + 1}`,
  )
}
