/** The time window and sampling options of a command line. pmGetContextOptions(3) */
import { fromMillis, type Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { compareTimes, FOREVER } from '../../time/arithmetic.ts'
import { ctime } from '../../time/stamp.ts'
import { parseTimeArgument, parseTimeWindow } from '../../time/window.ts'
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
    throw invalid(error)
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
  const first = isLimit(start, bounds.start) ? 'the start of the archive' : START
  const last = isLimit(finish, bounds.end) ? 'the end of the archive' : END
  throw disordered(first, start, last, finish, zone)
}

/**
 * Resolves -S and -T for archives that are still written: relative times count from now, and neither end is limited. PM_ERR_ARG if both are
 * given in the wrong order.
 */
export function openWindow(
  texts: StandardOptions['window'],
  zone: Zone,
  io: Pick<ToolIo, 'now'>,
): Partial<Pick<SamplingWindow, 'start' | 'finish'>> {
  const now = fromMillis(io.now())
  const resolved = (text: string | undefined, from: Timestamp): Timestamp | undefined =>
    text === undefined ? undefined : parseTimeArgument(text, { start: from, end: now, now: now.sec, zone })
  let [start, finish]: (Timestamp | undefined)[] = []
  try {
    start = resolved(texts.start, now)
    finish = resolved(texts.finish, start ?? now)
  } catch (error) {
    throw invalid(error)
  }
  if (start !== undefined && finish !== undefined && compareTimes(start, finish) > 0)
    throw disordered(START, start, END, finish, zone)
  return { ...(start && { start }), ...(finish && { finish }) }
}

const START = 'the start, -S,'
const END = 'the end, -T'

function disordered(first: string, start: Timestamp, last: string, finish: Timestamp, zone: Zone): PcpError {
  const [from, to] = [start, finish].map(({ sec }) => ctime(sec, zone))
  return new PcpError('PM_ERR_ARG', `${first} (${from}) is after ${last} (${to})`)
}

const INVALID = 'invalid time window.\n'

function invalid(error: unknown): PcpError {
  const { message } = PcpError.from(error)
  return new PcpError('PM_ERR_GENERIC', `${INVALID}${message}\n`, { cause: error, reason: 'time-window' })
}

/** Returns the text of an error of `samplingWindow`; undefined for other errors. */
export function windowProblem(error: unknown): string | undefined {
  const { message, reason } = PcpError.from(error)
  return reason === 'time-window' ? message.slice(INVALID.length) : undefined
}
