/** When pmval takes samples, and the samples themselves. */
import { secondsBetween, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import type { FetchResult } from '../../model/values.ts'
import type { Context } from '../../pmapi/context.ts'
import { isEndOfArchive, type Samples, samples } from '../../pmapi/samples.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { FollowedTime } from '../lib/time-control.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { SamplingWindow } from '../lib/window.ts'
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

/** Fetches until the schedule ends; from archives records as they are, marks among them, or values at the interval. */
export function fetches(
  context: Context,
  { desc }: Subject,
  { intervalSec, origin, finish, archive }: Schedule,
  io: ToolIo,
): Samples<FetchResult> {
  const ids = [desc.pmid]
  const plan = { intervalSec, call: io, flush: () => io.stdout.flush() }
  const control = context.archive
  if (archive === undefined || control === undefined) {
    const count = Math.ceil(secondsBetween(origin, finish) / intervalSec)
    return samples(context, { ...plan, count, take: () => context.fetch(ids, io) })
  }
  const { isRaw, delays } = archive
  return samples(context, {
    ...plan,
    origin,
    mode: isRaw ? 'forward' : 'interpolate',
    isPaced: delays,
    take: () => (isRaw ? control.fetchRecord(ids) : context.fetchNow(ids)),
    isBeyond: ({ timestamp }) => compareTimes(timestamp, finish) > 0,
  })
}

/** One result a step of a time control. `onAnew` is called when rates have to restart. */
export function controlledFetches(
  context: Context,
  { desc }: Subject,
  { intervalSec, finish }: Schedule,
  followed: FollowedTime,
  onAnew: () => void,
  io: ToolIo,
): Samples<FetchResult> {
  let isShown = false
  const take = async (): Promise<FetchResult> => {
    for (;;) {
      if (isShown) {
        await io.stdout.flush()
        followed.done()
      }
      isShown = false
      const { isAnew, isFirst } = await followed.next()
      if (isAnew && !isFirst) onAnew()
      try {
        const result = await context.fetch([desc.pmid], io)
        isShown = true
        return result
      } catch (error) {
        if (!isEndOfArchive(error)) throw error
        followed.endOfArchive()
      }
    }
  }
  const isBeyond = ({ timestamp }: FetchResult): boolean => {
    const isBehind = compareTimes(timestamp, finish) > 0
    if (isBehind) followed.close()
    return isBehind
  }
  return samples(context, { intervalSec, isPaced: false, take, isBeyond, call: io })
}
