/** Tokenizer of rule files. Macros are expanded as text, so they may hold parts of names. docs/reference/pmie.md */
import type { ClockName, SourcePosition } from './syntax.ts'
import { type UnitWord, unitWord } from './units.ts'

/** The value of a macro. */
export type MacroValue = string | number | boolean

/** A token; `place` is its start in the file. */
export type Token =
  | {
      readonly type: 'ident' | 'string' | 'word' | 'op'
      readonly text: string
      readonly place: SourcePosition
    }
  | { readonly type: 'number'; readonly value: number; readonly place: SourcePosition }
  | { readonly type: 'bool'; readonly value: boolean; readonly place: SourcePosition }
  | { readonly type: 'unit'; readonly text: string; readonly unit: UnitWord; readonly place: SourcePosition }
  | { readonly type: 'clock'; readonly name: ClockName; readonly place: SourcePosition }
  | { readonly type: 'bad' | 'end'; readonly place: SourcePosition }

const CLOCK_NAMES: ReadonlySet<string> = new Set([
  'minute',
  'hour',
  'day',
  'month',
  'year',
  'day_of_week',
  'delta',
])

const WORDS: ReadonlySet<string> = new Set([
  ...['host', 'inst', 'sample'].flatMap((over) =>
    ['all', 'some', 'min', 'max', 'sum', 'avg', 'count'].map((what) => `${what}_${over}`),
  ),
  ...['rate', 'instant', 'rising', 'falling', 'match_inst', 'nomatch_inst'],
  ...['shell', 'alarm', 'syslog', 'print', 'stomp', 'webhook'],
  ...['ruleset', 'else', 'unknown', 'otherwise'],
])

const OPERATORS: readonly string[] = [
  ...['->', '&&', '||', '==', '!=', '<=', '>=', '..', '%_host', '%_inst', '%_sample'],
  ...'&|!<>+-*/()=;:#@^'.split(''),
]

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  v: '\v',
  b: '\b',
  r: '\r',
  f: '\f',
  a: '\x07',
}

/** Longest macro name; of longer ones only the beginning is shown. */
const MAX_MACRO_NAME = 255
const SHOWN_OF_MACRO = 20
/** Limit of nested macros, which catches recursion. */
const MAX_DEPTH = 100
/** Most characters of macros expanded in a file. Macros in texts of macros grow exponentially. */
export const MOST_EXPANDED = 1_000_000

interface Frame {
  readonly text: string
  pos: number
}

/** Reports problems with macros. */
export type LexerListener = (problem: string) => void

/** Tokens of one file, and the macros defined so far. */
export class Lexer {
  readonly macros: Map<string, MacroValue>
  readonly #frames: Frame[]
  readonly #onProblem: LexerListener
  readonly #lines: readonly string[]
  #line = 1
  #lineStart = 0
  #isEnded = false
  /** Characters of macros expanded so far. */
  #expanded = 0

  constructor(text: string, macros: Map<string, MacroValue>, onProblem: LexerListener) {
    this.#frames = [{ text, pos: 0 }]
    this.macros = macros
    this.#onProblem = onProblem
    this.#lines = text.split('\n')
  }

