/** Parses whole windows typed into one field: `last hour`, `yesterday`, `03:00 to 04:00`, or a moment to show. */
import { dateOf, daysOf } from '../../time/calendar.ts'
import { parseInterval } from '../../time/interval.ts'
import { localMoment, localTime } from '../../time/zone.ts'
import {
  checkedWidth,
  type ReadWindow,
  readMoment,
  readWindow,
  type WindowBase,
  zoneOf,
} from './read-window.ts'

/** Examples of accepted texts, for messages and hints. */
const ACCEPTED =
  '02:45 · yesterday 14:00 · 2026-11-28 03:10 · -10min · an hour ago · noon · last hour · today · 03:00 to 04:00'

/** A hyphen only before a time of day or a date: before an interval it means earlier. */
const BETWEEN = /^(.+?)\s+(?:to|until|–|—|->|→|-(?=\s\d+[-:]))\s+(.+)$/i
const BEFORE_NOW = /^(?:the\s+)?(?:last|past)\s+(.+)$/i
const DAY = /^(today|yesterday|\d{4}-\d\d-\d\d)$/i
const WEEKDAY_OR_MONTH = /^(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*|month|year)\b/i
/** Longest text that is read; longer ones cannot be a time. */
const LONGEST = 200

/** Does a text contain both ends of a window? */
export function isRange(text: string): boolean {
  const trimmed = text.trim()
  return BETWEEN.test(trimmed) || BEFORE_NOW.test(trimmed)
}

/**
 * Parses a window. `A to B` has the syntax of From and To; `last hour` and `-10min` end now, or at the end of an archive; a day is shown
 * whole; any other moment gets the current width around it, or from it on (`isStart`). Throws an Error that points at the mistake and lists
 * the accepted forms.
 */
export function readRange(text: string, base: WindowBase, isStart = false): ReadWindow {
  const trimmed = text.trim()
  try {
    if (trimmed === '' || trimmed.length > LONGEST) throw new Error('Enter a time')
    return checkedWidth(readAny(trimmed, base, isStart))
  } catch (error) {
    throw withAccepted(error)
  }
}

function readAny(trimmed: string, base: WindowBase, isStart: boolean): ReadWindow {
  const between = BETWEEN.exec(trimmed)
  if (between !== null) return readWindow({ from: between[1]!, to: between[2]! }, base)
  const back = BEFORE_NOW.exec(trimmed)?.[1]
  if (back !== undefined && !WEEKDAY_OR_MONTH.test(back)) return latest(secondsOf(back, trimmed), base)
  if (trimmed.startsWith('-')) return readWindow({ from: trimmed, to: 'now' }, base)
  if (DAY.test(trimmed)) return wholeDay(trimmed.toLowerCase(), base)
  if (/^now$/i.test(trimmed)) return latest(base.frame.to - base.frame.from, base)
  const at = readMoment(trimmed, base)
  return isStart ? startingAt(at, base) : around(at, base)
}

/** Returns an error that also lists the accepted forms. */
export function withAccepted(error: unknown): Error {
  const message = error instanceof Error ? error.message.trimEnd() : String(error)
  return new Error(`${message}\nAccepted: ${ACCEPTED}`, { cause: error })
}

/** Parses `hour`, `3 hours`, `10min`, `2 weeks`. */
function secondsOf(text: string, whole: string): number {
  const [, count = '1', unit = ''] = /^(\d+(?:\.\d+)?)?\s*(.*)$/.exec(text)!
  const weeks = /^weeks?$/i.test(unit)
  let seconds = 0
  try {
    const { sec, nsec } = parseInterval(weeks ? `${Number(count) * 7} days` : `${count} ${unit}`)
    seconds = sec + nsec / 1e9
  } catch {}
  if (seconds > 0) return seconds
  throw new Error(`${whole}: not a duration; use seconds, minutes, hours, days or weeks`)
}

function latest(seconds: number, { bounds, now }: WindowBase): ReadWindow {
  const to = bounds.end ?? now
  return { from: Math.max(to - seconds, bounds.start ?? -Infinity), to, isLive: bounds.end === undefined }
}

/** Returns a day from midnight to midnight, in daylight saving time of 23 to 25 hours; today until now. */
function wholeDay(text: string, base: WindowBase): ReadWindow {
  const zone = zoneOf(base.zone)
  const [year, month, date] = text.split('-').map(Number)
  const local = localTime(Math.floor(base.now), zone)
  const today = daysOf(local.year, local.month, local.day)
  const day = text === 'today' ? today : text === 'yesterday' ? today - 1 : daysOf(year!, month!, date!)
  const written = dateOf(day)
  if (date !== undefined && (written.month !== month || written.day !== date))
    throw new Error(`${text} is not a date`)
  if (day < 0) throw new Error(`${text} is before 1970`)
  const isToday = day === today
  const [from, to] = [localMoment(day, 0, zone), localMoment(day + 1, 0, zone)]
  const { isLive, ...shown } = within({ from, to: isToday ? base.now : to }, base)
  return isToday && isLive ? { ...shown, isLive, since: from } : { ...shown, isLive: false }
}

function around(at: number, base: WindowBase): ReadWindow {
  const half = (base.frame.to - base.frame.from) / 2
  within({ from: at, to: at + half }, base) // rejects moments without data
  const last = base.bounds.end ?? base.now
  const to = Math.min(at + half, last)
  return { from: to - 2 * half, to, isLive: false }
}

function startingAt(at: number, base: WindowBase): ReadWindow {
  const { frame } = base
  return { ...within({ from: at, to: at + frame.to - frame.from }, base), isLive: false }
}

/** Limits a window to what there is. Throws if nothing is left. */
function within({ from, to }: { readonly from: number; readonly to: number }, base: WindowBase): ReadWindow {
  const { start = -Infinity, end = base.now } = base.bounds
  if (from >= end)
    throw new Error(
      base.bounds.end === undefined ? 'That is in the future' : 'That is after the end of the archive',
    )
  if (to <= start) throw new Error('That is before the start of the archive')
  return { from: Math.max(from, start), to: Math.min(to, end), isLive: base.bounds.end === undefined }
}
