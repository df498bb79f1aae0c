/** Formatting of times and intervals. pmCtime(3), pmPrintStamp(3), pmtimespecPrint(3) */
import type { Timestamp } from '../base/timestamp.ts'
import { DAY } from './calendar.ts'
import { localTime, type Zone } from './zone.ts'

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Formats seconds since 1970 UTC as `Tue Nov 14 10:30:00 2023`, without fractions and newline. @see pmCtime(3) */
export function ctime(sec: number, zone: Zone): string {
  const { year, month, day, hour, minute, second, weekday } = localTime(Math.floor(sec), zone)
  const date = `${WEEKDAYS[weekday]} ${MONTHS[month - 1]} ${String(day).padStart(2)}`
  return `${date} ${two(hour)}:${two(minute)}:${two(second)} ${year}`
}

/** Formats a time of day as `10:30:00.123`, truncated to milliseconds. @see pmPrintStamp(3) */
export function clockStamp({ sec, nsec }: Timestamp, zone: Zone): string {
  return `${clock(sec, zone)}.${String(Math.floor(nsec / 1e6)).padStart(3, '0')}`
}

/** Formats a time of day with nanoseconds: `10:30:00.123456789`. @see pmtimespecPrint(3) */
export function clockStampNanos({ sec, nsec }: Timestamp, zone: Zone): string {
  return `${clock(sec, zone)}.${String(nsec).padStart(9, '0')}`
}

/**
 * Formats an interval: `1h1m1.5s`. As in PCP, a unit appears only if there is more than one of it, so an hour is `60m0s`, and
 * the sign is dropped. @see pmtimespecPrintInterval(3)
 */
export function intervalStr({ sec, nsec }: Timestamp): string {
  let rest = Math.abs(sec)
  let text = ''
  if (rest > 3600) {
    text += `${Math.floor(rest / 3600)}h`
    rest %= 3600
  }
  if (rest > 60) {
    text += `${Math.floor(rest / 60)}m`
    rest %= 60
  }
  const fraction = nsec === 0 ? '' : `.${String(nsec).padStart(9, '0').replace(/0+$/, '')}`
  return `${text}${rest}${fraction}s`
}

/**
 * Converts seconds to a timestamp. Up to 999,999 seconds nanoseconds are kept; beyond that a double is exact only to
 * microseconds. @see pmtimespecFromReal(3)
 */
export function fromSeconds(seconds: number): Timestamp {
  const sec = Math.floor(seconds)
  const fraction = seconds - sec
  const nsec =
    Math.abs(seconds) < 1_000_000 ? Math.floor(fraction * 1e9 + 0.5) : Math.floor(fraction * 1e6 + 0.5) * 1000
  return nsec === 1e9 ? { sec: sec + 1, nsec: 0 } : { sec, nsec }
}

function clock(sec: number, zone: Zone): string {
  const local = sec + zone.at(sec).offset
  const rest = local - Math.floor(local / DAY) * DAY
  return `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}
