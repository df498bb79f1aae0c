/** When pmval takes samples, and the samples themselves. */
import { secondsBetween, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import type { Context } from '../../pmapi/context.ts'
import { isEndOfArchive, type Samples, samples } from '../../pmapi/samples.ts'
import type { ContextRows } from '../../pmapi/value-rows.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { FollowedTime } from '../lib/time-control.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { SamplingWindow } from '../lib/window.ts'

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

/** Moves on through rows until the schedule ends; in archives records as they are, or values at the interval. */
export function fetches(
  context: Context,
  rows: ContextRows,
  { intervalSec, origin, finish, archive }: Schedule,
  io: ToolIo,
): Samples<Timestamp> {
  const plan = { intervalSec, call: io, flush: () => io.stdout.flush(), take: () => rows.next(io) }
  if (archive === undefined)
    return samples(context, { ...plan, count: Math.ceil(secondsBetween(origin, finish) / intervalSec) })
  const { isRaw, delays } = archive
  return samples(context, {
    ...plan,
    origin,
    mode: isRaw ? 'forward' : 'interpolate',
    isPaced: delays,
    isBeyond: (time) => compareTimes(time, finish) > 0,
  })
}

/** One row a step of a time control. `onAnew` is called when rates have to restart. */
export function controlledFetches(
  context: Context,
  rows: ContextRows,
  { intervalSec, finish }: Schedule,
  followed: FollowedTime,
  onAnew: () => void,
  io: ToolIo,
): Samples<Timestamp> {
  let isShown = false
  const take = async (): Promise<Timestamp> => {
    for (;;) {
      if (isShown) {
        await io.stdout.flush()
        followed.done()
      }
      isShown = false
      const { isAnew, isFirst } = await followed.next()
      if (isAnew && !isFirst) onAnew()
      try {
        const time = await rows.next(io)
        isShown = true
        return time
      } catch (error) {
        if (!isEndOfArchive(error)) throw error
        followed.endOfArchive()
      }
    }
  }
  const isBeyond = (time: Timestamp): boolean => {
    const isBehind = compareTimes(time, finish) > 0
    if (isBehind) followed.close()
    return isBehind
  }
  return samples(context, { intervalSec, isPaced: false, take, isBeyond, call: io })
}
