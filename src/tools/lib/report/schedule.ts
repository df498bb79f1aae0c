/** The sampling times of a report. pmrep(1) -s -t -T, pmGetContextOptions(3) */
import { type Timestamp, toSeconds } from '../../../base/timestamp.ts'
import type { ArchiveControl } from '../../../pmapi/archive-control.ts'
import type { Context } from '../../../pmapi/context.ts'
import { type SampleSequence, sampleLoop } from '../../../pmapi/samples.ts'
import type { ToolIo } from '../tool.ts'
import type { SamplingWindow } from '../window.ts'
import { linesError } from './metrics.ts'
import type { Settings } from './settings.ts'

export interface Schedule {
  /** Undefined to run until interrupted or to the end of the archive. */
  readonly samples: number | undefined
  readonly intervalSec: number
  readonly origin: Timestamp
  /** The time of -T; undefined if only the archive's end or the number of samples ends the report. */
  readonly finish: Timestamp | undefined
  /** -s was given. */
  readonly isCounted: boolean
}

/** Returns the schedule of the options; `isRecorded` for records without interpolation. Throws PM_ERR_GENERIC with the line to print for an interval of 0. */
export function scheduleOf(window: SamplingWindow, hasFinish: boolean, isRecorded: boolean): Schedule {
  const { origin, finish, interval, samples } = window
  let intervalSec = interval === undefined ? 1 : toSeconds(interval)
  let count = samples === 0 ? undefined : samples
  // The times of records depend neither on the interval nor on their number.
  if (hasFinish && !isRecorded) {
    const runtime = toSeconds(finish) - toSeconds(origin) // difference of two rounded times, as in the reference
    if (count === undefined) count = Math.max(0, Math.trunc(runtime / intervalSec + 1))
    else {
      count = Math.max(2, count)
      // The reference truncates intervals to microseconds.
      intervalSec = Math.trunc((runtime / (count - 1)) * 1e6) / 1e6
    }
  }
  if (!(intervalSec > 0)) throw linesError('Interval must be greater than zero.')
  return {
    samples: count,
    intervalSec,
    origin,
    finish: hasFinish ? finish : undefined,
    isCounted: samples !== undefined && samples > 0,
  }
}

/** Yields sampling times; `take` advances to the next values. */
export function sampleTimes(
  context: Context,
  take: () => Timestamp | Promise<Timestamp>,
  schedule: Schedule,
  settings: Settings,
  io: ToolIo,
): SampleSequence<Timestamp> {
  const { samples: count, intervalSec, origin, finish } = schedule
  const isLive = context.archive === undefined
  return sampleLoop(context, {
    take,
    intervalSec,
    origin,
    mode: settings.interpol ? 'interpolate' : 'forward',
    ...(count === undefined ? {} : { count }),
    ...(isLive ? {} : { isBeyond: (time) => isBehind(time, finish, settings) }),
    isPaced: isLive || settings.delay,
    // Live, -A moves the origin into the future.
    startInMs: isLive ? toSeconds(origin) * 1000 - io.now() : 0,
    flush: () => io.stdout.flush(),
    call: io,
  })
}

/** Is a record after the end? Compares seconds, as in the reference. The number of samples ends interpolated reports. */
function isBehind(
  { sec }: Timestamp,
  finish: Timestamp | undefined,
  { interpol }: Pick<Settings, 'interpol'>,
): boolean {
  return finish !== undefined && !interpol && sec > toSeconds(finish)
}

/** Positions an archive before the first sample. */
export function positionArchive(
  archive: ArchiveControl,
  { origin, intervalSec }: Schedule,
  { interpol }: Settings,
): void {
  if (interpol) archive.setMode('interpolate', origin, intervalSec)
  else archive.setMode('forward', origin)
}
