/** The time window and the sampling that a command line asks for. pmGetContextOptions(3) */
import { fromMillis, type Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { FOREVER } from '../../time/arithmetic.ts'
import { parseTimeWindow } from '../../time/window.ts'
import type { Zone } from '../../time/zone.ts'
import type { StandardOptions } from './standard.ts'
import type { ToolIo } from './tool.ts'

/** First and last moment of an archive, or of several together. */
export interface ArchiveBounds {
  readonly start: Timestamp
  /** FOREVER where the end is damaged. */
  readonly end: Timestamp
}

/** When a command samples. */
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
 * The window that the options ask for, in an archive's bounds or (undefined) from now on. An alignment that does not fit is
 * ignored without a word, as in PCP. Throws PcpError with the lines that follow the command's name and a colon.
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

const INVALID = 'invalid time window.\n'

/** Returns what is wrong with a time window, of an error that `samplingWindow` throws; undefined for other errors. */
export function windowProblem(error: unknown): string | undefined {
  const { message, reason } = PcpError.from(error)
  return reason === 'time-window' ? message.slice(INVALID.length) : undefined
}
