/** Times that a person types, read as PCP's tools read those of their options. */
import { fromMillis, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { daysOf } from '../../time/calendar.ts'
import { atCaret } from '../../time/caret.ts'
import { parseCtimeDate } from '../../time/ctime-date.ts'
import type { FreeDateContext } from '../../time/free-date.ts'
import { parseTimeArgument } from '../../time/window.ts'
import { localMoment, localTime, type Zone } from '../../time/zone.ts'
import type { Bounds, Frame } from './control.ts'
import { momentText, offsetOf } from './words.ts'

/** The typed ends; an absent one was left alone. */
export interface TypedWindow {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** What typed times are relative to. */
export interface WindowBase {
  /** The present window. */
  readonly frame: Frame
  readonly isLive: boolean
  readonly bounds: Bounds
  /** The host's present, in seconds since the epoch. */
  readonly now: number
  /** Name of the zone, '' for the reader's own. */
  readonly zone: string
}

/** The window to show. */
export interface ReadWindow extends Frame {
  /** The end follows the present. */
  readonly isLive: boolean
}

/** The present of a host, or the end of an archive. */
const NOW = /^\s*(now)?\s*$/i
/** A time of day alone: it names no day, so the source decides which. */
const TIME_OF_DAY =
  /^\s*@?\s*\d{1,2}(:\d\d){0,2}(\.\d+)?\s*[ap]m\s*$|^\s*@?\s*\d{1,2}(:\d\d){1,2}(\.\d+)?\s*$/i
const ISO_DATE = /^\s*@?\s*\d{4}-\d\d-\d\d/

/** The browser's idea of a zone, '' for the reader's own, as the library's. */
function zoneOf(name: string): Zone {
  return {
    name,
    at: (sec) => ({
      offset: offsetOf(sec, name),
      isDst: false,
      abbreviation: name,
      from: sec,
      until: sec + 1,
    }),
  }
}

/**
 * Reads the two ends of a window, written as PCP's tools take them with -S and -T: `-10min` (before the end), `@10:00`,
 * `2026-11-22 10:00`, `now`. Dates that leave out the day, the month or the year mean the latest such moment of a host,
 * and the first one of an archive; as an end, the first one after the start. Throws an Error that points at the mistake.
 */
export function readWindow(typed: TypedWindow, base: WindowBase): ReadWindow {
  const { frame, bounds, now, zone } = base
  const last = bounds.end ?? now
  const from =
    typed.from === undefined ? frame.from : Math.max(readFrom(typed.from, base), bounds.start ?? -Infinity)
  const isOpen = typed.to === undefined ? base.isLive : NOW.test(typed.to)
  const to =
    isOpen || (typed.to === undefined && frame.to > last)
      ? last
      : typed.to === undefined
        ? frame.to
        : Math.min(readTo(typed.to, from, base), last)
  if (to > from) return { from, to, isLive: isOpen && bounds.end === undefined }
  const what = bounds.end === undefined ? 'the present' : 'the end of the archive'
  throw new Error(
    from >= last
      ? `From, ${momentText(from, zone)}, is not before ${what}, ${momentText(last, zone)}`
      : `To, ${momentText(to, zone)}, is not after From, ${momentText(from, zone)}`,
  )
}

function readFrom(text: string, { bounds, now, zone }: WindowBase): number {
  const { start, end = now } = bounds
  const isEmpty = text.trim() === ''
  if (isEmpty && start !== undefined) return start
  if (isEmpty) throw new Error('From needs a time: -10min is ten minutes ago')
  if (NOW.test(text)) return end
  const context = {
    start: fromMillis(1000 * (start ?? now)),
    end: fromMillis(1000 * end),
    now,
    zone: zoneOf(zone),
  }
  const dates = datesOf(text, context, start ?? now)
  if (dates !== undefined)
    return start === undefined
      ? (dates.findLast((date) => date <= now) ?? dates[0]!)
      : (dates.find((date) => date >= start) ?? dates.at(-1)!)
  const moment = toSeconds(parseTimeArgument(text, context))
  // A host has no start that an interval could be counted from.
  if (start === undefined && moment > now && /^\s*\+?\s*\d/.test(text))
    throw atCaret(text, 0, 'counts from the start, which a host does not have: a minus counts back from now')
  return moment
}

function readTo(text: string, from: number, { bounds, now, zone }: WindowBase): number {
  const context = {
    start: fromMillis(1000 * from),
    end: fromMillis(1000 * (bounds.end ?? now)),
    now,
    zone: zoneOf(zone),
  }
  const dates = datesOf(text, context, from)
  if (dates !== undefined) return dates.find((date) => date > from) ?? dates.at(-1)!
  return toSeconds(parseTimeArgument(text, context))
}

/** The moments that an absolute date may mean, around `around`, ascending; undefined for any other text. */
function datesOf(text: string, context: FreeDateContext, around: number): number[] | undefined {
  const trimmed = text.trim()
  const isDate = trimmed.startsWith('@') || ISO_DATE.test(trimmed) || TIME_OF_DAY.test(trimmed)
  if (!isDate) return undefined
  const date = trimmed.replace(/^@\s*/, '').replace(/^(\d{4}-\d\d-\d\d)T/, '$1 ')
  const { zone } = context
  const read = (start: Timestamp): Timestamp =>
    TIME_OF_DAY.test(date)
      ? parseTimeArgument(`@${date}`, { ...context, start, now: start.sec })
      : parseCtimeDate(date, start, zone)
  try {
    const moments = basesAround(around, zone).map((sec) => toSeconds(read({ sec, nsec: 0 })))
    return [...new Set(moments)].sort((a, b) => a - b)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return [toSeconds(parseTimeArgument(`@${date}`, context))]
  }
}

/** Midnights that a date is completed from: those of the days, months and years about a moment. */
function basesAround(sec: number, zone: Zone): number[] {
  const { year, month, day } = localTime(Math.floor(sec), zone)
  const today = daysOf(year, month, day)
  const days = [today - 1, today, today + 1]
  for (const by of [-1, 0, 1]) days.push(daysOf(year, month + by, 1), daysOf(year + by, 1, 1))
  return days.map((days) => localMoment(days, 0, zone))
}
