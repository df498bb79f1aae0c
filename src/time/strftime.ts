/** Formatting of times by patterns: `%H:%M:%S`. strftime(3) in the C locale */
import { dateOf, daysOf } from './calendar.ts'
import { type LocalTime, localTime, type Zone } from './zone.ts'

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** A time with all fields that conversions use. */
interface Moment extends LocalTime {
  readonly sec: number
  /** Microseconds of the second, for `%f`. */
  readonly usec: number
}

const two = (n: number): string => (n < 10 ? `0${n}` : String(n))

const CONVERSIONS: Readonly<Record<string, (t: Moment) => string>> = {
  a: (t) => DAYS[t.weekday]!.slice(0, 3),
  A: (t) => DAYS[t.weekday]!,
  b: (t) => MONTHS[t.month - 1]!.slice(0, 3),
  B: (t) => MONTHS[t.month - 1]!,
  c: (t) => expand('%a %b %e %H:%M:%S %Y', t),
  C: (t) => two(Math.floor(t.year / 100)),
  d: (t) => two(t.day),
  D: (t) => expand('%m/%d/%y', t),
  e: (t) => String(t.day).padStart(2),
  f: (t) => String(t.usec).padStart(6, '0'),
  F: (t) => expand('%Y-%m-%d', t),
  g: (t) => two(isoWeek(t).year % 100),
  G: (t) => String(isoWeek(t).year),
  h: (t) => MONTHS[t.month - 1]!.slice(0, 3),
  H: (t) => two(t.hour),
  I: (t) => two(t.hour % 12 || 12),
  j: (t) => String(t.yearday + 1).padStart(3, '0'),
  k: (t) => String(t.hour).padStart(2),
  l: (t) => String(t.hour % 12 || 12).padStart(2),
  m: (t) => two(t.month),
  M: (t) => two(t.minute),
  n: () => '\n',
  p: (t) => (t.hour < 12 ? 'AM' : 'PM'),
  P: (t) => (t.hour < 12 ? 'am' : 'pm'),
  r: (t) => expand('%I:%M:%S %p', t),
  R: (t) => expand('%H:%M', t),
  s: (t) => String(t.sec),
  S: (t) => two(t.second),
  t: () => '\t',
  T: (t) => expand('%H:%M:%S', t),
  u: (t) => String(t.weekday || 7),
  U: (t) => two(Math.floor((t.yearday + 7 - t.weekday) / 7)),
  V: (t) => two(isoWeek(t).week),
  w: (t) => String(t.weekday),
  W: (t) => two(Math.floor((t.yearday + 7 - ((t.weekday + 6) % 7)) / 7)),
  x: (t) => expand('%m/%d/%y', t),
  X: (t) => expand('%H:%M:%S', t),
  y: (t) => two(t.year % 100),
  Y: (t) => String(t.year),
  z: (t) => offsetText(t.zone.offset),
  Z: (t) => t.zone.abbreviation,
  '%': () => '%',
}

/** Formats a time. Unknown conversions stay unchanged; `%f` is microseconds. @see strftime(3) */
export function strftime(format: string, sec: number, zone: Zone, nsec = 0): string {
  return expand(format, { ...localTime(sec, zone), sec, usec: Math.floor(nsec / 1000) })
}

function expand(format: string, time: Moment): string {
  return format.replaceAll(/%(.)/gs, (whole, letter: string) => CONVERSIONS[letter]?.(time) ?? whole)
}

function offsetText(offset: number): string {
  const minutes = Math.floor(Math.abs(offset) / 60)
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`
}

/** Returns the ISO 8601 week: the first week contains the year's first Thursday. */
function isoWeek({ year, month, day, weekday }: LocalTime): { readonly year: number; readonly week: number } {
  const thursday = daysOf(year, month, day) + 4 - (weekday || 7)
  const { year: of } = dateOf(thursday)
  return { year: of, week: Math.floor((thursday - daysOf(of, 1, 1)) / 7) + 1 }
}
