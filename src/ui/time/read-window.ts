/** Parses times entered by the user, with the syntax of PCP's time options. */
import { fromMillis, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { daysOf } from '../../time/calendar.ts'
import { caretError } from '../../time/caret.ts'
import { parseCtimeDate } from '../../time/ctime-date.ts'
import type { FreeDateContext } from '../../time/free-date.ts'
import { readTokens, unitOf } from '../../time/free-date-words.ts'
import { parseInterval } from '../../time/interval.ts'
import { parseTimeArgument } from '../../time/window.ts'
import { localMoment, localTime, type Zone } from '../../time/zone.ts'
import type { Bounds, Frame } from './control.ts'
import { formatDuration, formatTime, offsetOf } from './format.ts'
import { WIDEST } from './limits.ts'

/** The edited ends; an absent one was not edited. */
export interface TypedWindow {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Context of relative times. */
export interface WindowBase {
  /** The current window. */
  readonly frame: Frame
  readonly isLive: boolean
  readonly bounds: Bounds
  /** Current time of the host, in seconds since the epoch. */
  readonly now: number
  /** Time zone name, '' for the user's own. */
  readonly zone: string
  /** A start without a day, month or year means the last such time until this one; default: see `readWindow`. */
  readonly lastDate?: number
}

/** The window to show. */
export interface ReadWindow extends Frame {
  /** Does the end follow the present? */
  readonly isLive: boolean
  /** Start of a live window, unless it was given relative to the present. */
  readonly since?: number | undefined
}

/** Matches the present of a host, or the end of an archive. */
const NOW = /^\s*(now)?\s*$/i
/** Matches a time of day without a date; the source decides the day. */
const TIME_OF_DAY =
  /^\s*@?\s*\d{1,2}(:\d\d){0,2}(\.\d+)?\s*[ap]m\s*$|^\s*@?\s*\d{1,2}(:\d\d){1,2}(\.\d+)?\s*$/i
const ISO_DATE = /^\s*@?\s*\d{4}-\d\d-\d\d/
/** Parts of a date with a weekday or a month, of which the source decides the rest: `monday 10:00`, `24 Dec`. */
const NAMED_PARTS: ReadonlySet<string> = new Set(['number', 'weekday', 'month', 'meridian', 'mark', 'zone'])
const RELATIVE = /^\s*[-+]|\bago\b/i
const MORE_THAN_A_WEEK = 8 * 86_400
const ORDINAL = /\b(?:last|this|next|first|third|[a-z]+th)\b/i

/** Matches times of day that no day has. */
const NO_TIME_OF_DAY = /^@?\s*(?:2[4-9]|[3-9]\d)(?::\d\d){1,2}(?:\.\d+)?$/
const AGO = /^(.+?)\s+ago$/i
/** Words that PCP's syntax lacks. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:12\s+)?noon\b/gi, '12:00'],
  [/\b(?:12\s+)?midnight\b/gi, '00:00'],
  [/\bhalf an hour\b/gi, '30 minutes'],
]
/** Nothing is recorded before 1970. After 9999 formatted times have no four digits to read back; zones need the last day. */
const FIRST = 0
const LAST = Date.UTC(9999, 11, 31) / 1000

/** Returns a browser time zone ('' for the user's own) in the library's form. */
export function zoneOf(name: string): Zone {
  return {
    name,
    at: (sec) => ({
      offset: offsetOf(limited(sec), name),
      isDst: false,
      abbreviation: name,
      from: sec,
      until: sec + 1,
    }),
  }
}

/**
 * Parses the ends of a window with the syntax of PCP's -S and -T options: `-10min` (before the end), `@10:00`, `2026-11-22 10:00`,
 * `now`. Dates without day, month or year mean the latest such time of a host and the first one of an archive; as an end, the
 * first one after the start, unless the source ends long before that. Throws an Error that points at the mistake.
 */
export function readWindow(typed: TypedWindow, base: WindowBase): ReadWindow {
  const { frame, bounds, now, zone } = base
  const last = bounds.end ?? now
  const { start = -Infinity } = bounds
  const wanted = typed.from === undefined ? frame.from : readFrom(typed.from, base)
  const from = typed.from === undefined ? wanted : Math.max(wanted, start)
  const isOpen = typed.to === undefined ? base.isLive : NOW.test(typed.to)
  const to =
    isOpen || (typed.to === undefined && frame.to > last)
      ? last
      : typed.to === undefined
        ? frame.to
        : Math.min(readTo(typed.to, wanted, base), last)
  if (to > from) {
    const isLive = isOpen && bounds.end === undefined
    const isFixed = isLive && typed.from !== undefined && !RELATIVE.test(typed.from)
    return checkedWidth({ from, to, isLive, since: isFixed ? from : undefined })
  }
  const what = bounds.end === undefined ? 'the present' : 'the end of the archive'
  throw new Error(
    from >= last
      ? `From (${formatTime(from, zone)}) must be before ${what} (${formatTime(last, zone)})`
      : `To (${formatTime(to, zone)}) must be after ${to > wanted ? 'the start of the archive' : 'From'} (${formatTime(to > wanted ? from : wanted, zone)})`,
  )
}

/** Returns a window that the page can show. Throws an Error if it is wider. */
export function checkedWidth(window: ReadWindow): ReadWindow {
  const width = window.to - window.from
  if (width <= WIDEST) return window
  // A start before 1970 has been limited, and the width with it.
  const given = window.from > FIRST ? formatDuration(width) : 'too long'
  throw new Error(`That is ${given}; at most ${formatDuration(WIDEST)} can be shown`)
}

/** Parses a moment as a start: the latest such time of a host, the first one of an archive. Throws an Error that points at the mistake. */
export function readMoment(text: string, base: WindowBase): number {
  return readFrom(text, base)
}

const readFrom = (given: string, base: WindowBase): number => reading(given, (text) => startOf(text, base))

const readTo = (given: string, from: number, base: WindowBase): number =>
  reading(given, (text) => endOf(text, from, base))

/** Reads a text without its words; errors quote the typed text. */
function reading(given: string, read: (text: string) => number): number {
  const text = withoutWords(given)
  try {
    return read(text)
  } catch (error) {
    const reason = error instanceof SyntaxError && text !== given && /\^ -- (.*)/.exec(error.message)?.[1]
    throw reason ? caretError(given.trim(), 0, reason) : error
  }
}

function startOf(text: string, base: WindowBase): number {
  const { bounds, now, zone, lastDate } = base
  const { start, end = now } = bounds
  const isEmpty = text.trim() === ''
  if (isEmpty && start !== undefined) return start
  if (isEmpty) throw new Error('Enter a start time, e.g. -10min for ten minutes ago')
  if (NOW.test(text)) return end
  const context = {
    start: fromMillis(1000 * (start ?? now)),
    end: fromMillis(1000 * end),
    now,
    zone: zoneOf(zone),
  }
  const latest = lastDate ?? end
  const isFirst = start !== undefined && lastDate === undefined
  const dates = datesOf(text, context, isFirst ? start : latest)
  if (dates !== undefined)
    return (
      (isFirst ? dates.find((date) => date >= start && date < end) : undefined) ??
      dates.findLast((date) => date <= latest) ??
      dates[0]!
    )
  const moment = momentOf(text, context)
  // A host has no start from which to count an interval.
  if (start === undefined && moment > now && /^\s*\+?\s*\d/.test(text))
    throw caretError(text, 0, 'counts from the start of an archive; use a minus to count back from now')
  return moment
}

function endOf(text: string, from: number, { bounds, now, zone }: WindowBase): number {
  const { start = from, end = now } = bounds
  const context = {
    start: fromMillis(1000 * Math.max(from, start)),
    end: fromMillis(1000 * end),
    now,
    zone: zoneOf(zone),
  }
  const dates = datesOf(text, context, from)
  if (dates === undefined) return momentOf(text, context)
  const next = dates.find((date) => date > from) ?? dates.at(-1)!
  // `21:33 to 21:29`: if the next such time of day or weekday is not there yet, the ends are in the wrong order.
  const last = bounds.end ?? now
  const before = next > last ? dates.findLast((date) => date <= from) : undefined
  const dayOf = (sec: number): string => formatTime(sec, zone).slice(0, 10)
  const isRepeated = before !== undefined && next - before < MORE_THAN_A_WEEK
  return isRepeated && (dayOf(before) === dayOf(from) || dayOf(next) > dayOf(last)) ? before : next
}

/** Returns the times that an absolute date may mean around `around`, ascending; undefined for other texts. */
function datesOf(text: string, context: FreeDateContext, around: number): number[] | undefined {
  const trimmed = text.trim()
  if (NO_TIME_OF_DAY.test(trimmed)) throw caretError(trimmed, 0, 'hours are 0 to 23')
  const isPartial = TIME_OF_DAY.test(trimmed) || isNamed(trimmed)
  if (!isPartial && !trimmed.startsWith('@') && !ISO_DATE.test(trimmed)) return undefined
  const date = trimmed.replace(/^@\s*/, '').replace(/^(\d{4}-\d\d-\d\d)T/, '$1 ')
  const { zone } = context
  const read = (start: Timestamp): Timestamp =>
    isPartial
      ? parseTimeArgument(`@${date}`, { ...context, start, now: start.sec })
      : parseCtimeDate(date, start, zone)
  try {
    const moments = basesAround(around, zone).map((sec) => limited(toSeconds(read({ sec, nsec: 0 }))))
    return [...new Set(moments)].sort((a, b) => a - b)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return [limited(toSeconds(parseTimeArgument(`@${date}`, context)))]
  }
}

/** Replaces words by PCP's syntax: `noon`, `an hour ago`. */
function withoutWords(text: string): string {
  const plain = WORDS.reduce((rest, [word, syntax]) => rest.replace(word, syntax), text)
  return plain.replace(/\b(?:an?|one)\s+(?=([a-z]+))/gi, (all: string, word: string) =>
    isUnit(word.toLowerCase()) ? '1 ' : all,
  )
}

/** Is it a unit of dates, or of intervals such as `hr`? */
function isUnit(word: string): boolean {
  if (unitOf(word) !== undefined) return true
  try {
    parseInterval(`1${word}`)
    return true
  } catch {
    return false
  }
}

/** Parses a time argument, also `2h ago` and `1.5 hours ago`, which PCP only has as `-2h` and `-1.5 hours`. */
function momentOf(text: string, context: FreeDateContext): number {
  try {
    return limited(toSeconds(parseTimeArgument(text, context)))
  } catch (error) {
    const interval = AGO.exec(text.trim())?.[1]
    if (interval === undefined || !(error instanceof SyntaxError)) throw error
    try {
      return limited(toSeconds(parseTimeArgument(`-${interval}`, context)))
    } catch {
      throw error
    }
  }
}

const limited = (seconds: number): number => Math.min(LAST, Math.max(FIRST, seconds))

/** Is it a date with a weekday or a month that leaves open which of them? */
function isNamed(text: string): boolean {
  const kinds = ORDINAL.test(text) ? [] : (readTokens(text.replace(/^@/, '')) ?? []).map(({ kind }) => kind)
  return (
    kinds.every((kind) => NAMED_PARTS.has(kind)) &&
    kinds.some((kind) => kind === 'weekday' || kind === 'month')
  )
}

/** Returns the midnights from which a date is completed: of the days, weeks, months and years around a time. */
function basesAround(sec: number, zone: Zone): number[] {
  const { year, month, day } = localTime(Math.floor(sec), zone)
  const today = daysOf(year, month, day)
  const days = [today - 7, today - 1, today, today + 1]
  for (const by of [-1, 0, 1]) days.push(daysOf(year, month + by, 1), daysOf(year + by, 1, 1))
  return days.map((days) => localMoment(days, 0, zone))
}
