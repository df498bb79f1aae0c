/** Rules over archives: as fast as they can be read. docs/pmie.md */
import type { Timestamp } from '../base/timestamp.ts'
import { isDerivedPmid } from '../derive/definitions.ts'
import { debug } from '../model/debug.ts'
import type { FetchResult } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'
import { isEndOfArchive } from '../pmapi/samples.ts'
import { EventLoopTurn } from '../sys/event-loop.ts'
import { compareTimes } from '../time/arithmetic.ts'
import { deliver } from './host.ts'
import type { Task, TaskHost } from './task.ts'

/** The moments to evaluate at: each task from the origin on at its interval, up to the finish. */
export interface ReplayWindow {
  readonly origin: Timestamp
  readonly finish: Timestamp
}

/** What happens at each of them. */
export type OnEvaluation = (task: Task, time: Timestamp) => void | Promise<void>

interface Scheduled {
  readonly task: Task
  readonly readers: readonly Reader[]
  time: Timestamp
}

/** Evaluates all tasks in the order of their moments. Of tasks at the same moment the one that was evaluated last goes first. */
export async function replay(
  tasks: readonly Task[],
  { origin, finish }: ReplayWindow,
  signal: AbortSignal,
  onEvaluation: OnEvaluation,
): Promise<void> {
  const queue: Scheduled[] = []
  for (const task of tasks) {
    const readers = await Promise.all(task.hosts.map((entry) => openReader(entry, task.deltaSec)))
    queue.push({ task, readers, time: origin })
  }
  const turn = new EventLoopTurn()
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

/** Reads one host's values for one task, at moments that only go forward. */
interface Reader {
  readonly entry: TaskHost
  /** Undefined where the archive has nothing, or no longer. */
  at(time: Timestamp): FetchResult | undefined | Promise<FetchResult | undefined>
}

async function openReader(entry: TaskHost, deltaSec: number): Promise<Reader> {
  const { ids } = entry.ready
  const context = entry.host.context!
  if (ids.length === 0) return { entry, at: () => undefined }
  // What -D fetch tells, the context tells.
  return ids.some(isDerivedPmid) || debug.fetch
    ? derivedReader(entry, await context.dup(), deltaSec)
    : recordedReader(entry, context, deltaSec)
}

function recordedReader(entry: TaskHost, { archive }: Context, deltaSec: number): Reader {
  let results: Iterator<FetchResult> | undefined
  return {
    entry,
    at: (time) => {
      if (compareTimes(time, archive!.start) < 0) return undefined
      results ??= archive!.samples(entry.ready.ids, deltaSec, { from: time, isPassing: true })
      const { done, value } = results.next()
      return done === true ? undefined : value
    },
  }
}

/** Derived metrics are computed by the context. */
function derivedReader(entry: TaskHost, context: Context, deltaSec: number): Reader {
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
        if (!isEndOfArchive(error)) throw error
        isEnded = true
        return undefined
      }
    },
  }
}

/** A moment some seconds later, to the nanosecond. */
function later({ sec, nsec }: Timestamp, bySec: number): Timestamp {
  const whole = Math.floor(bySec)
  const nanos = nsec + Math.round((bySec - whole) * 1e9)
  const carry = nanos >= 1e9 ? 1 : 0
  return { sec: sec + whole + carry, nsec: nanos - carry * 1e9 }
}
