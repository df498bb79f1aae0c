/** When a report takes samples. pmrep(1) -s -t -T, pmGetContextOptions(3) */
import { type Timestamp, toSeconds } from '../../../base/timestamp.ts'
import type { ArchiveControl } from '../../../pmapi/archive-control.ts'
import type { Context } from '../../../pmapi/context.ts'
import { type Samples, samples } from '../../../pmapi/samples.ts'
import type { ToolIo } from '../tool.ts'
import type { SamplingWindow } from '../window.ts'
import { sayLines } from './metrics.ts'
import type { Settings } from './settings.ts'

/** How long a report runs. */
export interface Schedule {
  /** Undefined: until interrupted, or to the archive's end. */
  readonly samples: number | undefined
  readonly intervalSec: number
  readonly origin: Timestamp
  /** Of -T; undefined where only the archive's end or the number of samples ends it. */
  readonly finish: Timestamp | undefined
  /** -s was given. */
  readonly isCounted: boolean
}

/** The schedule that options make; `isRecorded`: of records as they are. PM_ERR_GENERIC with the line to print for an interval of nothing. */
export function scheduleOf(window: SamplingWindow, hasFinish: boolean, isRecorded: boolean): Schedule {
  const { origin, finish, interval, samples } = window
  let intervalSec = interval === undefined ? 1 : toSeconds(interval)
  let count = samples === 0 ? undefined : samples
  // Records come when they were made: neither an interval nor their number says when the last one does.
  if (hasFinish && !isRecorded) {
    const runtime = toSeconds(finish) - toSeconds(origin) // of two rounded times, as in the reference
    if (count === undefined) count = Math.max(0, Math.trunc(runtime / intervalSec + 1))
    else {
      count = Math.max(2, count)
      // As the reference keeps intervals.
      intervalSec = Math.trunc((runtime / (count - 1)) * 1e6) / 1e6
    }
  }
  if (!(intervalSec > 0)) throw sayLines('Interval must be greater than zero.')
  return {
    samples: count,
    intervalSec,
    origin,
    finish: hasFinish ? finish : undefined,
    isCounted: samples !== undefined && samples > 0,
  }
}

/** The moments of samples; `take` goes on to the next one. */
export function momentsOf(
  context: Context,
  take: () => Timestamp | Promise<Timestamp>,
  schedule: Schedule,
  settings: Settings,
  io: ToolIo,
): Samples<Timestamp> {
  const { samples: count, intervalSec, origin, finish } = schedule
  const isLive = context.archive === undefined
  return samples(context, {
    take,
    intervalSec,
    origin,
    mode: settings.interpol ? 'interpolate' : 'forward',
    ...(count === undefined ? {} : { count }),
    ...(isLive ? {} : { isBeyond: (time) => isBehind(time, finish, settings) }),
    isPaced: isLive || settings.delay,
    // Live, -A moves the origin to a time that is yet to come.
    startInMs: isLive ? toSeconds(origin) * 1000 - io.now() : 0,
    flush: () => io.stdout.flush(),
    call: io,
  })
}

/** Is a record too late? By its second, as in the reference. Values between records end by their number alone. */
function isBehind(
  { sec }: Timestamp,
  finish: Timestamp | undefined,
  { interpol }: Pick<Settings, 'interpol'>,
): boolean {
  return finish !== undefined && !interpol && sec > toSeconds(finish)
}

/** Makes the first sample of an archive the next one. */
export function placeIn(
  archive: ArchiveControl,
  { origin, intervalSec }: Schedule,
  { interpol }: Settings,
): void {
  if (interpol) archive.setMode('interpolate', origin, intervalSec)
  else archive.setMode('forward', origin)
}
