/** Fetches at an interval: live, without drift, or through a window of an archive. docs/pmapi.md */
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { FetchResult } from '../model/values.ts'
import { compareTimes } from '../time/arithmetic.ts'
import { parseInterval } from '../time/interval.ts'
import type { Clock } from './clock.ts'
import type { CallOptions, Context } from './context.ts'

/** When to read. */
export interface ReadingsOptions extends CallOptions {
  /** Time from one reading to the next: seconds, or text such as `'500ms'` or `'1 min'`. Default one second. */
  readonly every?: number | string
  /** Archives: the first moment. Default: the archive's start, or its end when going backwards. */
  readonly from?: Timestamp
  /** The last moment there may be. Default: none, or the other end of the archive. */
  readonly to?: Timestamp
  /** Archives: from later to earlier. */
  readonly backward?: boolean
}

/**
 * Reads metrics again and again. Live, a slow reading skips moments, it does not shift them. From an archive the values are
 * interpolated, and the context is left where the reading ended. PM_ERR_ARG for an interval that is none, PM_ERR_NOTARCHIVE
 * for options that only archives have, ECANCELED when the signal is aborted.
 */
export async function* readings(
  context: Context,
  ids: readonly Pmid[],
  options: ReadingsOptions,
  clock: Clock,
): AsyncGenerator<FetchResult> {
  const interval = intervalMs(options.every ?? 1)
  if (context.archive === undefined) yield* liveReadings(context, ids, interval, options, clock)
  else yield* archiveReadings(context, ids, interval / 1000, options)
}

async function* liveReadings(
  context: Context,
  ids: readonly Pmid[],
  interval: number,
  options: ReadingsOptions,
  clock: Clock,
): AsyncGenerator<FetchResult> {
  const { from, to, backward, signal } = options
  if (from !== undefined || backward === true)
    throw new PcpError('PM_ERR_NOTARCHIVE', 'Only archives can be read from a moment on, or backwards')
  const start = clock.now()
  for (;;) {
    const result = await context.fetch(ids, options)
    if (to !== undefined && compareTimes(result.timestamp, to) > 0) return
    yield result
    const now = clock.now()
    const next = start + (Math.floor((now - start) / interval) + 1) * interval
    await clock.sleep(next - now, signal)
  }
}

async function* archiveReadings(
  context: Context,
  ids: readonly Pmid[],
  stepSec: number,
  options: ReadingsOptions,
): AsyncGenerator<FetchResult> {
  const archive = context.archive!
  const { from, to, backward = false } = options
  archive.setMode(
    'interpolate',
    from ?? (backward ? archive.end() : archive.start),
    backward ? -stepSec : stepSec,
  )
  for (;;) {
    let result: FetchResult
    try {
      result = await context.fetch(ids, options)
    } catch (error) {
      if (error instanceof PcpError && error.code === 'PM_ERR_EOL') return
      throw error
    }
    const beyond = to === undefined ? 0 : compareTimes(result.timestamp, to) * (backward ? -1 : 1)
    if (beyond > 0) return
    yield result
  }
}

function intervalMs(every: number | string): number {
  const ms = typeof every === 'number' ? every * 1000 : milliseconds(every)
  if (!(ms > 0)) throw new PcpError('PM_ERR_ARG', `An interval must be positive: ${every}`)
  return ms
}

/** PCP reads `ms` as minutes, the plural of `m`. Nobody who writes it in a program means that. */
function milliseconds(text: string): number {
  try {
    const { sec, nsec } = parseInterval(text.replace(/(?<=[\d.]\s*[mun])s\b/gi, 'sec'))
    return sec * 1000 + nsec / 1e6
  } catch (error) {
    throw new PcpError('PM_ERR_ARG', `Not an interval: "${text}"`, { cause: error })
  }
}
