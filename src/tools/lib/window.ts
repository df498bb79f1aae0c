/** The time window and sampling options of a command line. pmGetContextOptions(3) */
import { fromMillis, type Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { compareTimes, FOREVER } from '../../time/arithmetic.ts'
import { ctime } from '../../time/stamp.ts'
import { parseTimeWindow } from '../../time/window.ts'
import type { Zone } from '../../time/zone.ts'
import type { StandardOptions } from './standard.ts'
import type { ToolIo } from './tool.ts'

/** Start and end of an archive or of several together. */
export interface ArchiveBounds {
  readonly start: Timestamp
  /** FOREVER if the end is damaged. */
  readonly end: Timestamp
}

export interface SamplingWindow {
  readonly start: Timestamp
  /** FOREVER (its seconds are Infinity) for live values without -T. */
  readonly finish: Timestamp
  /** Where sampling starts: inside start and finish. */
  readonly origin: Timestamp
  /** -t; undefined when not given. */
  readonly interval: Timestamp | undefined
  /** -s; undefined when not given. */
  readonly samples: number | undefined
  /** Was any of -S, -T, -O, -A given? */
  readonly isGiven: boolean
}

/**
 * Resolves the window in the bounds of an archive, or (undefined) from now on. As in PCP an impossible alignment is ignored silently.
 * Throws PcpError with the lines to print after the command's name and a colon.
 */
export function samplingWindow(
  { window: texts, interval, samples }: Pick<StandardOptions, 'window' | 'interval' | 'samples'>,
  bounds: ArchiveBounds | undefined,
  zone: Zone,
  io: Pick<ToolIo, 'now'>,
): SamplingWindow {
  const now = fromMillis(io.now())
  const { start: first, end } = bounds ?? { start: now, end: FOREVER }
  try {
    const { start, finish, origin } = parseTimeWindow(texts, { start: first, end, zone, now: now.sec })
    const isGiven = Object.values(texts).some((text) => text !== undefined)
    return { start, finish, origin, interval, samples, isGiven }
  } catch (error) {
    const { message } = PcpError.from(error)
    throw new PcpError('PM_ERR_GENERIC', `${INVALID}${message}\n`, {
      cause: error,
      reason: 'time-window',
    })
  }
}

/**
 * Resolves the window of a command that PCP does not have. PM_ERR_ARG if it starts after its end, which PCP's commands treat as an empty
 * window.
 */
export function orderedWindow(
  options: Pick<StandardOptions, 'window' | 'interval' | 'samples'>,
  bounds: ArchiveBounds,
  zone: Zone,
  io: Pick<ToolIo, 'now'>,
): SamplingWindow {
  const window = samplingWindow(options, bounds, zone, io)
  const { start, finish } = window
  if (compareTimes(start, finish) <= 0) return window
  const isLimit = (moment: Timestamp, limit: Timestamp): boolean => compareTimes(moment, limit) === 0
  const first = isLimit(start, bounds.start) ? 'the start of the archive' : 'the start, -S,'
  const last = isLimit(finish, bounds.end) ? 'the end of the archive' : 'the end, -T'
  throw new PcpError(
    'PM_ERR_ARG',
    `${first} (${ctime(start.sec, zone)}) is after ${last} (${ctime(finish.sec, zone)})`,
  )
}

const INVALID = 'invalid time window.\n'

/** Returns the text of an error of `samplingWindow`; undefined for other errors. */
export function windowProblem(error: unknown): string | undefined {
  const { message, reason } = PcpError.from(error)
  return reason === 'time-window' ? message.slice(INVALID.length) : undefined
}
