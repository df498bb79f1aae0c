/** Time zones as values. pmNewZone(3), tzset(3) */
import { DAY, dateOf, daysOf, weekdayOf } from './calendar.ts'
import type { LocalOffset } from './offset.ts'
import { posixOffsets } from './posix-zone.ts'
import { tzifOffsets } from './tzif.ts'

/** A time zone. */
export interface Zone {
  /** As it was asked for, and as reports name it: `AEST-10`, `:Australia/Melbourne`. */
  readonly name: string
  /** What holds at a moment, in seconds since 1970 UTC. */
  readonly at: (sec: number) => LocalOffset
}

/** A moment as clocks and calendars of a zone show it. */
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
  readonly zone: LocalOffset
}

const ALWAYS_UTC: LocalOffset = {
  offset: 0,
  isDst: false,
  abbreviation: 'UTC',
  from: -Infinity,
  until: Infinity,
}

/** Coordinated universal time. */
export const UTC: Zone = { name: 'UTC', at: () => ALWAYS_UTC }

/** The characters PCP 7.2 allows in a zone's text, and the angle brackets of `<+03>-3` that 6.0 allows too. */
const ALLOWED = /^[A-Za-z0-9/_+\-.:,"'<>]+$/

/**
 * The zone a user names: `UTC`, `AEST-10AEDT,M10.1.0,M4.1.0/3`, `Australia/Melbourne`, `:Australia/Melbourne`. Three
 * characters alone get `+0` appended; names nobody knows behave as UTC. Undefined for a text that could name a file
 * outside the zone files or break out of one. `readZone` gives the bytes of the zone file of that name. @see pmNewZone(3)
 */
export function newZone(text: string, readZone: (name: string) => Uint8Array | undefined): Zone | undefined {
  if (!ALLOWED.test(text) || text.startsWith('/') || text.startsWith(':/') || text.includes('..'))
    return undefined
  const name = text.length === 3 ? `${text}+0` : text
  return makeZone(name, readZone(name.replace(/^:/, '')))
}

/** A zone from the bytes of its file; without a usable file from its name as a rule, else UTC by that name. */
export function makeZone(name: string, bytes?: Uint8Array): Zone {
  const offsets = (bytes && tzifOffsets(bytes)) ?? (name.startsWith(':') ? undefined : posixOffsets(name))
  return { name, at: offsets === undefined ? UTC.at : remembering(offsets) }
}

/** Most moments asked for lie between the same two changes of the clock as the one before. */
function remembering(offsets: (sec: number) => LocalOffset): (sec: number) => LocalOffset {
  let last: LocalOffset | undefined
  return (sec) => {
    if (last === undefined || sec < last.from || sec >= last.until) last = offsets(sec)
    return last
  }
}

/** Takes a moment apart. `sec` is whole seconds since 1970 UTC. @see pmLocaltime(3) */
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
 * Seconds since 1970 UTC of a moment that calendars and clocks of a zone show: a day, and seconds after its midnight as clocks
 * show them. Of two moments shown alike the later one, and for one that clocks skip as far after the skip, where the zone's
 * standard time says so. @see mktime(3)
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
