/** Shared by the parsers of rules: tokens, errors, warnings, and identifiers of metrics and domains. pmlogrewrite(1) */
import { PcpError } from '../../model/errors.ts'
import { type Indom, indom, type Pmid, pmid } from '../../model/ids.ts'
import type { InputContents } from './known.ts'
import { Lexer, type Token } from './lexer.ts'
import type { Rules } from './rules.ts'

/** Wildcard for a part of an identifier. */
export const ANY = '*'

/** A part of an identifier. */
export type Part = number | typeof ANY

/** A PMID with wildcards. */
export type PmidParts = readonly [domain: number, cluster: Part, item: Part]

/** A rule file being parsed, and the rules it adds to. */
export class RuleParser {
  readonly known: InputContents
  readonly rules: Rules
  readonly lexer: Lexer
  readonly #warn: (line: number, text: string) => void

  constructor(text: string, known: InputContents, rules: Rules, warn: (line: number, text: string) => void) {
    this.lexer = new Lexer(text)
    this.known = known
    this.rules = rules
    this.#warn = warn
  }

  /** Creates a PM_ERR_ARG for a token, or for the current line. */
  mistake(text: string, at?: Token): PcpError {
    return new PcpError('PM_ERR_ARG', `[line ${at?.line ?? this.lexer.line}] ${text}`)
  }

  /** Reports a rule without effect. */
  warn(text: string): void {
    this.#warn(this.lexer.line, text)
  }

  /** Consumes a mark. Throws PM_ERR_ARG with `text` otherwise. */
  mark(mark: string, text = 'syntax error'): void {
    const token = this.lexer.peek()
    if (token.kind !== 'mark' || token.text !== mark) throw this.mistake(text, token)
    this.lexer.next()
  }

  /** Returns whether this mark is next. */
  isMark(mark: string): boolean {
    const { kind, text } = this.lexer.peek()
    return kind === 'mark' && text === mark
  }

  /** Returns the next keyword in lower case; undefined for other tokens. */
  keyword(): string | undefined {
    const { kind, text } = this.lexer.peek()
    return kind === 'word' ? text.toLowerCase() : undefined
  }

  /** Consumes a word. Throws PM_ERR_ARG with `text` otherwise. */
  word(text: string): string {
    const token = this.lexer.peek()
    if (token.kind !== 'word') throw this.mistake(text, token)
    return this.lexer.next().text
  }

  /** Consumes a string. Throws PM_ERR_ARG with `text` otherwise. */
  string(text: string): string {
    const token = this.lexer.peek()
    if (token.kind !== 'string') throw this.mistake(text, token)
    return this.lexer.next().text
  }

  /** Consumes a string with escaped quotes. Throws PM_ERR_ARG with `text` otherwise. */
  escapedString(text: string): string {
    const token = this.lexer.nextEscaped()
    if (token.kind !== 'string') throw this.mistake(text, token)
    return token.text
  }

  /** Consumes a string and returns its JSON token. Throws PM_ERR_ARG with `text` otherwise. */
  jsonString(text: string): string {
    return jsonString(this.escapedString(text))
  }

  /** Consumes a JSON value other than an array or object. Throws PM_ERR_ARG with `text` otherwise. */
  jsonValue(text: string): string {
    const value = this.jsonValueIfAny()
    if (value === undefined) throw this.mistake(text, this.lexer.peekEscaped())
    return value
  }

  /** Consumes such a value if it is next. */
  jsonValueIfAny(): string | undefined {
    const { kind, text } = this.lexer.peekEscaped()
    const value = kind === 'string' ? jsonString(text) : kind === 'word' ? text.toLowerCase() : ''
    if (kind !== 'string' && !JSON_WORD.test(value)) return undefined
    this.lexer.next()
    return value
  }

  /** Consumes a number from 0 to 2^31 - 1. Throws PM_ERR_ARG with `text` otherwise. */
  number(text: string): number {
    const token = this.lexer.peek()
    if (token.kind !== 'word' || !/^\d+$/.test(token.text)) throw this.mistake(text, token)
    const value = Number(this.lexer.next().text)
    if (value > 0x7fff_ffff) throw this.mistake(text, token)
    return value
  }

