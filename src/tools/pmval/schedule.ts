/** When pmval takes samples, and the samples themselves. */
import { secondsBetween, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { FetchResult } from '../../model/values.ts'
import type { ArchiveControl } from '../../pmapi/archive-control.ts'
import { SYSTEM_CLOCK } from '../../pmapi/clock.ts'
import type { Context } from '../../pmapi/context.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { FollowedTime } from '../lib/time-control.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { SamplingWindow } from '../lib/window.ts'
import type { SampleLoop } from './sample-loop.ts'
import type { Subject } from './subject.ts'

/** How long pmval runs. */
export interface Schedule {
  /** Number of samples; undefined: until interrupted, or to the archive's end. */
  readonly samples: number | undefined
  readonly intervalSec: number
  /** First and last moment. Live, the last one counts only beside -s. */
  readonly origin: Timestamp
  readonly finish: Timestamp
  /** Archives only. */
  readonly archive: ArchiveSchedule | undefined
}

/** What there is to know about replaying an archive. */
export interface ArchiveSchedule {
  /** As the user named it. */
  readonly name: string
  /** Records as they are, not values between them. */
  readonly isRaw: boolean
  /** Wait as long as the recording did. */
  readonly delays: boolean
}

const DEFAULT_INTERVAL_SEC = 1

/** The schedule that a time window makes. */
export function scheduleOf(window: SamplingWindow, archive: ArchiveSchedule | undefined): Schedule {
  const { interval, finish } = window
  const intervalSec = (interval && toSeconds(interval)) || DEFAULT_INTERVAL_SEC
  const origin = archive === undefined ? window.origin : inMicroseconds(window.origin)
  // Of two rounded times, as in the reference: it decides about the last sample.
  const lengthSec = toSeconds(finish) - toSeconds(origin)
  const isCounted = window.samples === undefined && Number.isFinite(lengthSec) && archive?.isRaw !== true
  const samples = isCounted ? Math.max(0, Math.trunc(lengthSec / intervalSec) + 1) : window.samples
  return { samples, intervalSec, origin, finish, archive }
}

/** As the reference keeps its times. */
function inMicroseconds({ sec, nsec }: Timestamp): Timestamp {
  return { sec, nsec: nsec - (nsec % 1000) }
}

/** Results one after another, undefined behind the last one. Those of archives are there at once. */
export type Results = () => FetchResult | undefined | Promise<FetchResult | undefined>

/** Fetches until the loop has all its samples, or the schedule ends. */
export function fetches(
  context: Context,
  subject: Subject,
  schedule: Schedule,
  loop: SampleLoop,
  io: ToolIo,
): Results {
  const { archive } = schedule
  if (archive === undefined || context.archive === undefined)
    return awaited(liveFetches(context, subject, schedule, loop, io))
  if (archive.delays) return awaited(delayedFetches(context, subject, schedule, loop, io))
  return recordedFetches(context, context.archive, subject, schedule, loop)
}

/** Results that take time. */
export function awaited(results: AsyncGenerator<FetchResult>): Results {
  return async () => {
    const { done, value } = await results.next()
    return done === true ? undefined : value
  }
}

async function* liveFetches(
  context: Context,
  { desc }: Subject,
  { intervalSec, origin, finish }: Schedule,
  loop: SampleLoop,
  io: ToolIo,
): AsyncGenerator<FetchResult> {
  const start = SYSTEM_CLOCK.now()
  const windowSec = secondsBetween(origin, finish)
  for (let n = 0; n * intervalSec < windowSec && loop.begin(); n++) {
    const wait = start + n * intervalSec * 1000 - SYSTEM_CLOCK.now()
    if (wait > 0) await SYSTEM_CLOCK.sleep(wait, io.signal)
    yield await context.fetch([desc.pmid], io)
  }
}

/** Records as they are, marks among them, or values at the interval. */
function recordedFetches(
  context: Context,
  control: ArchiveControl,
  { desc }: Subject,
  { intervalSec, origin, finish, archive }: Schedule,
  loop: SampleLoop,
): Results {
  const ids = [desc.pmid]
  const isRaw = archive?.isRaw === true
  if (isRaw) control.setMode('forward', origin)
  else control.setMode('interpolate', origin, intervalSec)
  const inWindow = (result: FetchResult | undefined): FetchResult | undefined =>
    result !== undefined && compareTimes(result.timestamp, finish) <= 0 ? result : undefined
  return () => {
    if (!loop.begin()) return undefined
    const result = unlessEnded(() => (isRaw ? control.fetchRecord(ids) : context.fetchNow(ids)))
    return result instanceof Promise ? result.then(inWindow) : inWindow(result)
  }
}

/** Waits from one recorded result to the next. */
async function* delayedFetches(
  context: Context,
  subject: Subject,
  schedule: Schedule,
  loop: SampleLoop,
  io: ToolIo,
): AsyncGenerator<FetchResult> {
  const next = recordedFetches(context, context.archive!, subject, schedule, loop)
  for (let isFirst = true; ; isFirst = false) {
    const result = await next()
    if (result === undefined) return
    if (!isFirst) await SYSTEM_CLOCK.sleep(schedule.intervalSec * 1000, io.signal)
    yield result
  }
}

/** Does an error say that there is nothing more? */
function isEnd(error: unknown): boolean {
  return error instanceof PcpError && error.code === 'PM_ERR_EOL'
}

/** The answer, or undefined at the end of the archive. */
function unlessEnded<T>(fetch: () => T | Promise<T>): T | undefined | Promise<T | undefined> {
  const ended = (error: unknown): undefined => {
    if (isEnd(error)) return undefined
    throw error
  }
  try {
    const answer = fetch()
    return answer instanceof Promise ? answer.catch(ended) : answer
  } catch (error) {
    return ended(error)
  }
}

/** One result a step of a time control. `onAnew` hears when rates have to begin anew. */
export async function* controlledFetches(
  context: Context,
  { desc }: Subject,
  { finish }: Schedule,
  followed: FollowedTime,
  onAnew: () => void,
  io: ToolIo,
): AsyncGenerator<FetchResult> {
  for (;;) {
    const { isAnew, isFirst } = await followed.next()
    if (isAnew && !isFirst) onAnew()
    const result = await unlessEnded(() => context.fetch([desc.pmid], io))
    if (result === undefined) followed.endOfArchive()
    else {
      if (compareTimes(result.timestamp, finish) > 0) return followed.close()
      yield result
      followed.done()
    }
  }
}
