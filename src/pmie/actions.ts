/** What happens when a rule is true. docs/pmie.md */
import { type Binding, type MessagePiece, messageFormat } from './bindings.ts'
import type { ActionExpr, ActionName } from './syntax.ts'

/** One action that is due. */
export interface Firing {
  readonly action: ActionName
  /** Name of the statement, and where it is. */
  readonly rule: string
  readonly file: string
  readonly line: number
  /** Seconds since the epoch of the evaluation. */
  readonly sec: number
  readonly args: readonly string[]
  /** The arguments with what they stand for. */
  readonly message: string
  /** The message in pieces. */
  readonly pieces: readonly MessagePiece[]
  readonly bindings: readonly Binding[]
}

/** Takes an action; says whether it worked. A promise only where there is something to wait for. */
export type Perform = (firing: Firing) => boolean | Promise<boolean>

/** What a rule's actions need to know. */
export interface FiringContext extends Pick<Firing, 'rule' | 'file' | 'line' | 'sec'> {
  /** What made the rule true, if that is known; asked for only where an action is due. */
  readonly bindings: () => readonly Binding[] | undefined
  readonly perform: Perform
  /** Hears of every action that was taken. */
  readonly onAction: () => void
}

/** The actions of one rule, with what they remember. */
export type Actions = (context: FiringContext) => boolean | Promise<boolean>

/** Prepares actions: `&` takes both, `|` the second only where the first fails. */
export function prepareActions(expr: ActionExpr): Actions {
  if (expr.kind === 'action') return single(expr)
  const left = prepareActions(expr.left)
  const right = prepareActions(expr.right)
  const isBoth = expr.kind === 'both'
  return (context) => {
    const next = (isDone: boolean): boolean | Promise<boolean> => {
      if (!isBoth) return isDone || right(context)
      const then = right(context)
      return typeof then === 'boolean' ? isDone && then : then.then((isAlso) => isDone && isAlso)
    }
    const first = left(context)
    return typeof first === 'boolean' ? next(first) : first.then(next)
  }
}

function single({ name, holdoffSec, args }: Extract<ActionExpr, { kind: 'action' }>): Actions {
  let lastSec = Number.NEGATIVE_INFINITY
  const messageOf = messageFormat(args)
  return ({ rule, file, line, sec, bindings: find, perform, onAction }) => {
    // Held back is as good as done.
    if (sec < lastSec + holdoffSec) return true
    lastSec = sec
    onAction()
    const bindings = find()
    const pieces = messageOf(bindings)
    const message = pieces.map(({ text }) => text).join('')
    return perform({ action: name, rule, file, line, sec, args, message, pieces, bindings: bindings ?? [] })
  }
}
