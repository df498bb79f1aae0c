/** From text to tree. docs/derived.md, pmRegisterDerived(3) */
import { compilePattern, type Pattern } from '../base/pattern.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_FLOAT, typeStr } from '../model/types.ts'
import type {
  AggregateName,
  BinaryOp,
  Expr,
  NumberExpr,
  RankName,
  StatedMeta,
  SyntaxFault,
  UnaryName,
} from './expr.ts'
import {
  ANON_TYPES,
  BOOLEAN,
  NO_BEGINNING,
  NOT,
  NOT_AFTER_NAME,
  STRENGTH,
  SUM,
  TERNARY,
  TOKEN_NAMES,
  VALUE_KINDS,
} from './grammar.ts'
import { unitsOf, withStated } from './stated.ts'
import { Fault, Lexer, type Token, type TokenKind } from './tokens.ts'

/** Parts within parts as they are written. */
const MAX_DEPTH = 1000
/** Levels of a tree, which operators in a row make too: binding and evaluating take a call for each. */
const MAX_LEVELS = 2000

/** Is this where a text stopped being an expression? */
export function isFault(parsed: Expr | SyntaxFault): parsed is SyntaxFault {
  return !('kind' in parsed)
}

/** The tree of an expression, or where and why it is none. Never throws. @see pmRegisterDerived(3) */
export function parseExpr(text: string): Expr | SyntaxFault {
  try {
    return new Parser(text).parse()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { offset, why } = error
    return { offset, why }
  }
}

/** How deep a tree is; takes no calls itself. */
function levelsOf(expr: Expr): number {
  let level: readonly Expr[] = [expr]
  let count = 0
  for (; level.length > 0; count++) level = level.flatMap(operandsOf)
  return count
}

function operandsOf(expr: Expr): readonly Expr[] {
  if (expr.kind === 'binary') return [expr.left, expr.right]
  if (expr.kind === 'ternary') return [expr.guard, expr.left, expr.right]
  return 'operand' in expr ? [expr.operand] : []
}

/**
 * Precedence climbing. `#expected` has what to say when something is wrong here, outermost first: what is complete takes
 * its own entry away, so the innermost unfinished construct speaks, as with the reference's parser.
 */
class Parser {
  readonly #lexer: Lexer
  #token: Token
  readonly #expected: string[] = []
  #depth = 0

  constructor(text: string) {
    this.#lexer = new Lexer(text)
    this.#token = this.#lexer.next()
  }

  parse(): Expr {
    const { kind, text } = this.#token
    if (NO_BEGINNING.has(kind)) {
      this.#advance()
      throw new Fault(this.#token.offset, `Unexpected initial '${text}'`)
    }
    const expr = this.#expression(TERNARY)
    const after = this.#token
    if (after.kind === 'end') {
      if (levelsOf(expr) > MAX_LEVELS) throw new Fault(after.offset, 'Expression nested too deeply')
      return expr
    }
    if (after.kind === '(' || after.kind === ')') {
      this.#advance()
      throw new Fault(this.#token.offset, `Unexpected '${after.text}'`)
    }
    throw this.#fault()
  }

  #advance(): Token {
    const token = this.#token
    this.#token = this.#lexer.next()
    return token
  }

  #fault(): Fault {
    return new Fault(this.#token.offset, this.#expected.at(-1))
  }

  #expect(kind: TokenKind): Token {
    if (this.#token.kind !== kind) throw this.#fault()
    return this.#advance()
  }

  /** Runs `parse` while `why` is what to say when it fails. */
  #saying<T>(why: string, parse: () => T): T {
    this.#expected.push(why)
    const result = parse()
    this.#expected.pop()
    return result
  }

  #expression(weakest: number): Expr {
    if (++this.#depth > MAX_DEPTH) throw new Fault(this.#token.offset, 'Expression nested too deeply')
    let left = this.#operand()
    for (;;) {
      const { kind } = this.#token
      const strength = STRENGTH[kind]
      if (strength === undefined || strength < weakest) break
      this.#advance()
      left = kind === '?' ? this.#ternary(left) : this.#binary(left, kind as BinaryOp, strength)
    }
    this.#depth--
    return left
  }

