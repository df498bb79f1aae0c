/** What the parsers of all kinds of rules share: tokens, mistakes, warnings, numbers of metrics and domains. pmlogrewrite(1) */
import { PcpError } from '../../model/errors.ts'
import { type Indom, indom, type Pmid, pmid } from '../../model/ids.ts'
import type { Known } from './known.ts'
import { Lexer, type Token } from './lexer.ts'
import type { Rules } from './rules.ts'

/** Stands for any number in a part of an identifier. */
export const ANY = '*'

/** Parts of a domain's or metric's number, as written. */
export type Part = number | typeof ANY

/** The number of a metric, as written. */
export type PmidParts = readonly [domain: number, cluster: Part, item: Part]

/** A file of rules being read, and where its rules go. */
export class RuleSource {
  readonly known: Known
  readonly rules: Rules
  readonly lexer: Lexer
  readonly #warn: (line: number, text: string) => void

  constructor(text: string, known: Known, rules: Rules, warn: (line: number, text: string) => void) {
    this.lexer = new Lexer(text)
    this.known = known
    this.rules = rules
    this.#warn = warn
  }

  /** The mistake at a token, or else where reading has come to: PM_ERR_ARG. */
  mistake(text: string, at?: Token): PcpError {
    return new PcpError('PM_ERR_ARG', `[line ${at?.line ?? this.lexer.line}] ${text}`)
  }

  /** Tells about a rule that changes nothing. */
  warn(text: string): void {
    this.#warn(this.lexer.line, text)
  }

  /** Takes a mark. PM_ERR_ARG with `text` when something else is there. */
  mark(mark: string, text = 'syntax error'): void {
    const token = this.lexer.peek()
    if (token.kind !== 'mark' || token.text !== mark) throw this.mistake(text, token)
    this.lexer.next()
  }

  /** Is this mark next? */
  isMark(mark: string): boolean {
    const { kind, text } = this.lexer.peek()
    return kind === 'mark' && text === mark
  }

  /** The keyword that is next, in lower case; undefined when no word is. */
  keyword(): string | undefined {
    const { kind, text } = this.lexer.peek()
    return kind === 'word' ? text.toLowerCase() : undefined
  }

  /** Takes a word. PM_ERR_ARG with `text` when something else is there. */
  word(text: string): string {
    const token = this.lexer.peek()
    if (token.kind !== 'word') throw this.mistake(text, token)
    return this.lexer.next().text
  }

  /** Takes a string. PM_ERR_ARG with `text` when something else is there. */
  string(text: string): string {
    const token = this.lexer.peek()
    if (token.kind !== 'string') throw this.mistake(text, token)
    return this.lexer.next().text
  }

  /** Takes a string in which quotes may be escaped. PM_ERR_ARG with `text` when something else is there. */
  escapedString(text: string): string {
    const token = this.lexer.nextEscaped()
    if (token.kind !== 'string') throw this.mistake(text, token)
    return token.text
  }

  /** Takes a string as its JSON token. PM_ERR_ARG with `text` when something else is there. */
  jsonString(text: string): string {
    return jsonString(this.escapedString(text))
  }

  /** Takes a JSON value that is no list and no object. PM_ERR_ARG with `text` when something else is there. */
  jsonValue(text: string): string {
    const value = this.jsonValueIfAny()
    if (value === undefined) throw this.mistake(text, this.lexer.peekEscaped())
    return value
  }

  /** Takes such a value if it is next. */
  jsonValueIfAny(): string | undefined {
    const { kind, text } = this.lexer.peekEscaped()
    const value = kind === 'string' ? jsonString(text) : kind === 'word' ? text.toLowerCase() : ''
    if (kind !== 'string' && !JSON_WORD.test(value)) return undefined
    this.lexer.next()
    return value
  }

  /** Takes a number from 0 to 2^31 - 1. PM_ERR_ARG with `text` when something else is there. */
  number(text: string): number {
    const token = this.lexer.peek()
    if (token.kind !== 'word' || !/^\d+$/.test(token.text)) throw this.mistake(text, token)
    const value = Number(this.lexer.next().text)
    if (value > 0x7fff_ffff) throw this.mistake(text, token)
    return value
  }

  /** Takes `domain.serial`, or an asterisk in place of the serial. PM_ERR_ARG with `text` otherwise. */
  indomParts(text: string): readonly [domain: number, serial: Part] {
    const token = this.lexer.peek()
    const parts = token.kind === 'word' ? /^(\d+)\.(\d+|\*)$/.exec(token.text) : null
    if (parts === null) throw this.mistake(text, token)
    this.lexer.next()
    const domain = this.#field(parts[1]!, 1, 510, 'domain', 'indom') as number
    return [domain, this.#field(parts[2]!, 0, 4194303, 'serial', 'indom')]
  }

  /** The domain of `indomParts`; the serial of `old` takes the place of an asterisk. */
  indomFrom([domain, serial]: readonly [number, Part], old: Indom): Indom {
    return indom(domain, serial === ANY ? old & 0x3fffff : serial)
  }

  /** Takes the number of a metric; cluster and item may be asterisks. Undefined, and nothing taken, for any other word. */
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

  /** The metric of `pmidParts`; parts of `old` take the place of asterisks. */
  pmidFrom([domain, cluster, item]: PmidParts, old: Pmid): Pmid {
    return pmid(domain, cluster === ANY ? (old >>> 10) & 0xfff : cluster, item === ANY ? old & 0x3ff : item)
  }

  #field(text: string, least: number, most: number, field: string, what: string): Part {
    if (text === ANY) return ANY
    const value = Number(text)
    if (value < least || value > most) throw this.mistake(`Illegal ${field} field (${text}) for ${what}`)
    return value
  }

  /** Takes a pattern and what replaces its first match, behind REPLACE. PM_ERR_ARG for what is no regular expression. */
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

/** Numbers and words of JSON. */
const JSON_WORD = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null)$/

/** A string as JSON has it; escapes that JSON knows are escapes. */
function jsonString(text: string): string {
  const token = `"${text.replaceAll('"', '\\"')}"`
  try {
    JSON.parse(token)
    return token
  } catch {
    return JSON.stringify(text)
  }
}

/** Names of the character classes of POSIX, as JavaScript writes them inside brackets. */
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

/** An extended regular expression as JavaScript writes it: in brackets a backslash is a character, and classes have names. */
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

/** What replaces a match, as JavaScript writes it: `&` is the match and `\1` a part of it. */
function replacementText(text: string): string {
  return text.replace(/\\(.)|&|\$/gs, (found, escaped?: string) => {
    if (found === '&') return '$&'
    if (found === '$') return '$$'
    return /[1-9]/.test(escaped!) ? `$${escaped}` : escaped === '$' ? '$$' : escaped!
  })
}