  /** Consumes `domain.serial`; the serial may be an asterisk. Throws PM_ERR_ARG with `text` otherwise. */
  indomParts(text: string): readonly [domain: number, serial: Part] {
    const token = this.lexer.peek()
    const parts = token.kind === 'word' ? /^(\d+)\.(\d+|\*)$/.exec(token.text) : null
    if (parts === null) throw this.mistake(text, token)
    this.lexer.next()
    const domain = this.#field(parts[1]!, 1, 510, 'domain', 'indom') as number
    return [domain, this.#field(parts[2]!, 0, 4194303, 'serial', 'indom')]
  }

  /** Returns the domain of `indomParts`, taking an asterisk from `old`. */
  indomFrom([domain, serial]: readonly [number, Part], old: Indom): Indom {
    return indom(domain, serial === ANY ? old & 0x3fffff : serial)
  }

  /** Consumes a PMID whose cluster and item may be asterisks. Consumes nothing and returns undefined for any other word. */
  pmidParts(): PmidParts | undefined {
    const token = this.lexer.peek()
    const parts = token.kind === 'word' ? /^(\d+)\.(\d+|\*)\.(\d+|\*)$/.exec(token.text) : null
    if (parts === null) return undefined
    this.lexer.next()
    const domain = this.#field(parts[1]!, 1, 511, 'domain', 'pmid') as number
    if (domain === 511) this.warn('Dynamic metric domain field (511) for pmid')
    const cluster = this.#field(parts[2]!, 0, 4095, 'cluster', 'pmid')
    return [domain, cluster, this.#field(parts[3]!, 0, 1023, 'item', 'pmid')]
  }

  /** Returns the PMID of `pmidParts`, taking asterisks from `old`. */
  pmidFrom([domain, cluster, item]: PmidParts, old: Pmid): Pmid {
    return pmid(domain, cluster === ANY ? (old >>> 10) & 0xfff : cluster, item === ANY ? old & 0x3ff : item)
  }

  #field(text: string, least: number, most: number, field: string, what: string): Part {
    if (text === ANY) return ANY
    const value = Number(text)
    if (value < least || value > most) throw this.mistake(`Illegal ${field} field (${text}) for ${what}`)
    return value
  }

  /** Consumes the pattern and replacement after REPLACE. Throws PM_ERR_ARG for an invalid regular expression. */
  replacement(clause: string): { pattern: RegExp; text: string } {
    const source = this.lexer.pattern()
    if (source === undefined) throw this.mistake(`Expecting pattern after replace in ${clause} clause`)
    this.mark('->', `Expecting -> in ${clause} clause`)
    const text = this.string(`Expecting replacement string in ${clause} clause`)
    try {
      return { pattern: new RegExp(ereSource(source), 'u'), text: replacementText(text) }
    } catch {
      throw this.mistake(`Bad regular expression "${source}" in ${clause} clause`)
    }
  }
}

/** Matches JSON values other than strings. */
const JSON_WORD = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null)$/

/** Returns a string as a JSON token; valid JSON escapes are kept. */
function jsonString(text: string): string {
  const token = `"${text.replaceAll('"', '\\"')}"`
  try {
    JSON.parse(token)
    return token
  } catch {
    return JSON.stringify(text)
  }
}

/** POSIX character classes in JavaScript's syntax within brackets. */
const CLASSES: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`\\{-~',
  xdigit: '0-9A-Fa-f',
  print: ' -~',
  graph: '!-~',
  cntrl: '\\x00-\\x1f\\x7f',
}

/** Converts an extended regular expression: in brackets a backslash is literal, and classes have names. */
function ereSource(ere: string): string {
  const escaped = ere.replace(/\\([^\w.*+?^${}()|[\]\\/-])/g, '$1')
  return escaped.replace(
    /\[(\^?)(\]?)((?:\[:\w+:\]|[^\]])*)\]/g,
    (_, not: string, first: string, rest: string) => {
      const inside = rest.replace(/\[:(\w+):\]|\\|\[/g, (found, name?: string) =>
        name === undefined ? `\\${found}` : (CLASSES[name] ?? ''),
      )
      return `[${not}${first === '' ? '' : '\\]'}${inside}]`
    },
  )
}

/** Converts a replacement text: `&` is the match and `\1` a group. */
function replacementText(text: string): string {
  return text.replace(/\\(.)|&|\$/gs, (found, escaped?: string) => {
    if (found === '&') return '$&'
    if (found === '$') return '$$'
    return /[1-9]/.test(escaped!) ? `$${escaped}` : escaped === '$' ? '$$' : escaped!
  })
}
