/** Parser of queries. pmseries(1), docs/reference/series-queries.md */
import { PcpError } from '../../model/errors.ts'
import type { Condition, Expression, Group, Query, Relation, Selector, WindowTexts } from './syntax.ts'
import { FUNCTIONS, type Token, type TokenKind, tokensOf, WINDOW_KEYS } from './tokens.ts'

/** Longest text of a query, and deepest nesting of its functions. */
const MOST_CHARACTERS = 65_536
const MOST_LEVELS = 100

const RELATIONS: ReadonlySet<string> = new Set(['==', '~~', ':', '=~', '!~', '!=', '<', '<=', '>', '>='])
/** Relations that compare only numbers. */
const OF_NUMBERS: ReadonlySet<string> = new Set(['<', '<=', '>', '>='])

/** Parses a query. EINVAL with the text, a caret and `syntax error` below it. */
export function parseQuery(text: string): Query {
  return new Parser(text).query()
}

/** Parses a window alone: `[count:5]`. EINVAL as `parseQuery`. */
export function parseWindow(text: string): WindowTexts {
  return new Parser(text).windowAlone()
}

class Parser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #next = 0
  #levels = 0
  /** Whether selectors of a calculation have windows: as the first one. */
  #hasWindow: boolean | undefined

  constructor(text: string) {
    if (text.length > MOST_CHARACTERS)
      throw new PcpError('E2BIG', `A query has at most ${MOST_CHARACTERS} characters, not ${text.length}`)
    this.#text = text
    this.#tokens = tokensOf(text)
  }

  query(): Query {
    if (this.#peek().kind === 'name' && this.#peek(1).text === '=' && this.#peek(1).kind === 'symbol') {
      this.#next += 2 // the assigned name has no effect
    }
    const body = this.#isSymbol('{') ? this.#selector(undefined) : this.#sum()
    if (body.kind === 'selector' && this.#isSymbol('[') && this.#hasWindow === undefined) this.#fail()
    if (this.#peek().kind !== 'end') this.#fail()
    return { body, hasWindow: this.#hasWindow ?? false }
  }

  windowAlone(): WindowTexts {
    const window = this.#window()
    if (this.#peek().kind !== 'end') this.#fail()
    return window
  }

  #sum(): Expression {
    let left = this.#product()
    for (;;) {
      const operator = this.#takeSymbol('+') ?? this.#takeSymbol('-')
      if (operator === undefined) return left
      left = { kind: 'binary', operator: operator as '+' | '-', left, right: this.#product() }
    }
  }

  #product(): Expression {
    let left = this.#factor()
    for (;;) {
      const operator = this.#takeSymbol('*') ?? this.#takeSymbol('/')
      if (operator === undefined) return left
      if (operator === '*' && this.#peek().kind === 'number')
        left = { kind: 'scaled', factor: this.#take('number'), operand: left, isFactorFirst: false }
      else left = { kind: 'binary', operator: operator as '*' | '/', left, right: this.#factor() }
    }
  }

  #factor(): Expression {
    const { kind } = this.#peek()
    if (kind === 'function') return this.#call()
    if (kind === 'name') return this.#selector(this.#take('name'))
    if (kind !== 'number') this.#fail()
    const factor = this.#take('number')
    this.#symbol('*')
    return { kind: 'scaled', factor, operand: this.#factor(), isFactorFirst: true }
  }

  #call(): Expression {
    if (++this.#levels > MOST_LEVELS)
      throw new PcpError('E2BIG', `A query nests at most ${MOST_LEVELS} functions`)
    const name = this.#take('function')
    this.#symbol('(')
    const operand = this.#sum()
    const wanted = FUNCTIONS.get(name)!
    let parameter: string | undefined
    if (wanted !== 'none' && (wanted !== 'optional' || this.#isSymbol(','))) {
      this.#symbol(',')
      parameter = this.#take(wanted === 'units' ? 'string' : 'number')
      const isWhole = /^\d+$/.test(parameter)
      if ((wanted === 'count' && !isWhole) || (wanted === 'percentage' && Number(parameter) > 100))
        this.#fail()
    }
    this.#symbol(')')
    this.#levels--
    return { kind: 'call', name, operand, parameter }
  }

  #selector(metric: string | undefined): Selector {
    const groups: Group[] = []
    if (this.#takeSymbol('{') !== undefined) {
      if (metric === undefined || !this.#isSymbol('}')) {
        do groups.push(this.#group())
        while (this.#takeSymbol(',') !== undefined)
      }
      this.#symbol('}')
    }
    if (!this.#isSymbol('[')) {
      if (this.#hasWindow === true) this.#fail()
      this.#hasWindow = false
      return { kind: 'selector', metric, groups, window: undefined }
    }
    if (this.#hasWindow === false) this.#fail()
    this.#hasWindow = true
    return { kind: 'selector', metric, groups, window: this.#window() }
  }

  #group(): Group {
    const first = this.#condition()
    const rest: { operator: '&&' | '||'; condition: Condition }[] = []
    for (;;) {
      const operator = this.#takeSymbol('&&') ?? this.#takeSymbol('||')
      if (operator === undefined) return { first, rest }
      rest.push({ operator: operator as '&&' | '||', condition: this.#condition() })
    }
  }

  #condition(): Condition {
    const isQuoted = this.#peek().kind === 'string'
    const key = isQuoted ? this.#take('string') : this.#word()
    const { kind, text } = this.#peek()
    if (kind !== 'symbol' || !RELATIONS.has(text)) this.#fail()
    this.#next++
    const relation = text as Relation
    const value = this.#peek()
    const isNumber = value.kind === 'number'
    const isWord = value.kind === 'name'
    if (!isNumber && (OF_NUMBERS.has(relation) || !(isWord || value.kind === 'string'))) this.#fail()
    this.#next++
    return { key, relation, value: value.text, isNumber, isVoid: isQuoted || isWord }
  }

  /** Takes a key of a condition, which may be a word with another meaning elsewhere. */
  #word(): string {
    const { kind, text } = this.#peek()
    if (kind !== 'name' && kind !== 'function' && kind !== 'key') this.#fail()
    this.#next++
    return text
  }

  #window(): WindowTexts {
    const texts: { -readonly [K in keyof WindowTexts]: string } = {}
    this.#symbol('[')
    do {
      if (this.#peek().kind === 'interval') {
        texts.range = this.#take('interval')
        continue
      }
      const key = WINDOW_KEYS.get(this.#peek().kind === 'key' ? this.#peek().text : '')
      if (key === undefined) this.#fail()
      this.#next++
      this.#symbol(':')
      const { kind, text } = this.#peek()
      const isCount = key === 'samples' || key === 'offset'
      const isFine = isCount
        ? kind === 'number' && /^\d+$/.test(text)
        : kind === 'string' || kind === 'number'
      if (!isFine || (key === 'zone' && kind !== 'string')) this.#fail()
      this.#next++
      texts[key] = text
    } while (this.#takeSymbol(',') !== undefined)
    this.#symbol(']')
    return texts
  }

  #peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!
  }

  #isSymbol(text: string): boolean {
    const token = this.#peek()
    return token.kind === 'symbol' && token.text === text
  }

  #takeSymbol(text: string): string | undefined {
    if (!this.#isSymbol(text)) return undefined
    this.#next++
    return text
  }

  #symbol(text: string): void {
    if (this.#takeSymbol(text) === undefined) this.#fail()
  }

  #take(kind: TokenKind): string {
    const token = this.#peek()
    if (token.kind !== kind) this.#fail()
    this.#next++
    return token.text
  }

  #fail(): never {
    throw syntaxError(this.#text, this.#peek().at)
  }
}

/** Returns the error for an invalid query, with a caret at an offset. */
function syntaxError(text: string, at: number): PcpError {
  const caret = `${' '.repeat(at)}^ -- syntax error`
  return new PcpError('EINVAL', `cannot parse given string\n\n${text}\n${caret}\n`)
}
