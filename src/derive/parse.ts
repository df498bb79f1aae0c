/** Parses expressions. docs/reference/derived-metrics.md, pmRegisterDerived(3) */
import { compilePattern, type Pattern } from '../base/pattern.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_FLOAT, typeStr } from '../model/types.ts'
import type {
  AggregateName,
  BinaryOp,
  ExplicitMeta,
  Expr,
  NumberExpr,
  RankName,
  SyntaxFault,
  UnaryName,
} from './expr.ts'
import {
  ANON_TYPES,
  BOOLEAN,
  INVALID_AT_START,
  NOT,
  NOT_AFTER_NAME,
  PRECEDENCE,
  SUM,
  TERNARY,
  TOKEN_NAMES,
  VALUE_KINDS,
} from './grammar.ts'
import { unitsOf, withProperty } from './properties.ts'
import { Lexer, SyntaxFaultError, type Token, type TokenKind } from './tokens.ts'

/** Deepest nesting of the text. */
const MAX_DEPTH = 1000
/** Deepest tree, to which sequences of operators contribute: binding and evaluating recurse at each level. */
const MAX_LEVELS = 2000

/** Returns whether parsing failed. */
export function isFault(parsed: Expr | SyntaxFault): parsed is SyntaxFault {
  return !('kind' in parsed)
}

/** Parses an expression; returns the tree or the fault. Never throws. @see pmRegisterDerived(3) */
export function parseExpr(text: string): Expr | SyntaxFault {
  try {
    return new Parser(text).parse()
  } catch (error) {
    if (!(error instanceof SyntaxFaultError)) throw error
    const { offset, why } = error
    return { offset, why }
  }
}

