/** When a report takes samples. pmrep(1) -s -t -T, pmGetContextOptions(3) */
import { type Timestamp, toSeconds } from '../../../base/timestamp.ts'
import { PcpError } from '../../../model/errors.ts'
import type { FetchResult } from '../../../model/values.ts'
import type { ArchiveControl } from '../../../pmapi/archive-control.ts'
import { SYSTEM_CLOCK } from '../../../pmapi/clock.ts'
import type { Context } from '../../../pmapi/context.ts'
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

/** The results of fetches, one a sample; `ids` may change from one to the next. */
export async function* fetches(
  context: Context,
  ids: () => readonly number[],
  schedule: Schedule,
  settings: Settings,
  io: ToolIo,
): AsyncGenerator<FetchResult> {
  const { samples = Number.POSITIVE_INFINITY, intervalSec, origin, finish } = schedule
  const { archive } = context
  if (archive !== undefined) placeIn(archive, schedule, settings)
  // Live, -A moves the origin to a time that is yet to come.
  const early = archive === undefined ? toSeconds(origin) * 1000 - io.now() : 0
  if (early > 0) await SYSTEM_CLOCK.sleep(early, io.signal)
  const start = SYSTEM_CLOCK.now()
  for (let n = 0; n < samples; n++) {
    if (n > 0 && (archive === undefined || settings.delay)) {
      const wait = start + n * intervalSec * 1000 - SYSTEM_CLOCK.now()
      if (wait > 0) await SYSTEM_CLOCK.sleep(wait, io.signal)
    }
    const result = await unlessEnded(() => context.fetch(ids(), io))
    if (result === undefined) return
    if (archive !== undefined && isBehind(result.timestamp, finish, settings)) return
    yield result
  }
}

/** Is a record too late? By its second, as in the reference. Values between records end by their number alone. */
export function isBehind(
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

/** The answer, or undefined at the end of the archive. */
async function unlessEnded<T>(fetch: () => Promise<T>): Promise<T | undefined> {
  try {
    return await fetch()
  } catch (error) {
    if (isEnd(error)) return undefined
    throw error
  }
}

/** Was this the end of the archive? */
export function isEnd(error: unknown): boolean {
  return error instanceof PcpError && error.code === 'PM_ERR_EOL'
}
