/** Replays rules over archives and prints the results. docs/reference/pmie.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { Firing } from '../rules/actions.ts'
import { firingJson, lineFormat } from '../rules/archive-actions.ts'
import { type ReplayWindow, replay } from '../rules/replay.ts'
import type { Verbosity } from '../rules/report.ts'
import type { EvaluationCounts } from '../rules/statement.ts'
import type { Task } from '../rules/task.ts'
import { EventLoopTurn } from '../sys/event-loop.ts'
import { ctime } from '../time/stamp.ts'
import type { Zone } from '../time/zone.ts'

/** Settings of a replay. */
export interface ReplaySettings {
  readonly window: ReplayWindow
  readonly zone: Zone
  /** Undefined: print actions only. */
  readonly verbosity: Verbosity | undefined
  /** Print all values of an evaluation on one line, for another program. */
  readonly isLine: boolean
  /** Format of actions; `json` for lines of JSON. */
  readonly format: string
  /** Name of the rule file. */
  readonly file: string
  readonly signal: AbortSignal
  readonly write: (text: string) => void
  /** Waits until the output has drained. */
  readonly flush: () => Promise<void>
}

/** Returns counters of zero. */
export function newCounts(): EvaluationCounts {
  return { actions: 0, isTrue: 0, isFalse: 0, isUnknown: 0, actual: 0 }
}

/** Evaluations between two flushes. */
const FLUSH_EVERY = 4096

/** Evaluates all tasks over the window. */
export async function runReplay(tasks: readonly Task[], settings: ReplaySettings): Promise<EvaluationCounts> {
  const { window, zone, verbosity, isLine, format, file, signal, write, flush } = settings
  const counts = newCounts()
  let now: Timestamp = window.origin
  const lineOf = format === 'json' ? firingJson : lineFormat(format, zone)
  const evaluation = {
    counts,
    file,
    perform: (firing: Firing): boolean => {
      write(lineOf(firing, now))
      return true
    },
  }
  let evaluations = 0
  await replay(tasks, window, signal, new EventLoopTurn(), (task, time) => {
    now = time
    const done = task.evaluate(time.sec + time.nsec / 1e9, evaluation)
    const report = (): void => {
      if (isLine) write(task.line())
      else if (verbosity !== undefined) write(task.report(verbosity, ` (${ctime(time.sec, zone)})`))
    }
    if (done !== undefined) return done.then(report)
    report()
    return ++evaluations % FLUSH_EVERY === 0 ? flush() : undefined
  })
  return counts
}
