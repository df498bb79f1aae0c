/** Names of archives that hold the time: `%Y%m%d.%H.%M`. strftime(3), pmlogger(1) */
import { PcpError } from '../model/errors.ts'

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

const two = (n: number): string => String(n).padStart(2, '0')

/** What each conversion gives in the process's own zone. */
const CONVERSIONS: Readonly<Record<string, (t: Date) => string>> = {
  a: (t) => DAYS[t.getDay()]!.slice(0, 3),
  A: (t) => DAYS[t.getDay()]!,
  b: (t) => MONTHS[t.getMonth()]!.slice(0, 3),
  B: (t) => MONTHS[t.getMonth()]!,
  C: (t) => two(Math.floor(t.getFullYear() / 100)),
  d: (t) => two(t.getDate()),
  D: (t) => expand('%m/%d/%y', t),
  e: (t) => String(t.getDate()).padStart(2),
  F: (t) => expand('%Y-%m-%d', t),
  h: (t) => MONTHS[t.getMonth()]!.slice(0, 3),
  H: (t) => two(t.getHours()),
  I: (t) => two(t.getHours() % 12 || 12),
  j: (t) => String(dayOfYear(t)).padStart(3, '0'),
  m: (t) => two(t.getMonth() + 1),
  M: (t) => two(t.getMinutes()),
  p: (t) => (t.getHours() < 12 ? 'AM' : 'PM'),
  R: (t) => expand('%H:%M', t),
  s: (t) => String(Math.floor(t.getTime() / 1000)),
  S: (t) => two(t.getSeconds()),
  T: (t) => expand('%H:%M:%S', t),
  u: (t) => String(t.getDay() || 7),
  w: (t) => String(t.getDay()),
  y: (t) => two(t.getFullYear() % 100),
  Y: (t) => String(t.getFullYear()),
  '%': () => '%',
}

function expand(name: string, time: Date): string {
  return name.replaceAll(/%(.)/g, (whole, letter: string) => CONVERSIONS[letter]?.(time) ?? whole)
}

function dayOfYear(t: Date): number {
  const noon = (year: number, month: number, day: number): number => Date.UTC(year, month, day, 12)
  return Math.round(
    (noon(t.getFullYear(), t.getMonth(), t.getDate()) - noon(t.getFullYear(), 0, 0)) / 86_400_000,
  )
}

/** Archives of one name that may be told apart by a number. */
const MAX_SUFFIX = 98

/** Does a name hold the time, so that there is a new one later? */
export function hasTime(name: string): boolean {
  return name.includes('%')
}

/**
 * The name of an archive begun at a time, in milliseconds. A name that holds the time gets a number when `exists` knows it
 * already: -00, -01... EEXIST after -98. Other names are as given.
 */
export function archiveName(name: string, ms: number, exists: (base: string) => boolean): string {
  if (!hasTime(name)) return name
  const base = expand(name, new Date(ms))
  if (!exists(base)) return base
  for (let i = 0; i <= MAX_SUFFIX; i++) {
    const numbered = `${base}-${two(i)}`
    if (!exists(numbered)) return numbered
  }
  throw new PcpError('EEXIST', `${base}: there are ${MAX_SUFFIX + 2} archives of this name already`)
}
