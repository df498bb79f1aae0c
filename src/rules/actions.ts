/** Actions of rules. docs/reference/pmie.md */
import { type Binding, type MessagePart, messageFormat, messageText } from './bindings.ts'
import type { ActionExpr, ActionName } from './syntax.ts'

/** One action to perform. Its message is only built when it is read: few of those of a trial are. */
export interface Firing {
  readonly action: ActionName
  /** Name and position of the statement. */
  readonly rule: string
  readonly file: string
  readonly line: number
  /** Time of the evaluation, in seconds since the epoch. */
  readonly sec: number
  readonly args: readonly string[]
  /** The arguments with placeholders filled in. */
  readonly message: string
  /** The message in pieces. */
  readonly pieces: readonly MessagePart[]
  readonly bindings: readonly Binding[]
  /** Returns the message as `message`, but of a longer one only its beginning, of at least `most` characters. */
  messageStart(most: number): string
}

/** Performs an action; returns whether it succeeded, as a promise only if it has to wait. */
export type PerformAction = (firing: Firing) => boolean | Promise<boolean>

/** Context of a rule's actions. */
export interface FiringContext extends Pick<Firing, 'rule' | 'file' | 'line' | 'sec'> {
  /** Returns what made the rule true, if known; called only if an action is due. */
  readonly bindings: () => readonly Binding[] | undefined
  readonly perform: PerformAction
  /** Called for each action performed. */
  readonly onAction: () => void
}

/** Performs the actions of one rule; keeps their holdoff state. */
export type Actions = (context: FiringContext) => boolean | Promise<boolean>

/** Prepares actions: `&` performs both, `|` the second only if the first fails. */
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
    // A held-off action counts as successful.
    if (sec < lastSec + holdoffSec) return true
    lastSec = sec
    onAction()
    const bindings = find()
    return perform({
      action: name,
      rule,
      file,
      line,
      sec,
      args,
      bindings: bindings ?? [],
      get pieces() {
        return [...messageOf(bindings)]
      },
      get message() {
        return messageText(messageOf(bindings))
      },
      messageStart: (most) => messageText(messageOf(bindings), most),
    })
  }
}
