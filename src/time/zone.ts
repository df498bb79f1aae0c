/** Time zones. pmNewZone(3), tzset(3) */
import { DAY, dateOf, daysOf, weekdayOf } from './calendar.ts'
import type { OffsetPeriod } from './offset.ts'
import { posixOffsets } from './posix-zone.ts'
import { tzifOffsets } from './tzif.ts'

/** A time zone: its name and its offset from UTC at any time. */
export interface Zone {
  /** As given and as shown in reports: `AEST-10`, `:Australia/Melbourne`. */
  readonly name: string
  /** Returns the UTC offset at a time in seconds since 1970 UTC. */
  readonly at: (sec: number) => OffsetPeriod
}

/** Local date and time. */
export interface LocalTime {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  /** 0 is Sunday. */
  readonly weekday: number
  /** Days since 1 January. */
  readonly yearday: number
  readonly zone: OffsetPeriod
}

const ALWAYS_UTC: OffsetPeriod = {
  offset: 0,
  isDst: false,
  abbreviation: 'UTC',
  from: -Infinity,
  until: Infinity,
}

/** Coordinated universal time. */
export const UTC: Zone = { name: 'UTC', at: () => ALWAYS_UTC }

/** Characters that PCP 7.2 allows in a zone, and the angle brackets of `<+03>-3`, which 6.0 allows too. */
const ALLOWED = /^[A-Za-z0-9/_+\-.:,"'<>]+$/

/**
 * Parses a zone as given by a user: `UTC`, `AEST-10AEDT,M10.1.0,M4.1.0/3`, `Australia/Melbourne`, `:Australia/Melbourne`. A name of
 * three characters gets `+0` appended; unknown names mean UTC. Undefined for a text that could name a file
 * outside the zone files. `readZone` reads a zone file by name. @see pmNewZone(3)
 */
export function newZone(text: string, readZone: (name: string) => Uint8Array | undefined): Zone | undefined {
  if (!ALLOWED.test(text) || text.startsWith('/') || text.startsWith(':/') || text.includes('..'))
    return undefined
  const name = text.length === 3 ? `${text}+0` : text
  return makeZone(name, readZone(name.replace(/^:/, '')))
}

/** Makes a zone from a zone file; without a valid one from its name as a rule, else UTC under that name. */
export function makeZone(name: string, bytes?: Uint8Array): Zone {
  const offsets = (bytes && tzifOffsets(bytes)) ?? (name.startsWith(':') ? undefined : posixOffsets(name))
  return { name, at: offsets === undefined ? UTC.at : remembering(offsets) }
}

/** Caches the last period: most times are in the same period as the one before. */
function remembering(offsets: (sec: number) => OffsetPeriod): (sec: number) => OffsetPeriod {
  let last: OffsetPeriod | undefined
  return (sec) => {
    if (last === undefined || sec < last.from || sec >= last.until) last = offsets(sec)
    return last
  }
}

/** Converts a time, in whole seconds since 1970 UTC, to local time. @see pmLocaltime(3) */
export function localTime(sec: number, zone: Zone): LocalTime {
  const offset = zone.at(sec)
  const local = sec + offset.offset
  const days = Math.floor(local / DAY)
  const rest = local - days * DAY
  const { year, month, day } = dateOf(days)
  return {
    year,
    month,
    day,
    hour: Math.floor(rest / 3600),
    minute: Math.floor(rest / 60) % 60,
    second: rest % 60,
    weekday: weekdayOf(days),
    yearday: days - daysOf(year, 1, 1),
    zone: offset,
  }
}

/**
 * Converts local time, as a day and seconds after its midnight, to seconds since 1970 UTC. An ambiguous local time is the later of
 * both. A skipped one is as far after the gap as the zone's standard time implies.
 * @see mktime(3)
 */
export function localMoment(days: number, seconds: number, zone: Zone): number {
  const local = days * DAY + seconds
  const before = zone.at(local - DAY).offset
  const after = zone.at(local + DAY).offset
  if (before === after) return local - before
  const early = local - before
  if (zone.at(early).offset === before) {
    const late = local - after
    return zone.at(late).offset === after && !zone.at(late).isDst ? late : early
  }
  return local - (zone.at(local - after).offset === after ? after : before)
}
