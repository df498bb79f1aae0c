/**
 * Parser of rule files. Precedence, lowest first: `->`; `&& || & |`; `! rising falling`; quantifiers; match_inst; relations;
 * `+ -`; `* /`; unary minus, rate, instant; aggregates; `: # @`. docs/reference/pmie.md
 */
import type { Lexer } from './lexer.ts'
import {
  type ActionExpr,
  type ActionName,
  type AggregateOp,
  type ArithExpr,
  type ArithmeticOp,
  type Dimension,
  type Expr,
  isAction,
  isArith,
  isLogic,
  type LogicExpr,
  type Quantity,
  type RelationOp,
  type RuleExpr,
  type RulesetExpr,
  type SourcePosition,
  type Statement,
} from './syntax.ts'
import { parseAction, parseFetch, parseUnits } from './terms.ts'
import { RuleError, TokenStream } from './token-stream.ts'

const ARITHMETIC = 'arithmetic expression'
const LOGICAL = 'logical expression'
const EITHER = 'arithmetic or string expression'
const ACTION = 'action'
/** Expected kind of an operand. */
type Kind = typeof ARITHMETIC | typeof LOGICAL | typeof EITHER | typeof ACTION

/** Precedence of binary operators. */
const PRECEDENCE: Readonly<Record<string, number>> = {
  '->': 1,
  '&&': 2,
  '||': 2,
  '&': 2,
  '|': 2,
  '==': 6,
  '!=': 6,
  '<': 6,
  '<=': 6,
  '>': 6,
  '>=': 6,
  '+': 7,
  '-': 7,
  '*': 8,
  '/': 8,
}
const LOGIC_LEVEL = 3
const QUANTIFIER_LEVEL = 4
const MATCH_LEVEL = 5
const RELATION_LEVEL = 6
const UNARY_LEVEL = 9
const AGGREGATE_LEVEL = 10

const EQUALITY: ReadonlySet<string> = new Set(['==', '!='])
const ACTIONS: ReadonlySet<string> = new Set(['shell', 'alarm', 'syslog', 'print', 'stomp', 'webhook'])
/** Words that begin a numeric operand. */
const ARITHMETIC_WORD = /^(rate|instant|(min|max|sum|avg|count)_)/
/** Words that cannot begin an operand. */
const NO_OPERANDS: ReadonlySet<string> = new Set(['ruleset', 'else', 'unknown', 'otherwise'])
/** Limit of nested parentheses, prefixes and operators: `a + b + c` is `(a + b) + c`. */
const MAX_NESTING = 500

/** Parses the statements of a file one by one. */
export class Parser {
  readonly #tokens: TokenStream
  #nesting = 0
  /** Levels of operators of the expression parsed last. */
  #height = 0

  constructor(lexer: Lexer) {
    this.#tokens = new TokenStream(lexer)
  }

