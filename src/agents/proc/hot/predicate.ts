/**
 * Predicates that say which processes are hot. docs/proc.md
 *
 *     predicate   conjunction || conjunction ...
 *     conjunction negation && negation ...
 *     negation    ! negation, ( predicate ), true, false, or a comparison
 *     comparison  number < number, text == text, text ~ /pattern/ ...
 */
import { PcpError } from '../../../model/errors.ts'
import { type Token, tokenize } from './lexer.ts'
import { compilePattern } from './pattern.ts'

/** Numbers a predicate may ask about. */
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
/** Texts a predicate may ask about. */
export const HOT_TEXTS = ['uname', 'gname', 'fname', 'psargs'] as const

/** What is known of a process. */
export type HotFacts = { readonly [name in (typeof HOT_NUMBERS)[number]]: number } & {
  readonly [name in (typeof HOT_TEXTS)[number]]: string
}

/** A predicate: what it says of a process, and how it is written out in full. */
export interface Predicate {
  readonly holds: (facts: HotFacts) => boolean
  readonly text: string
}

interface Operand<T> {
  readonly of: (facts: HotFacts) => T
  readonly text: string
}

/** Predicates within predicates: a bound for what somebody stores. */
const MAX_DEPTH = 200

/** Parses a predicate; undefined for a text without one. PM_ERR_BADSTORE says in which line it is wrong. */
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

  /** A file may begin with the version of its language. */
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
      left = { holds: (facts) => a.holds(facts) || b.holds(facts), text: `(${a.text} || ${b.text})` }
    }
    return left
  }

  #both(): Predicate {
    let left = this.#single()
    while (this.#accept('&&')) {
      const [a, b] = [left, this.#single()]
      left = { holds: (facts) => a.holds(facts) && b.holds(facts), text: `(${a.text} && ${b.text})` }
    }
    return left
  }

  #single(): Predicate {
    if (++this.#depth > MAX_DEPTH) throw this.#wrong('a simpler predicate')
    try {
      if (this.#accept('!')) {
        const { holds, text } = this.#single()
        return { holds: (facts) => !holds(facts), text: `(! ${text})` }
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
    return { holds: () => text === 'true', text: `(${text})` }
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
      holds: (facts) => (left.of(facts) === right.of(facts)) === (sign === '=='),
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
      holds: (facts) => compare(left.of(facts), right.of(facts)),
      text: `(${left.text} ${sign} ${right.text})`,
    }
  }

  #matches(left: Operand<string>, sign: string): Predicate {
    if (this.#peek.kind !== 'pattern') throw this.#wrong('a pattern such as /bash/')
    const { text } = this.#peek
    const pattern = compilePattern(text)
    this.#at++
    return {
      holds: (facts) => pattern.test(left.of(facts)) === (sign === '~'),
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
      `Predicate of hot processes, line ${line}: ${wanted} is wanted where "${text}" stands`,
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

/** Whole numbers of 32 bits as they are, others with six decimals, as in PCP. */
function written(value: number): string {
  return Number.isInteger(value) && value < 2 ** 31 ? String(value) : value.toFixed(6)
}