  /** Current position. */
  get place(): SourcePosition {
    return { line: this.#line, column: this.#frames[0]!.pos - this.#lineStart + 1 }
  }

  /** Returns a line of the file without its newline. */
  lineText(line: number): string {
    return this.#lines[line - 1] ?? ''
  }

  /** Whether only white space and comments are left. */
  get atEnd(): boolean {
    this.#skipBlanks()
    return this.#peek() === ''
  }

  /** Returns the next token. */
  next(): Token {
    this.#skipBlanks()
    while (this.#peek() === '$') {
      const token = this.#macroToken(this.place)
      if (token !== undefined) return token
      this.#skipBlanks()
    }
    const { place } = this
    const char = this.#peek()
    if (char === '') return { type: 'end', place }
    if (char === '"') return this.#stringToken(place)
    if (/[0-9]/.test(char) || (char === '.' && /[0-9]/.test(this.#peek(1)))) return this.#number(place)
    if (/[A-Za-z'\\]/.test(char)) return this.#identToken(place)
    const operator = OPERATORS.find((text) => this.#startsWith(text))
    if (operator === undefined) {
      this.#take()
      return { type: 'bad', place }
    }
    for (let i = 0; i < operator.length; i++) this.#take()
    // A period after a semicolon ends the input.
    if (operator === ';' && this.#startsWith('.')) this.#isEnded = true
    return { type: 'op', text: operator, place }
  }

  #peek(ahead = 0): string {
    if (this.#isEnded) return ''
    for (let f = this.#frames.length - 1; f >= 0; f--) {
      const { text, pos } = this.#frames[f]!
      if (pos + ahead < text.length) return text[pos + ahead]!
      ahead -= text.length - pos
    }
    return ''
  }

  #startsWith(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.#peek(i) !== text[i]) return false
    return true
  }

  #take(): string {
    const char = this.#peek()
    while (this.#frames.length > 1 && this.#frames.at(-1)!.pos >= this.#frames.at(-1)!.text.length)
      this.#frames.pop()
    const frame = this.#frames.at(-1)!
    if (frame.pos < frame.text.length) frame.pos++
    if (char === '\n' && this.#frames.length === 1) {
      this.#line++
      this.#lineStart = frame.pos
    }
    return char
  }

  #skipBlanks(): void {
    for (;;) {
      const char = this.#peek()
      if (char !== '' && /\s/.test(char)) this.#take()
      else if (this.#startsWith('//')) while (this.#peek() !== '' && this.#peek() !== '\n') this.#take()
      else if (this.#startsWith('/*')) {
        while (this.#peek() !== '' && !this.#startsWith('*/')) this.#take()
        this.#take()
        this.#take()
      } else return
    }
  }

  #number(place: SourcePosition): Token {
    let text = ''
    const digits = (): void => {
      while (/[0-9]/.test(this.#peek())) text += this.#take()
    }
    digits()
    // Two periods separate the ends of an interval.
    if (this.#peek() === '.' && this.#peek(1) !== '.') {
      text += this.#take()
      digits()
    }
    if (/[eE]/.test(this.#peek()) && /[0-9]/.test(this.#peek(/[+-]/.test(this.#peek(1)) ? 2 : 1))) {
      text += this.#take() + this.#take()
      digits()
    }
    return { type: 'number', value: Number(text), place }
  }

  #stringToken(place: SourcePosition): Token {
    this.#take()
    let text = ''
    for (;;) {
      const char = this.#peek()
      if (char === '') {
        this.#onProblem('unexpected end of file in string')
        return { type: 'bad', place }
      }
      if (char === '$') {
        if (!this.#expandMacro()) return { type: 'bad', place }
        continue
      }
      this.#take()
      if (char === '"') return { type: 'string', text, place }
      if (char === '\\') {
        const escaped = this.#take()
        text += ESCAPES[escaped] ?? escaped
      } else text += char
    }
  }

  #identToken(place: SourcePosition): Token {
    let text = ''
    let isPlain = true
    for (;;) {
      const char = this.#peek()
      if (char === "'") {
        isPlain = false
        this.#take()
        while (this.#peek() !== "'") {
          if (this.#peek() === '') {
            this.#onProblem('unexpected end of file in quoted name')
            return { type: 'bad', place }
          }
          if (this.#peek() !== '$') text += this.#take()
          else if (!this.#expandMacro()) return { type: 'bad', place }
        }
        this.#take()
      } else if (char === '\\') {
        isPlain = false
        this.#take()
        text += this.#take()
      } else if (char === '$') {
        if (!this.#expandMacro()) return { type: 'bad', place }
      } else if (/[A-Za-z0-9_.]/.test(char)) text += this.#take()
      else break
    }
    if (isPlain && (text === 'true' || text === 'false'))
      return { type: 'bool', value: text === 'true', place }
    if (isPlain && WORDS.has(text)) return { type: 'word', text, place }
    const unit = isPlain ? unitWord(text) : undefined
    return unit === undefined ? { type: 'ident', text, place } : { type: 'unit', text, unit, place }
  }

  /** Expands a macro at the start of a token: a number is a token; undefined for text, whose tokens are next. */
  #macroToken(place: SourcePosition): Token | undefined {
    const name = this.#macroName()
    if (name === undefined) return { type: 'bad', place }
    if (CLOCK_NAMES.has(name) && !this.macros.has(name))
      return { type: 'clock', name: name as ClockName, place }
    const value = this.macros.get(name)
    if (value === undefined) this.#onProblem(`undefined macro name $${name}`)
    else if (typeof value === 'number') return { type: 'number', value, place }
    else if (typeof value === 'boolean') return { type: 'bool', value, place }
    else this.#push(value)
    return undefined
  }

  /** Expands a macro inside a name or string. */
  #expandMacro(): boolean {
    const name = this.#macroName()
    if (name === undefined) return false
    const value = this.macros.get(name)
    if (typeof value === 'string') {
      return this.#push(value)
    }
    const isKnown = value !== undefined || CLOCK_NAMES.has(name)
    this.#onProblem(
      isKnown ? `macro $${name} not string valued as expected` : `undefined macro name $${name}`,
    )
    return !isKnown
  }

  /** Expands a macro's text. Beyond a limit reports it, ends the input and returns false. */
  #push(text: string): boolean {
    this.#expanded += text.length
    const isDeep = this.#frames.length > MAX_DEPTH
    if (isDeep || this.#expanded > MOST_EXPANDED) {
      const { line, column } = this.place
      const what = isDeep ? 'macro contains itself' : `macros expand to more than ${MOST_EXPANDED} characters`
      this.#onProblem(`${what}, at line ${line}, column ${column}`)
      this.#isEnded = true
      return false
    }
    if (text !== '') this.#frames.push({ text, pos: 0 })
    return true
  }

  #macroName(): string | undefined {
    this.#take()
    let name = ''
    const isQuoted = this.#peek() === "'"
    if (isQuoted) this.#take()
    for (;;) {
      const char = this.#peek()
      if (isQuoted ? char === "'" : !/[A-Za-z0-9_]/.test(char)) break
      if (char === '') {
        this.#onProblem(`unexpected end of file in macro name: $${name.trimEnd()}`)
        return undefined
      }
      if (char === '\\') this.#take()
      name += this.#take()
    }
    if (isQuoted) this.#take()
    if (name.length <= MAX_MACRO_NAME) return name
    this.#onProblem(`macro name too long: $${name.slice(0, SHOWN_OF_MACRO)}...`)
    return undefined
  }
}