  /** Returns the next statement; undefined at the end. Throws RuleError; parsing can then continue after the next semicolon. */
  next(): Statement | undefined {
    this.#nesting = 0
    this.#height = 0
    while (this.#tokens.isOp(';')) this.#tokens.advance()
    if (this.#tokens.token.type === 'end') return undefined
    const { place } = this.#tokens.token
    const name = this.#statementName()
    const expr = name.expr ?? this.#expr(0)
    if (!this.#tokens.isOp(';') && !this.#tokens.isEnd()) throw this.#tokens.error('')
    return { name: name.name, expr, place }
  }

  /** Skips the semicolon after a statement. Called once a macro the statement defines is known. */
  endStatement(): void {
    if (this.#tokens.isOp(';')) this.#tokens.advance()
  }

  /** Creates an error at the current position. */
  error(reason: string): RuleError {
    return this.#tokens.error(reason)
  }

  /** Skips the rest of an invalid statement. */
  recover(): void {
    while (!this.#tokens.isOp(';') && this.#tokens.token.type !== 'end') this.#tokens.advance()
    this.endStatement()
  }

  /** Parses a name before `=`, or an expression that begins with a name. */
  #statementName(): { name: string | undefined; expr: Expr | undefined } {
    if (this.#tokens.token.type !== 'ident') return { name: undefined, expr: undefined }
    const { text } = this.#tokens.token
    this.#tokens.advance()
    if (this.#tokens.takeOp('=')) return { name: text, expr: undefined }
    return { name: undefined, expr: this.#continue(parseFetch(this.#tokens, text), 0) }
  }

  #expr(least: number): Expr {
    if (++this.#nesting > MAX_NESTING) throw this.#tooDeep()
    this.#height = 0
    const expr = this.#continue(this.#prefix(), least)
    this.#nesting--
    this.#height++
    return expr
  }

  /** Parses binary operators after an operand, down to a minimum precedence. */
  #continue(first: Expr, least: number): Expr {
    let left = first
    for (;;) {
      const { type } = this.#tokens.token
      if (type !== 'op') return left
      const op = this.#tokens.token.text
      const precedence = PRECEDENCE[op]
      if (precedence === undefined || precedence < least) return left
      // Comparisons do not chain: a comparison ends the argument of a quantifier or count.
      if (precedence >= RELATION_LEVEL && isLogic(left)) {
        if (least > 0) return left
        throw this.#precede(op === '==' || op === '!=' ? EITHER : ARITHMETIC, op)
      }
      const height = this.#height
      left = this.#ended(this.#binary(left, op, precedence))
      this.#height = Math.max(height, this.#height) + 1
      if (this.#height > MAX_NESTING) throw this.#tooDeep()
    }
  }

  #tooDeep(): RuleError {
    return this.#tokens.error('expression is nested too deeply')
  }

  /** Sets the expression's line, unless the statement ends here. */
  #ended(expr: Expr): Expr {
    // After a string, PCP's parser does not read the next token.
    const isKnown = expr.kind === 'relation' && expr.right.kind === 'string'
    const isLast = this.#tokens.isOp(';') || this.#tokens.isEnd()
    return isLast && !isKnown ? expr : { ...expr, line: this.#tokens.line }
  }

  #precede(what: string, op: string): RuleError {
    return this.#tokens.error(`${what} expected to precede ${op}`)
  }

  #follow(what: string, op: string): RuleError {
    return this.#tokens.error(`${what} expected to follow ${op}`)
  }

  #binary(left: Expr, op: string, precedence: number): Expr {
    const { place } = this.#tokens.token
    const precede = (what: string): RuleError => {
      this.#tokens.advance()
      return this.#tokens.error(`${what} expected to precede ${op}`, place)
    }
    if (op === '->') {
      if (!isLogic(left)) throw precede(LOGICAL)
      this.#tokens.advance()
      return { kind: 'rule', condition: left, action: this.#action(op) }
    }
    if (op === '&' || op === '|') {
      if (!isAction(left)) throw precede(ACTION)
      this.#tokens.advance()
      const right = this.#action(op, precedence + 1)
      return { kind: op === '&' ? 'both' : 'either', left, right }
    }
    if (op === '&&' || op === '||') {
      if (!isLogic(left)) throw precede(LOGICAL)
      this.#tokens.advance()
      const right = this.#logic(op, precedence + 1)
      return { kind: op === '&&' ? 'and' : 'or', left, right }
    }
    if (EQUALITY.has(op)) {
      if (!isArith(left) && left.kind !== 'string') throw precede(EITHER)
      this.#tokens.advance()
      const right = this.#operand(EITHER, op, precedence + 1)
      if (!isArith(right) && right.kind !== 'string') throw this.#follow(EITHER, op)
      return { kind: 'relation', op: op as RelationOp, left, right }
    }
    if (!isArith(left)) throw precede(ARITHMETIC)
    this.#tokens.advance()
    const right = this.#arith(op, precedence + 1)
    return precedence === RELATION_LEVEL
      ? { kind: 'relation', op: op as RelationOp, left, right }
      : { kind: 'arithmetic', op: op as ArithmeticOp, left, right }
  }

  /** Parses an operator's operand; if none can begin here, throws with the expected kind. */
  #operand(what: Kind, op: string, least: number): Expr {
    if (!this.#canBegin(what)) throw this.#follow(what, op)
    return this.#expr(least)
  }

  /** Creates the error for an operand of the wrong kind, which PCP's parser detects one token later. */
  #misfit(what: Kind, op: string, place: SourcePosition): RuleError {
    return this.#tokens.error(`${what} expected to follow ${op}`, place, true)
  }

  #arith(op: string, least: number): ArithExpr {
    const { place } = this.#tokens.token
    const isEnclosed = this.#tokens.isOp('(')
    const expr = this.#operand(ARITHMETIC, op, least)
    if (!isArith(expr) && isEnclosed) throw new RuleError('', place, this.#tokens.line)
    if (!isArith(expr)) throw this.#misfit(ARITHMETIC, op, place)
    return expr
  }

  #logic(op: string, least: number): LogicExpr {
    const { place } = this.#tokens.token
    const expr = this.#operand(LOGICAL, op, least)
    if (!isLogic(expr)) throw this.#misfit(LOGICAL, op, place)
    return expr
  }

  #action(op: string, least = 2): ActionExpr {
    const { place } = this.#tokens.token
    const expr = this.#operand(ACTION, op, least)
    if (!isAction(expr)) throw this.#tokens.error(`${ACTION} expected to follow ${op}`, place)
    return expr
  }

  #canBegin(what: Kind): boolean {
    const { token } = this.#tokens
    switch (token.type) {
      case 'ident':
      case 'number':
      case 'clock':
        return what !== ACTION
      case 'string':
        return what === EITHER || what === LOGICAL
      case 'bool':
        return what === LOGICAL
      case 'op':
        return (
          token.text === '(' ||
          (token.text === '-' && what !== ACTION) ||
          (token.text === '!' && what === LOGICAL)
        )
      case 'word':
        if (ACTIONS.has(token.text)) return what === ACTION
        if (NO_OPERANDS.has(token.text) || what === ACTION) return false
        return what === LOGICAL || ARITHMETIC_WORD.test(token.text)
      default:
        return false
    }
  }

