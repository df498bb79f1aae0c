/** The sampling times of pmval, and its samples. */
import { secondsBetween, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import type { Context } from '../../pmapi/context.ts'
import { isEndOfArchive, type SampleSequence, sampleLoop } from '../../pmapi/samples.ts'
import type { ColumnCursor } from '../../pmapi/value-rows.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { TimeControlClient } from '../lib/time-control.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { SamplingWindow } from '../lib/window.ts'

export interface Schedule {
  /** Number of samples; undefined to run until interrupted or to the end of the archive. */
  readonly samples: number | undefined
  readonly intervalSec: number
  /** Start and end. Live, the end only counts together with -s. */
  readonly origin: Timestamp
  readonly finish: Timestamp
  /** Archives only. */
  readonly archive: ArchiveSchedule | undefined
}

/** Options for replaying an archive. */
export interface ArchiveSchedule {
  /** As the user named it. */
  readonly name: string
  /** Read records without interpolation. */
  readonly isRaw: boolean
  /** Pause as long as the recording did. */
  readonly delays: boolean
}

const DEFAULT_INTERVAL_SEC = 1

/** Returns the schedule for a time window. */
export function scheduleOf(window: SamplingWindow, archive: ArchiveSchedule | undefined): Schedule {
  const { interval, finish } = window
  const intervalSec = (interval && toSeconds(interval)) || DEFAULT_INTERVAL_SEC
  const origin = archive === undefined ? window.origin : inMicroseconds(window.origin)
  // Difference of two rounded times, as in the reference; it can exclude the last sample.
  const lengthSec = toSeconds(finish) - toSeconds(origin)
  const isCounted = window.samples === undefined && Number.isFinite(lengthSec) && archive?.isRaw !== true
  const samples = isCounted ? Math.max(0, Math.trunc(lengthSec / intervalSec) + 1) : window.samples
  return { samples, intervalSec, origin, finish, archive }
}

/** Truncates to microseconds, as the reference does. */
function inMicroseconds({ sec, nsec }: Timestamp): Timestamp {
  return { sec, nsec: nsec - (nsec % 1000) }
}

/** Advances through rows until the schedule ends; in archives by record, or interpolated. */
export function fetches(
  context: Context,
  rows: ColumnCursor,
  { intervalSec, origin, finish, archive }: Schedule,
  io: ToolIo,
): SampleSequence<Timestamp> {
  const plan = { intervalSec, call: io, flush: () => io.stdout.flush(), take: () => rows.next(io) }
  if (archive === undefined)
    return sampleLoop(context, { ...plan, count: Math.ceil(secondsBetween(origin, finish) / intervalSec) })
  const { isRaw, delays } = archive
  return sampleLoop(context, {
    ...plan,
    origin,
    mode: isRaw ? 'forward' : 'interpolate',
    isPaced: delays,
    isBeyond: (time) => compareTimes(time, finish) > 0,
  })
}

/** Advances a row for each step of a time control. `onAnew` is called when rates have to restart. */
export function controlledFetches(
  context: Context,
  rows: ColumnCursor,
  { intervalSec, finish }: Schedule,
  followed: TimeControlClient,
  onAnew: () => void,
  io: ToolIo,
): SampleSequence<Timestamp> {
  let isShown = false
  const take = async (): Promise<Timestamp> => {
    for (;;) {
      if (isShown) {
        await io.stdout.flush()
        followed.done()
      }
      isShown = false
      const { isRestart, isFirst } = await followed.next()
      if (isRestart && !isFirst) onAnew()
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
  return sampleLoop(context, { intervalSec, isPaced: false, take, isBeyond, call: io })
}
