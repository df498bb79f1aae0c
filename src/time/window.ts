/** Time windows from -S, -T, -O and -A, for archives and live sources. pmParseTimeWindow(3), PCPIntro(1) */
import type { Timestamp } from '../base/timestamp.ts'
import { addTimes, compareTimes, earlierOf, laterOf, subtractTimes } from './arithmetic.ts'
import { caretError } from './caret.ts'
import { parseCtimeDate } from './ctime-date.ts'
import { type FreeDateContext, parseFreeDate } from './free-date.ts'
import { parseInterval } from './interval.ts'

/** Arguments of a time window; undefined if not given. */
export interface WindowTexts {
  /** -S */
  readonly start?: string | undefined
  /** -T */
  readonly finish?: string | undefined
  /** -A: an interval. */
  readonly align?: string | undefined
  /** -O */
  readonly origin?: string | undefined
}

/**
 * Reference times of the arguments: the bounds of the data (an archive's start and end, or now and FOREVER), the wall clock, and
 * the zone of dates.
 */
export type WindowContext = FreeDateContext

/** A time window as pmParseTimeWindow(3) returns it. */
export interface TimeWindow {
  readonly start: Timestamp
  /** FOREVER (infinite seconds) if unbounded. */
  readonly finish: Timestamp
  /** Time of the first sample, between start and finish. */
  readonly origin: Timestamp
  /** The reason, in PCP's format, if -A could not be applied. */
  readonly warning: string | undefined
}

const NOT_ALIGNED = 'alignment specified by -A switch could not be applied'

/**
 * Resolves a time window. Throws a SyntaxError in PCP's format: the text, and below it a caret and the message.
 * @see pmParseTimeWindow(3)
 */
export function parseTimeWindow(texts: WindowTexts, context: WindowContext): TimeWindow {
  const { start: first, end: last } = context
  const given = texts.start === undefined ? first : parseTimeArgument(texts.start, context)
  let start = laterOf(given, first)
  let step = texts.align === undefined ? undefined : parseAlignment(texts.align)
  let warning: string | undefined
  if (step !== undefined) {
    const aligned = alignUp(start, step)
    if (compareTimes(aligned, last) <= 0) start = aligned
    else {
      step = undefined
      warning = notAligned(texts.align)
    }
  }
  const finish =
    texts.finish === undefined
      ? last
      : earlierOf(parseTimeArgument(texts.finish, { ...context, start }), last)
  if (texts.origin === undefined) return { start, finish, origin: start, warning }
  const origin = clampOrigin(
    parseTimeArgument(texts.origin, { ...context, start, end: finish }),
    start,
    finish,
  )
  // As measured: in an unbounded window the origin is not aligned.
  if (step === undefined || !Number.isFinite(finish.sec)) return { start, finish, origin, warning }
  const up = alignUp(origin, step)
  const aligned = compareTimes(up, finish) <= 0 ? up : alignDown(origin, step)
  if (compareTimes(aligned, start) >= 0 && compareTimes(aligned, finish) <= 0)
    return { start, finish, origin: aligned, warning }
  return { start, finish, origin, warning: notAligned(texts.align) }
}

function notAligned(align: string | undefined): string {
  return caretError(align ?? '', 0, NOT_ALIGNED).message
}

/** Clamps the origin: to the start, else to the finish, which may be before the start. */
function clampOrigin(origin: Timestamp, start: Timestamp, finish: Timestamp): Timestamp {
  return compareTimes(origin, start) < 0 ? start : earlierOf(origin, finish)
}

/**
 * Parses one argument of -S, -T or -O: an interval after the start or, with a minus, before the end; `@` and a date;
 * or a free-form date. Not clamped to start and end. Throws a SyntaxError in PCP's format.
 */
export function parseTimeArgument(given: string, context: WindowContext): Timestamp {
  const text = given.replace(/^\s+/, '')
  const time = momentOf(text, context)
  // Years of a hundred digits cannot be counted in seconds.
  if (!Number.isSafeInteger(time.sec)) throw caretError(text, 0, 'unexpected value')
  return time
}

function momentOf(text: string, context: WindowContext): Timestamp {
  if (text.startsWith('@')) {
    return orFree(text.slice(1), context, () => parseCtimeDate(text.slice(1), context.start, context.zone))
  }
  if (!text.startsWith('-')) {
    const interval = text.startsWith('+') ? text.slice(1) : text
    return orFree(text, context, () => addTimes(context.start, parseInterval(interval)))
  }
  // Without an end the minus belongs to the date: `-2 hours` is relative to the start, `-2hours` to now.
  if (Number.isFinite(context.end.sec))
    return orFree(text, context, () => subtractTimes(context.end, parseInterval(text.slice(1))))
  return (
    parseFreeDate(text, context) ?? subtractTimes({ sec: context.now, nsec: 0 }, parseInterval(text.slice(1)))
  )
}

/** Returns the result of `parse`, else a free-form date, else throws the error of `parse`. */
function orFree(text: string, context: WindowContext, parse: () => Timestamp): Timestamp {
  try {
    return parse()
  } catch (error) {
    const moment =
      error instanceof SyntaxError ? parseFreeDate(text.replace(/^\s*\+/, ''), context) : undefined
    if (moment === undefined) throw error
    return moment
  }
}

/** Parses the interval of -A into nanoseconds. */
function parseAlignment(text: string): bigint {
  const step = nanos(parseInterval(text))
  if (step === 0n) throw caretError(text, 0, NOT_ALIGNED)
  return step
}

function alignDown(moment: Timestamp, step: bigint): Timestamp {
  const at = nanos(moment)
  return fromNanos(at - (((at % step) + step) % step))
}

function alignUp(moment: Timestamp, step: bigint): Timestamp {
  const down = alignDown(moment, step)
  return compareTimes(down, moment) === 0 ? down : fromNanos(nanos(down) + step)
}

function nanos({ sec, nsec }: Timestamp): bigint {
  return BigInt(sec) * 1_000_000_000n + BigInt(nsec)
}

function fromNanos(total: bigint): Timestamp {
  const nsec = ((total % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  return { sec: Number((total - nsec) / 1_000_000_000n), nsec: Number(nsec) }
}
