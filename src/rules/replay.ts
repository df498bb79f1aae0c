/** Evaluates rules over archives, as fast as they can be read. docs/reference/pmie.md */
import type { Timestamp } from '../base/timestamp.ts'
import { isDerivedPmid } from '../derive/definitions.ts'
import { debug } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import type { FetchResult } from '../model/values.ts'
import { compareTimes } from '../time/arithmetic.ts'
import { deliver, type RuleContext } from './host.ts'
import type { Task, TaskHost } from './task.ts'

/** Time window of a replay: each task runs from the origin at its interval, up to the finish. */
export interface ReplayWindow {
  readonly origin: Timestamp
  readonly finish: Timestamp
}

/** Lets other work run between evaluations. */
export interface ReplayTurn {
  /** Returns whether to call `yield`; called before each evaluation. */
  shouldYield(): boolean
  /** May reject to end the replay. */
  yield(): Promise<void>
}

/** Evaluates a task at a time. */
export type OnEvaluation = (task: Task, time: Timestamp) => void | Promise<void>

interface Scheduled {
  readonly task: Task
  readonly readers: readonly TaskReader[]
  time: Timestamp
}

/** Runs all tasks in time order. Of tasks due at the same time, the one evaluated last goes first. */
export async function replay(
  tasks: readonly Task[],
  { origin, finish }: ReplayWindow,
  signal: AbortSignal,
  turn: ReplayTurn,
  onEvaluation: OnEvaluation,
): Promise<void> {
  const queue: Scheduled[] = []
  const opened: RuleContext[] = []
  try {
    for (const task of tasks) {
      const readers: TaskReader[] = []
      for (const entry of task.hosts) readers.push(await openReader(entry, task.deltaSec, opened))
      queue.push({ task, readers, time: origin })
    }
    await runQueue(queue, finish, signal, turn, onEvaluation)
  } finally {
    for (const context of opened) await context.close()
  }
}

async function runQueue(
  queue: Scheduled[],
  finish: Timestamp,
  signal: AbortSignal,
  turn: ReplayTurn,
  onEvaluation: OnEvaluation,
): Promise<void> {
  for (;;) {
    if (turn.shouldYield()) await turn.yield()
    const next = queue.shift()
    if (next === undefined || signal.aborted || compareTimes(next.time, finish) > 0) break
    for (const reader of next.readers) {
      const result = reader.at(next.time)
      deliver(reader.entry.ready.feeds, result instanceof Promise ? await result : result)
    }
    const done = onEvaluation(next.task, next.time)
    if (done !== undefined) await done
    next.time = later(next.time, next.task.deltaSec)
    let at = 0
    while (at < queue.length && compareTimes(queue[at]!.time, next.time) < 0) at++
    if (at === queue.length) queue.push(next)
    else queue.splice(at, 0, next)
  }
}

/** Reads one host's values for one task, at ascending times. */
interface TaskReader {
  readonly entry: TaskHost
  /** Returns undefined before the first or after the last value. */
  at(time: Timestamp): FetchResult | undefined | Promise<FetchResult | undefined>
}

/** Opens a reader; adds the context that it opens, if any, to `opened`. */
async function openReader(entry: TaskHost, deltaSec: number, opened: RuleContext[]): Promise<TaskReader> {
  const { ids } = entry.ready
  const context = entry.host.context!
  if (ids.length === 0) return { entry, at: () => undefined }
  // The fast reader has no -D fetch trace.
  if (!ids.some(isDerivedPmid) && !debug.fetch) return recordedReader(entry, context, deltaSec)
  const own = await context.dup()
  opened.push(own)
  return derivedReader(entry, own, deltaSec)
}

function recordedReader(entry: TaskHost, { archive }: RuleContext, deltaSec: number): TaskReader {
  let results: Iterator<FetchResult> | undefined
  return {
    entry,
    at: (time) => {
      if (compareTimes(time, archive!.start) < 0) return undefined
      results ??= archive!.samples(entry.ready.ids, deltaSec, { from: time, reusesMemory: true })
      const { done, value } = results.next()
      return done === true ? undefined : value
    },
  }
}

/** Reads derived metrics, which only the context computes. */
function derivedReader(entry: TaskHost, context: RuleContext, deltaSec: number): TaskReader {
  const archive = context.archive!
  let isPlaced = false
  let isEnded = false
  return {
    entry,
    at: async (time) => {
      if (isEnded || compareTimes(time, archive.start) < 0) return undefined
      if (!isPlaced) archive.setMode('interpolate', time, deltaSec)
      isPlaced = true
      try {
        return await context.fetch(entry.ready.ids)
      } catch (error) {
        if (!(error instanceof PcpError) || error.code !== 'PM_ERR_EOL') throw error
        isEnded = true
        return undefined
      }
    },
  }
}

/** Adds seconds to a time, to the nanosecond. */
function later({ sec, nsec }: Timestamp, bySec: number): Timestamp {
  const whole = Math.floor(bySec)
  const nanos = nsec + Math.round((bySec - whole) * 1e9)
  const carry = nanos >= 1e9 ? 1 : 0
  return { sec: sec + whole + carry, nsec: nanos - carry * 1e9 }
}
