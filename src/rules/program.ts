/** Reads rule files statement by statement: macros, names and intervals. docs/reference/pmie.md */
import { UTC } from '../time/zone.ts'
import { build, SemanticError } from './build.ts'
import { Lexer, type MacroValue } from './lexer.ts'
import { Parser } from './parse.ts'

import { type Expr, type FetchExpr, isArith, isLogic, type SourcePosition, type Statement } from './syntax.ts'
import { RuleError } from './token-stream.ts'

/** Text of a rule file, and its name for messages. */
export interface RuleFile {
  /** Undefined for standard input. */
  readonly name: string | undefined
  readonly text: string
}

/** A statement with its name and file. */
export interface NamedStatement extends Statement {
  readonly name: string
  readonly fetches: readonly FetchExpr[]
}

/** Callbacks of the reader. */
export interface ProgramListener {
  /** Adds a statement to evaluate every `deltaSec`; throws SemanticError for an invalid one. False: it is left out. */
  readonly onStatement: (statement: NamedStatement, deltaSec: number) => Promise<boolean>
  /** Reports an error in PCP's words; `detail` shows the position. */
  readonly onProblem: (text: string, detail: string, place: SourcePosition) => void
}

/** Program that reads pmie's values: an agent reads PDUs of named expressions, the other one lines. Named rules are not allowed. */
export type ValueReader = 'agent' | 'lines'

/** State that carries over from one file to the next. */
export interface ReadState {
  readonly macros: Map<string, MacroValue>
  readonly names: Set<string>
  deltaSec: number
  /** Number of unnamed expressions so far. */
  unnamed: number
  /** Number of errors. */
  errors: number
  /** Program that reads the values, if any. */
  readonly feeds: ValueReader | undefined
}

/** Returns the state before the first file. */
export function newReadState(deltaSec: number, feeds?: ValueReader): ReadState {
  return { macros: new Map(), names: new Set(), deltaSec, unnamed: 0, errors: 0, feeds }
}

/** Reads a file's statements in order. Reports errors and continues after them. */
export async function readRules(file: RuleFile, state: ReadState, listener: ProgramListener): Promise<void> {
  const { onProblem } = listener
  const lexer: Lexer = new Lexer(file.text, state.macros, (problem) => {
    state.errors++
    onProblem(problem, '', lexer.place)
  })
  const parser = new Parser(lexer)
  for (;;) {
    try {
      const statement = parser.next()
      if (statement === undefined) return
      try {
        await take(statement, state, listener)
      } catch (error) {
        if (!(error instanceof SemanticError)) throw error
        const { line } = parser.error('')
        throw new RuleError(error.message, statement.place, error.line ?? line)
      }
      parser.endStatement()
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      state.errors++
      onProblem(problemText(error, file), pointer(lexer.lineText(error.place.line), error.place), error.place)
      parser.recover()
    }
  }
}

/** Formats an error: position, then the reason on a separate line. */
function problemText({ message, line, reason }: RuleError, { name }: RuleFile): string {
  const where = line === undefined ? '' : name === undefined ? ' of standard input' : ` of file ${name}`
  return `pmie: ${message}${where}${reason === '' ? '' : `\n${reason}`}`
}

/** Returns the source line with a caret below the position. */
function pointer(text: string, { line, column }: SourcePosition): string {
  const before = text.slice(0, column - 1).replace(/[^\t]/g, ' ')
  return `line ${line}, column ${column}:\n${text}\n${before}^`
}

async function take(statement: Statement, state: ReadState, listener: ProgramListener): Promise<void> {
  const { name, expr } = statement
  if (name !== undefined && defineMacro(name, statement, state)) return
  if (expr.kind === 'string') {
    state.unnamed++
    return
  }
  if (name !== undefined && state.names.has(name)) throw new SemanticError(`rule "${name}" multiply defined`)
  const action = firstAction(expr)
  if (state.feeds !== undefined && name !== undefined && action !== undefined)
    throw new SemanticError(`operator ${action} not allowed in agent mode`)
  if (state.feeds === 'agent' && name === undefined)
    throw new SemanticError('expressions must be named in agent mode')
  const given = name ?? `expr_${++state.unnamed}`
  state.names.add(given)
  const counts = await listener.onStatement(
    { ...statement, name: given, fetches: fetchesOf(expr) },
    state.deltaSec,
  )
  if (counts) return
  state.names.delete(given)
  // Rules use up a number even if they are left out.
  if (name === undefined && expr.kind !== 'rule' && expr.kind !== 'ruleset') state.unnamed--
}

/** Returns the operator or action that makes a statement more than an expression. */
function firstAction(expr: Expr): string | undefined {
  if (expr.kind === 'rule') return '->'
  if (expr.kind === 'both') return '&'
  if (expr.kind === 'either') return '|'
  return expr.kind === 'action' ? expr.name : undefined
}

/** Defines a macro from a named constant; `delta` sets the interval of the following statements. */
function defineMacro(name: string, { expr }: Statement, state: ReadState): boolean {
  const value = constantOf(expr)
  if (value === undefined) return false
  if (name !== 'delta') state.macros.set(name, value)
  else if (typeof value === 'number' && value > 0) {
    // Times have nanoseconds: a shorter interval would never end.
    if (value < LEAST_DELTA_SEC) throw new SemanticError('delta must be at least a nanosecond')
    state.deltaSec = value
  } else throw new SemanticError('delta must be greater than zero')
  return true
}

const NO_CLOCK = { sec: 0 }
const LEAST_DELTA_SEC = 1e-9

function constantOf(expr: Statement['expr']): MacroValue | undefined {
  if (expr.kind === 'string') return expr.text
  if ((!isArith(expr) && !isLogic(expr)) || fetchesOf(expr).length > 0) return undefined
  const context = { feedsOf: () => [], clock: NO_CLOCK, zone: UTC, wraps: false, deltaSec: 0 }
  const node = build(expr, context)
  if (!node.isConstant) return undefined
  return node.kind === 'truth' ? node.values[0] === 1 : node.values[0]
}

/** Returns all fetches in an expression, in order, after those `found` before. */
export function fetchesOf(expr: unknown, found: FetchExpr[] = []): FetchExpr[] {
  if (typeof expr !== 'object' || expr === null) return found
  if ((expr as { kind?: unknown }).kind === 'fetch') found.push(expr as FetchExpr)
  else for (const part of Object.values(expr)) fetchesOf(part, found)
  return found
}