/** Returns the depth of a tree, without recursion. */
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
 * Precedence climbing. `#expected` is a stack of messages for errors, outermost first: a completed construct removes its message,
 * so the innermost incomplete construct is reported, as by the reference's parser.
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
    if (INVALID_AT_START.has(kind)) {
      this.#advance()
      throw new SyntaxFaultError(this.#token.offset, `Unexpected initial '${text}'`)
    }
    const expr = this.#expression(TERNARY)
    const after = this.#token
    if (after.kind === 'end') {
      if (levelsOf(expr) > MAX_LEVELS)
        throw new SyntaxFaultError(after.offset, 'Expression nested too deeply')
      return expr
    }
    if (after.kind === '(' || after.kind === ')') {
      this.#advance()
      throw new SyntaxFaultError(this.#token.offset, `Unexpected '${after.text}'`)
    }
    throw this.#fault()
  }

  #advance(): Token {
    const token = this.#token
    this.#token = this.#lexer.next()
    return token
  }

  #fault(): SyntaxFaultError {
    return new SyntaxFaultError(this.#token.offset, this.#expected.at(-1))
  }

  #expect(kind: TokenKind): Token {
    if (this.#token.kind !== kind) throw this.#fault()
    return this.#advance()
  }

  /** Runs `parse`; if it fails, `why` is the message. */
  #expecting<T>(why: string, parse: () => T): T {
    this.#expected.push(why)
    const result = parse()
    this.#expected.pop()
    return result
  }

  #expression(weakest: number): Expr {
    if (++this.#depth > MAX_DEPTH)
      throw new SyntaxFaultError(this.#token.offset, 'Expression nested too deeply')
    let left = this.#operand()
    for (;;) {
      const { kind } = this.#token
      const strength = PRECEDENCE[kind]
      if (strength === undefined || strength < weakest) break
      this.#advance()
      left = kind === '?' ? this.#ternary(left) : this.#binary(left, kind as BinaryOp, strength)
    }
    this.#depth--
    return left
  }

  #binary(left: Expr, op: BinaryOp, strength: number): Expr {
    const what = strength === BOOLEAN ? 'Boolean' : 'Arithmetic'
    return this.#expecting(`${what} expression expected to follow ${TOKEN_NAMES[op]}`, () => {
      return { kind: 'binary', op, left, right: this.#expression(strength + 1) }
    })
  }

  #ternary(guard: Expr): Expr {
    const left = this.#expecting('Arithmetic expression expected to follow QUEST', () => {
      const branch = this.#branch(TERNARY)
      if (this.#token.kind !== ':') throw this.#fault()
      return branch
    })
    this.#advance()
    return this.#expecting('Arithmetic expression expected to follow COLON', () => {
      return { kind: 'ternary', guard, left, right: this.#branch(TERNARY + 1) }
    })
  }

  #branch(weakest: number): Expr {
    const { kind, text } = this.#token
    if (kind !== 'function' || text !== 'novalue') return this.#expression(weakest)
    this.#advance()
    const why = 'metadata keyword expected to follow novalue('
    return { kind: 'novalue', stated: this.#expecting(why, () => this.#statedList()) }
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
        return this.#expecting('Arithmetic expression expected to follow NEG', () => {
          return { kind: 'negate', operand: this.#expression(SUM + 1) }
        })
      case '!':
        this.#advance()
        return this.#expecting('Boolean expression expected to follow NOT', () => {
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
      throw new SyntaxFaultError(
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
    return this.#oneInstance(isInitial ? this.#expecting("Unexpected initial '('", parse) : parse())
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
    return this.#expecting(`Metric name expected to follow ${name}(`, () => {
      return { kind: 'aggregate', name, operand: { kind: 'metric', name: this.#nameAndClose() } }
    })
  }

  #unary(name: UnaryName, what: string): Expr {
    return this.#expecting(`${what} expected to follow ${name}(`, () => {
      const operand = this.#expression(TERNARY)
      this.#expect(')')
      return { kind: 'function', name, operand }
    })
  }

  #rank(name: RankName): Expr {
    const by = this.#expecting(`<number>, <expr>) expected to follow ${name}(`, () => {
      const { offset } = this.#token
      const { text, isReal } = this.#number()
      if (name === 'quantile' ? Number(text) > 1 : isReal)
        throw new SyntaxFaultError(offset, `Illegal number for ${name}: '${text}'`)
      this.#expect(',')
      return Number(text)
    })
    return this.#expecting(`<expr>) expected to follow ${name}(<number>,`, () => {
      const operand = this.#expression(TERNARY)
      this.#expect(')')
      return { kind: 'rank', name, by, operand }
    })
  }

  #anon(): Expr {
    return this.#expecting('Metric name expected to follow anon(', () => {
      const { offset } = this.#token
      const name = this.#nameAndClose()
      const type = ANON_TYPES.indexOf(name)
      if (type < 0) throw new SyntaxFaultError(offset, `Illegal type name: '${name}'`)
      return { kind: 'anon', type }
    })
  }

  #rescale(): Expr {
    const why = 'Arithmetic or relational or boolean operator expected to follow rescale('
    const operand = this.#expecting(why, () => {
      const inner = this.#expression(TERNARY)
      if (this.#token.kind !== ',') throw this.#fault()
      return inner
    })
    this.#advance()
    return this.#expecting('Units string expected to follow rescale(<expr>,', () => {
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
    const pattern = this.#expecting('<filter>, <expr>) expected to follow matchinst(', () => {
      if (this.#token.kind !== 'pattern') throw this.#fault()
      return this.#regexp()
    })
    this.#expecting(', <expr>) expected to follow matchinst(<filter>', () => this.#expect(','))
    return this.#expecting('<expr>) expected to follow matchinst(<filter>,', () => {
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
      throw new SyntaxFaultError(offset, `bad regular expression: '${(error as Error).message}'`)
    }
    this.#advance()
    return pattern
  }

  #constant(): Expr {
    const value = this.#number()
    const stated = this.#expecting('metadata keyword expected to follow mkconst(type', () => {
      this.#expect(',')
      return this.#statedPairs({})
    })
    const { offset } = this.#token
    const { type } = stated
    if (value.isReal && type !== undefined && type !== PM_TYPE_FLOAT && type !== PM_TYPE_DOUBLE) {
      throw new SyntaxFaultError(offset, `Incompatible floating point constant and type '${typeStr(type)}'`)
    }
    this.#advance()
    return { kind: 'const', value, stated }
  }

  #statedList(): ExplicitMeta {
    const stated = this.#token.kind === ')' ? {} : this.#statedPairs({})
    this.#advance()
    return stated
  }

  /** Parses comma-separated `key=value` pairs up to a closing parenthesis, which is not consumed. */
  #statedPairs(before: ExplicitMeta): ExplicitMeta {
    let stated = before
    for (;;) {
      const key = this.#expect('key').text
      this.#expect('=')
      const value = this.#token
      if (key === 'meta' ? value.kind !== 'name' : !VALUE_KINDS.has(value.kind)) throw this.#fault()
      stated = withProperty(stated, key, value)
      this.#advance()
      if (this.#token.kind === ')') return stated
      this.#expect(',')
    }
  }
}