  #binary(left: Expr, op: BinaryOp, strength: number): Expr {
    const what = strength === BOOLEAN ? 'Boolean' : 'Arithmetic'
    return this.#saying(`${what} expression expected to follow ${TOKEN_NAMES[op]}`, () => {
      return { kind: 'binary', op, left, right: this.#expression(strength + 1) }
    })
  }

  #ternary(guard: Expr): Expr {
    const left = this.#saying('Arithmetic expression expected to follow QUEST', () => {
      const branch = this.#branch(TERNARY)
      if (this.#token.kind !== ':') throw this.#fault()
      return branch
    })
    this.#advance()
    return this.#saying('Arithmetic expression expected to follow COLON', () => {
      return { kind: 'ternary', guard, left, right: this.#branch(TERNARY + 1) }
    })
  }

  #branch(weakest: number): Expr {
    const { kind, text } = this.#token
    if (kind !== 'function' || text !== 'novalue') return this.#expression(weakest)
    this.#advance()
    const why = 'metadata keyword expected to follow novalue('
    return { kind: 'novalue', stated: this.#saying(why, () => this.#statedList()) }
  }

  #operand(): Expr {
    const { kind, text } = this.#token
    switch (kind) {
      case 'integer':
      case 'real':
        return this.#number()
      case 'name':
        return this.#metric()
      case 'function':
        return this.#function(text)
      case '-':
        this.#advance()
        return this.#saying('Arithmetic expression expected to follow NEG', () => {
          return { kind: 'negate', operand: this.#expression(SUM + 1) }
        })
      case '!':
        this.#advance()
        return this.#saying('Boolean expression expected to follow NOT', () => {
          return { kind: 'not', operand: this.#expression(NOT + 1) }
        })
      case '(':
        return this.#parenthesised()
      default:
        throw this.#fault()
    }
  }

  #number(): NumberExpr {
    const { kind, text } = this.#token
    if (kind !== 'integer' && kind !== 'real') throw this.#fault()
    this.#advance()
    return { kind: 'number', text, isReal: kind === 'real' }
  }

  #metric(): Expr {
    const { text } = this.#advance()
    if (NOT_AFTER_NAME.has(this.#token.kind)) {
      throw new Fault(
        this.#token.offset,
        'Arithmetic or relational or boolean operator expected to follow NAME',
      )
    }
    return this.#oneInstance({ kind: 'metric', name: text })
  }

  #oneInstance(operand: Expr): Expr {
    if (this.#token.kind !== 'instance') return operand
    return { kind: 'instance', instance: this.#advance().text, operand }
  }

  #parenthesised(): Expr {
    const isInitial = this.#token.offset >= 0 && this.#depth === 1 && this.#expected.length === 0
    this.#advance()
    const parse = (): Expr => {
      const inner = this.#expression(TERNARY)
      this.#expect(')')
      return inner
    }
    return this.#oneInstance(isInitial ? this.#saying("Unexpected initial '('", parse) : parse())
  }

  #function(name: string): Expr {
    if (name === 'novalue') throw this.#fault()
    this.#advance()
    switch (name) {
      case 'avg':
      case 'count':
      case 'max':
      case 'min':
      case 'sum':
        return this.#aggregate(name)
      case 'instant':
        return this.#unary(name, 'Metric name')
      case 'delta':
      case 'rate':
      case 'scalar':
        return this.#unary(name, '<expr>')
      case 'topk':
      case 'bottomk':
      case 'quantile':
        return this.#rank(name)
      case 'anon':
        return this.#anon()
      case 'defined':
        return { kind: 'defined', name: this.#nameAndClose() }
      case 'rescale':
        return this.#rescale()
      case 'matchinst':
        return this.#match()
      default:
        return this.#constant()
    }
  }

  #nameAndClose(): string {
    const { text } = this.#expect('name')
    this.#expect(')')
    return text
  }

  #aggregate(name: AggregateName): Expr {
    return this.#saying(`Metric name expected to follow ${name}(`, () => {
      return { kind: 'aggregate', name, operand: { kind: 'metric', name: this.#nameAndClose() } }
    })
  }

  #unary(name: UnaryName, what: string): Expr {
    return this.#saying(`${what} expected to follow ${name}(`, () => {
      const operand = this.#expression(TERNARY)
      this.#expect(')')
      return { kind: 'function', name, operand }
    })
  }

  #rank(name: RankName): Expr {
    const by = this.#saying(`<number>, <expr>) expected to follow ${name}(`, () => {
      const { offset } = this.#token
      const { text, isReal } = this.#number()
      if (name === 'quantile' ? Number(text) > 1 : isReal)
        throw new Fault(offset, `Illegal number for ${name}: '${text}'`)
      this.#expect(',')
      return Number(text)
    })
    return this.#saying(`<expr>) expected to follow ${name}(<number>,`, () => {
      const operand = this.#expression(TERNARY)
      this.#expect(')')
      return { kind: 'rank', name, by, operand }
    })
  }

  #anon(): Expr {
    return this.#saying('Metric name expected to follow anon(', () => {
      const { offset } = this.#token
      const name = this.#nameAndClose()
      const type = ANON_TYPES.indexOf(name)
      if (type < 0) throw new Fault(offset, `Illegal type name: '${name}'`)
      return { kind: 'anon', type }
    })
  }

  #rescale(): Expr {
    const why = 'Arithmetic or relational or boolean operator expected to follow rescale('
    const operand = this.#saying(why, () => {
      const inner = this.#expression(TERNARY)
      if (this.#token.kind !== ',') throw this.#fault()
      return inner
    })
    this.#advance()
    return this.#saying('Units string expected to follow rescale(<expr>,', () => {
      const { text } = this.#expect('string')
      const { kind, offset } = this.#token
      if (kind !== ')') throw this.#fault()
      const units = unitsOf(text, offset)
      this.#advance()
      return { kind: 'rescale', units, operand }
    })
  }

  #match(): Expr {
    const isNegated = this.#token.kind === '!'
    if (isNegated) this.#advance()
    const pattern = this.#saying('<filter>, <expr>) expected to follow matchinst(', () => {
      if (this.#token.kind !== 'pattern') throw this.#fault()
      return this.#regexp()
    })
    this.#saying(', <expr>) expected to follow matchinst(<filter>', () => this.#expect(','))
    return this.#saying('<expr>) expected to follow matchinst(<filter>,', () => {
      const operand = this.#expression(TERNARY)
      if (this.#token.kind !== ')') throw this.#fault()
      this.#lexer.inMatch = false
      this.#advance()
      return { kind: 'match', pattern, isNegated, operand }
    })
  }

  #regexp(): Pattern {
    const { text, offset } = this.#token
    let pattern: Pattern
    try {
      pattern = compilePattern(text)
    } catch (error) {
      throw new Fault(offset, `bad regular expression: '${(error as Error).message}'`)
    }
    this.#advance()
    return pattern
  }

  #constant(): Expr {
    const value = this.#number()
    const stated = this.#saying('metadata keyword expected to follow mkconst(type', () => {
      this.#expect(',')
      return this.#statedPairs({})
    })
    const { offset } = this.#token
    const { type } = stated
    if (value.isReal && type !== undefined && type !== PM_TYPE_FLOAT && type !== PM_TYPE_DOUBLE) {
      throw new Fault(offset, `Incompatible floating point constant and type '${typeStr(type)}'`)
    }
    this.#advance()
    return { kind: 'const', value, stated }
  }

  #statedList(): StatedMeta {
    const stated = this.#token.kind === ')' ? {} : this.#statedPairs({})
    this.#advance()
    return stated
  }

  /** `key=value` pairs by comma, up to a closing parenthesis that is left where it is. */
  #statedPairs(before: StatedMeta): StatedMeta {
    let stated = before
    for (;;) {
      const key = this.#expect('key').text
      this.#expect('=')
      const value = this.#token
      if (key === 'meta' ? value.kind !== 'name' : !VALUE_KINDS.has(value.kind)) throw this.#fault()
      stated = withStated(stated, key, value)
      this.#advance()
      if (this.#token.kind === ')') return stated
      this.#expect(',')
    }
  }
}