  #prefix(): Expr {
    const token = this.#tokens.token
    switch (token.type) {
      case 'ident':
        this.#tokens.advance()
        return parseFetch(this.#tokens, token.text)
      case 'number':
        return this.#number(token.value)
      case 'string':
        this.#tokens.advance()
        return { kind: 'string', text: token.text }
      case 'bool':
        this.#tokens.advance()
        return { kind: 'bool', value: token.value }
      case 'clock':
        this.#tokens.advance()
        return { kind: 'clock', name: token.name }
      case 'op':
        return this.#prefixOp(token.text)
      case 'word':
        this.#tokens.advance()
        return this.#ended(this.#word(token.text))
      default:
        throw this.#tokens.error('')
    }
  }

  #prefixOp(op: string): Expr {
    if (op === '-') {
      this.#tokens.advance()
      // The lexer includes a minus in a number, and takes `->` as an arrow.
      const arg = this.#arith(op, UNARY_LEVEL)
      return arg.kind === 'number' ? { ...arg, value: -arg.value } : { kind: 'negate', arg }
    }
    if (op === '!') {
      this.#tokens.advance()
      return { kind: 'not', arg: this.#logic(op, LOGIC_LEVEL) }
    }
    if (op === '(') {
      this.#tokens.advance()
      const inner = this.#expr(0)
      if (!this.#tokens.takeOp(')')) throw this.#tokens.error('')
      return inner
    }
    if (op === '->') throw this.#precede(LOGICAL, op)
    throw this.#tokens.error('')
  }

  #word(word: string): Expr {
    if (ACTIONS.has(word)) return parseAction(this.#tokens, word as ActionName)
    if (word === 'ruleset') return this.#ruleset()
    if (word === 'rate' || word === 'instant') return { kind: word, arg: this.#arith(word, UNARY_LEVEL) }
    if (word === 'rising' || word === 'falling') return { kind: word, arg: this.#logic(word, LOGIC_LEVEL) }
    if (word === 'match_inst' || word === 'nomatch_inst') return this.#match(word)
    const [op, dimension] = word.split('_') as [AggregateOp | 'all' | 'some', Dimension | undefined]
    if (dimension === undefined) throw this.#tokens.error('')
    if (op === 'all' || op === 'some') return this.#quantifier(op, dimension, 'quantifier')
    if (op === 'count') return { kind: 'count', dimension, arg: this.#countArg() }
    return { kind: 'aggregate', op, dimension, arg: this.#arith('aggregation operator', AGGREGATE_LEVEL) }
  }

  /** Parses one comparison, or parentheses. */
  #countArg(): LogicExpr {
    return this.#logic('aggregation operator', RELATION_LEVEL)
  }

  #quantifier(quantity: Quantity, dimension: Dimension, name: string): LogicExpr {
    return { kind: 'quantifier', quantity, dimension, arg: this.#logic(name, QUANTIFIER_LEVEL) }
  }

  #match(word: string): LogicExpr {
    if (this.#tokens.token.type !== 'string')
      throw this.#tokens.error(`regular expression expected to follow ${word}`)
    const pattern = this.#tokens.token.text
    this.#tokens.advance()
    return {
      kind: 'match',
      isNegated: word === 'nomatch_inst',
      pattern,
      arg: this.#logic('regular expression', MATCH_LEVEL),
    }
  }

  /** Parses a number, which may have units or begin a percentage quantifier. */
  #number(value: number): Expr {
    this.#tokens.advance()
    if (this.#tokens.token.type === 'op' && this.#tokens.token.text.startsWith('%')) {
      const dimension = this.#tokens.token.text.slice(2) as Dimension
      this.#tokens.advance()
      return this.#quantifier(value / 100, dimension, 'quantifier')
    }
    return { kind: 'number', value: value * parseUnits(this.#tokens) }
  }

  #ruleset(): RulesetExpr {
    const rules: RuleExpr[] = [this.#rule()]
    while (this.#tokens.isWord('else')) {
      this.#tokens.advance()
      rules.push(this.#rule())
    }
    const unknown = this.#fallback('unknown')
    const otherwise = this.#fallback('otherwise')
    return { kind: 'ruleset', rules, unknown, otherwise }
  }

  #rule(): RuleExpr {
    const expr = this.#expr(0)
    if (expr.kind !== 'rule') throw this.#tokens.error('')
    return expr
  }

  #fallback(word: 'unknown' | 'otherwise'): ActionExpr | undefined {
    if (!this.#tokens.isWord(word)) return undefined
    this.#tokens.advance()
    if (!this.#tokens.takeOp('->')) throw this.#tokens.error('')
    return this.#action('->')
  }
}
