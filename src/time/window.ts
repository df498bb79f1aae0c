/** Time windows: what -S, -T, -O and -A mean for an archive or for live values. pmParseTimeWindow(3), PCPIntro(1) */
import type { Timestamp } from '../base/timestamp.ts'
import { addTimes, compareTimes, earlierOf, laterOf, subtractTimes } from './arithmetic.ts'
import { atCaret } from './caret.ts'
import { parseCtimeDate } from './ctime-date.ts'
import { type FreeDateContext, parseFreeDate } from './free-date.ts'
import { parseInterval } from './interval.ts'

/** The texts of a time window; what is absent or undefined was not given. */
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
 * What the texts are relative to: the first and last moment there is (an archive's start and end, or now and FOREVER),
 * the wall clock and the zone dates are in.
 */
export type WindowContext = FreeDateContext

/** A time window. */
export interface TimeWindow {
  readonly start: Timestamp
  /** FOREVER (its seconds are Infinity) without an end. */
  readonly finish: Timestamp
  /** The first sample: inside start and finish. */
  readonly origin: Timestamp
  /** Why -A could not be honoured, where it could not: PCP's two lines. */
  readonly warning: string | undefined
}

/** Why an alignment is ignored. */
const NOT_ALIGNED = 'alignment specified by -A switch could not be applied'

/**
 * Resolves a time window. Throws a SyntaxError whose message is PCP's: the text, and below it a caret and what is wrong.
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
  // As measured: without an end the origin stays where it was asked for.
  if (step === undefined || !Number.isFinite(finish.sec)) return { start, finish, origin, warning }
  const up = alignUp(origin, step)
  const aligned = compareTimes(up, finish) <= 0 ? up : alignDown(origin, step)
  if (compareTimes(aligned, start) >= 0 && compareTimes(aligned, finish) <= 0)
    return { start, finish, origin: aligned, warning }
  return { start, finish, origin, warning: notAligned(texts.align) }
}

function notAligned(align: string | undefined): string {
  return atCaret(align ?? '', 0, NOT_ALIGNED).message
}

/** Not before the start; only an origin that is not counts as beyond the finish, which may be before the start. */
function clampOrigin(origin: Timestamp, start: Timestamp, finish: Timestamp): Timestamp {
  return compareTimes(origin, start) < 0 ? start : earlierOf(origin, finish)
}

/**
 * One time argument, as -S, -T and -O take it: an interval after the start or, with a minus, before the end; `@` and a date;
 * or a free-form date. Not clamped to start and end. Throws a SyntaxError with PCP's two lines.
 */
export function parseTimeArgument(given: string, context: WindowContext): Timestamp {
  const text = given.replace(/^\s+/, '')
  const time = momentOf(text, context)
  // Years of a hundred digits are no years that can be counted in seconds.
  if (!Number.isSafeInteger(time.sec)) throw atCaret(text, 0, 'unexpected value')
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
  // Without an end the minus is the date parser's: `-2 hours` counts from the start, `-2hours` from now.
  if (Number.isFinite(context.end.sec))
    return orFree(text, context, () => subtractTimes(context.end, parseInterval(text.slice(1))))
  return (
    parseFreeDate(text, context) ?? subtractTimes({ sec: context.now, nsec: 0 }, parseInterval(text.slice(1)))
  )
}

/** What `parse` makes of it, else a free-form date, else the error of `parse`. */
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

/** Nanoseconds between the moments that -A asks for. */
function parseAlignment(text: string): bigint {
  const step = nanos(parseInterval(text))
  if (step === 0n) throw atCaret(text, 0, NOT_ALIGNED)
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
