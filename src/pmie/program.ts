/** A rule file as tasks: statements that are evaluated together, each task at its own interval. docs/pmie.md */
import { UTC } from '../time/zone.ts'
import { build, MeaningError } from './build.ts'
import { Lexer, type MacroValue } from './lexer.ts'
import { Parser } from './parse.ts'

import { type Expr, type FetchExpr, isArith, isLogic, type Place, type Statement } from './syntax.ts'
import { RuleError } from './token-stream.ts'

/** A rule file's text, and its name in messages. */
export interface RuleFile {
  /** Undefined for standard input. */
  readonly name: string | undefined
  readonly text: string
}

/** A statement with its name, and where it is from. */
export interface NamedStatement extends Statement {
  readonly name: string
  readonly fetches: readonly FetchExpr[]
}

/** What happens with what is read. */
export interface ProgramListener {
  /** A statement to evaluate every `deltaSec`; throws MeaningError for one that means nothing. False: it is left out. */
  readonly onStatement: (statement: NamedStatement, deltaSec: number) => Promise<boolean>
  /** What is wrong, as PCP says it; `detail` shows the place. */
  readonly onProblem: (text: string, detail: string) => void
}

/** A program that reads values: an agent takes PDUs of named expressions, another one lines. Neither takes named rules. */
export type Reader = 'agent' | 'lines'

/** What holds from one file to the next. */
export interface ReadState {
  readonly macros: Map<string, MacroValue>
  readonly names: Set<string>
  deltaSec: number
  /** Expressions without a name so far. */
  unnamed: number
  /** Has anything been wrong? */
  errors: number
  /** The program that reads values. */
  readonly feeds: Reader | undefined
}

/** Before the first file. */
export function newReadState(deltaSec: number, feeds?: Reader): ReadState {
  return { macros: new Map(), names: new Set(), deltaSec, unnamed: 0, errors: 0, feeds }
}

/** Reads a file's statements in order. Mistakes are told, and what follows them is read on. */
export async function readRules(file: RuleFile, state: ReadState, listener: ProgramListener): Promise<void> {
  const { onProblem } = listener
  const lexer = new Lexer(file.text, state.macros, (problem) => {
    state.errors++
    onProblem(problem, '')
  })
  const parser = new Parser(lexer)
  for (;;) {
    try {
      const statement = parser.next()
      if (statement === undefined) return
      try {
        await take(statement, state, listener)
      } catch (error) {
        if (!(error instanceof MeaningError)) throw error
        const { line } = parser.error('')
        throw new RuleError(error.message, statement.place, error.line ?? line)
      }
      parser.endStatement()
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      state.errors++
      onProblem(problemText(error, file), pointer(lexer.lineText(error.place.line), error.place))
      parser.recover()
    }
  }
}

/** The place and, on a line of its own, the reason. */
function problemText({ message, line, reason }: RuleError, { name }: RuleFile): string {
  const where = line === undefined ? '' : name === undefined ? ' of standard input' : ` of file ${name}`
  return `pmie: ${message}${where}${reason === '' ? '' : `\n${reason}`}`
}

/** The line that is wrong, and a caret below the place. */
function pointer(text: string, { line, column }: Place): string {
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
  if (name !== undefined && state.names.has(name)) throw new MeaningError(`rule "${name}" multiply defined`)
  const action = firstAction(expr)
  if (state.feeds !== undefined && name !== undefined && action !== undefined)
    throw new MeaningError(`operator ${action} not allowed in agent mode`)
  if (state.feeds === 'agent' && name === undefined)
    throw new MeaningError('expressions must be named in agent mode')
  const given = name ?? `expr_${++state.unnamed}`
  state.names.add(given)
  const counts = await listener.onStatement(
    { ...statement, name: given, fetches: fetchesOf(expr) },
    state.deltaSec,
  )
  if (counts) return
  state.names.delete(given)
  // Rules take a number also when they are left out.
  if (name === undefined && expr.kind !== 'rule' && expr.kind !== 'ruleset') state.unnamed--
}

/** What makes a statement more than a value, as it is written. */
function firstAction(expr: Expr): string | undefined {
  if (expr.kind === 'rule') return '->'
  if (expr.kind === 'both') return '&'
  if (expr.kind === 'either') return '|'
  return expr.kind === 'action' ? expr.name : undefined
}

/** A name for a constant is a macro, and `delta` the interval of what follows. */
function defineMacro(name: string, { expr }: Statement, state: ReadState): boolean {
  const value = constantOf(expr)
  if (value === undefined) return false
  if (name !== 'delta') state.macros.set(name, value)
  else if (typeof value === 'number' && value > 0) state.deltaSec = value
  else throw new MeaningError('delta must be a time that is longer than nothing')
  return true
}

const NO_CLOCK = { sec: 0 }

function constantOf(expr: Statement['expr']): MacroValue | undefined {
  if (expr.kind === 'string') return expr.text
  if ((!isArith(expr) && !isLogic(expr)) || fetchesOf(expr).length > 0) return undefined
  const context = { feedsOf: () => [], clock: NO_CLOCK, zone: UTC, wraps: false, deltaSec: 0 }
  const node = build(expr, context)
  if (!node.isConstant) return undefined
  return node.kind === 'truth' ? node.values[0] === 1 : node.values[0]
}

/** All fetches of an expression, in order. */
export function fetchesOf(expr: unknown): FetchExpr[] {
  if (typeof expr !== 'object' || expr === null) return []
  if ((expr as { kind?: unknown }).kind === 'fetch') return [expr as FetchExpr]
  return Object.values(expr).flatMap(fetchesOf)
}
