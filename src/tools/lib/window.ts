/** The time window and the sampling that a command line asks for. pmGetContextOptions(3) */

import type { Timestamp } from '../../base/timestamp.ts'
import { fromMillis } from '../../base/timestamp.ts'
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
 * The window that the options ask for, in an archive's bounds or (undefined) from now on. Warns on stderr when -A cannot be
 * honoured. Throws PcpError with the lines to print after the command's name.
 */
export function samplingWindow(
  standard: Pick<StandardOptions, 'window' | 'interval' | 'samples'>,
  bounds: ArchiveBounds | undefined,
  zone: Zone,
  io: Pick<ToolIo, 'now' | 'stderr' | 'progname'>,
): SamplingWindow {
  const now = fromMillis(io.now())
  const { start, end } = bounds ?? { start: now, end: FOREVER }
  try {
    const { warning, ...window } = parseTimeWindow(standard.window, { start, end, zone, now: now.sec })
    if (warning !== undefined) io.stderr.write(`${io.progname}: ${warning}\n`)
    return {
      ...window,
      interval: standard.interval,
      samples: standard.samples,
      isGiven: Object.values(standard.window).some((text) => text !== undefined),
    }
  } catch (error) {
    throw new PcpError('PM_ERR_GENERIC', PcpError.from(error).message, { cause: error })
  }
}
