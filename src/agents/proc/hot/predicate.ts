/**
 * Predicates that select hot processes. docs/reference/agents/proc.md
 *
 *     predicate   conjunction || conjunction ...
 *     conjunction negation && negation ...
 *     negation    ! negation, ( predicate ), true, false, or a comparison
 *     comparison  number < number, text == text, text ~ /pattern/ ...
 */
import { PcpError } from '../../../model/errors.ts'
import { type Token, tokenize } from './lexer.ts'
import { compilePattern } from './pattern.ts'

/** Numeric variables of predicates. */
export const HOT_NUMBERS = [
  'cpuburn',
  'ctxswitch',
  'virtualsize',
  'residentsize',
  'iodemand',
  'iowait',
  'schedwait',
  'uid',
  'gid',
] as const
/** Text variables of predicates. */
export const HOT_TEXTS = ['uname', 'gname', 'fname', 'psargs'] as const

/** Values of the variables for a process. */
export type HotVariables = { readonly [name in (typeof HOT_NUMBERS)[number]]: number } & {
  readonly [name in (typeof HOT_TEXTS)[number]]: string
}

/** A predicate: its evaluation for a process, and its text with all parentheses. */
export interface Predicate {
  readonly matches: (facts: HotVariables) => boolean
  readonly text: string
}

interface Operand<T> {
  readonly of: (facts: HotVariables) => T
  readonly text: string
}

/** Deepest nesting accepted. */
const MAX_DEPTH = 200

/** Parses a predicate; undefined for an empty text. PM_ERR_BADSTORE names the wrong line. */
export function parsePredicate(text: string): Predicate | undefined {
  const tokens = tokenize(text)
  const parser = new Parser(tokens)
  parser.skipVersion()
  return parser.isAtEnd ? undefined : parser.parseAll()
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get isAtEnd(): boolean {
    return this.#peek.kind === 'end'
  }

  /** Skips the optional version of the language at the start of a file. */
  skipVersion(): void {
    const [word, number] = this.#tokens
    if (word?.kind !== 'word' || word.text !== 'Version') return
    this.#at = 1
    if (number?.kind !== 'number' || number.text !== '1.0') throw this.#wrong('version 1.0')
    this.#at = 2
  }

  parseAll(): Predicate {
    const whole = this.#either()
    if (!this.isAtEnd) throw this.#wrong('&&, || or the end')
    return whole
  }

  get #peek(): Token {
    return this.#tokens[this.#at]!
  }

  #accept(sign: string): boolean {
    const { kind, text } = this.#peek
    if (kind !== 'sign' || text !== sign) return false
    this.#at++
    return true
  }

  #either(): Predicate {
    let left = this.#both()
    while (this.#accept('||')) {
      const [a, b] = [left, this.#both()]
      left = { matches: (facts) => a.matches(facts) || b.matches(facts), text: `(${a.text} || ${b.text})` }
    }
    return left
  }

  #both(): Predicate {
    let left = this.#single()
    while (this.#accept('&&')) {
      const [a, b] = [left, this.#single()]
      left = { matches: (facts) => a.matches(facts) && b.matches(facts), text: `(${a.text} && ${b.text})` }
    }
    return left
  }

  #single(): Predicate {
    if (++this.#depth > MAX_DEPTH) throw this.#wrong('a simpler predicate')
    try {
      if (this.#accept('!')) {
        const { matches, text } = this.#single()
        return { matches: (facts) => !matches(facts), text: `(! ${text})` }
      }
      if (this.#accept('(')) {
        const inner = this.#either()
        if (!this.#accept(')')) throw this.#wrong(')')
        return inner
      }
      return this.#constant() ?? this.#comparison()
    } finally {
      this.#depth--
    }
  }

  #constant(): Predicate | undefined {
    const { kind, text } = this.#peek
    if (kind !== 'word' || (text !== 'true' && text !== 'false')) return undefined
    this.#at++
    return { matches: () => text === 'true', text: `(${text})` }
  }

  #comparison(): Predicate {
    const number = this.#number()
    if (number !== undefined) return this.#numbers(number)
    const left = this.#text()
    if (left === undefined) throw this.#wrong('a comparison')
    if (this.#accept('~')) return this.#matches(left, '~')
    if (this.#accept('!~')) return this.#matches(left, '!~')
    const sign = this.#accept('==') ? '==' : this.#accept('!=') ? '!=' : undefined
    if (sign === undefined) throw this.#wrong('==, !=, ~ or !~')
    const right = this.#text()
    if (right === undefined) throw this.#wrong('a text')
    return {
      matches: (facts) => (left.of(facts) === right.of(facts)) === (sign === '=='),
      text: `(${left.text} ${sign} ${right.text})`,
    }
  }

  #numbers(left: Operand<number>): Predicate {
    const { text: sign } = this.#peek
    const compare = COMPARISONS[sign]
    if (this.#peek.kind !== 'sign' || compare === undefined) throw this.#wrong('<, <=, >, >=, == or !=')
    this.#at++
    const right = this.#number()
    if (right === undefined) throw this.#wrong('a number')
    return {
      matches: (facts) => compare(left.of(facts), right.of(facts)),
      text: `(${left.text} ${sign} ${right.text})`,
    }
  }

  #matches(left: Operand<string>, sign: string): Predicate {
    if (this.#peek.kind !== 'pattern') throw this.#wrong('a pattern such as /bash/')
    const { text } = this.#peek
    const pattern = compilePattern(text)
    this.#at++
    return {
      matches: (facts) => pattern.test(left.of(facts)) === (sign === '~'),
      text: `(${left.text} ${sign} "${text}")`,
    }
  }

  #number(): Operand<number> | undefined {
    const { kind, text } = this.#peek
    const name = HOT_NUMBERS.find((known) => known === text)
    if (kind !== 'number' && (kind !== 'word' || name === undefined)) return undefined
    this.#at++
    if (name !== undefined) return { of: (facts) => facts[name], text: name }
    const value = Number(text)
    return { of: () => value, text: written(value) }
  }

  #text(): Operand<string> | undefined {
    const { kind, text } = this.#peek
    const name = HOT_TEXTS.find((known) => known === text)
    if (kind !== 'text' && (kind !== 'word' || name === undefined)) return undefined
    this.#at++
    return kind === 'text'
      ? { of: () => text, text: `"${text}"` }
      : { of: (facts) => facts[name!], text: name! }
  }

  #wrong(wanted: string): PcpError {
    const { text, line } = this.#peek
    return new PcpError(
      'PM_ERR_BADSTORE',
      `Predicate of hot processes, line ${line}: expected ${wanted} instead of "${text}"`,
    )
  }
}

const COMPARISONS: { readonly [sign: string]: (a: number, b: number) => boolean } = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
}

/** Formats 32-bit integers without decimals, other numbers with six, as in PCP. */
function written(value: number): string {
  return Number.isInteger(value) && value < 2 ** 31 ? String(value) : value.toFixed(6)
}
