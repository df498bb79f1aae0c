/** Free-form dates: `2023-11-14 10:30`, `2 hours ago`, `next monday`. pmParseTimeWindow(3) */
import type { Timestamp } from '../base/timestamp.ts'
import { DAY, daysOf, weekdayOf } from './calendar.ts'
import { readTokens, type Token, type Unit, unitOf } from './free-date-words.ts'
import { localMoment, localTime, type Zone } from './zone.ts'

/** Reference times of a free-form date. */
export interface FreeDateContext {
  readonly start: Timestamp
  /** FOREVER if unbounded. */
  readonly end: Timestamp
  /** The wall clock, in seconds since the epoch. */
  readonly now: number
  readonly zone: Zone
}

/** Parses a free-form date; undefined if the text is not a date. */
export function parseFreeDate(text: string, context: FreeDateContext): Timestamp | undefined {
  const tokens = readTokens(text)
  if (tokens === undefined) return undefined
  const parser = new FreeDateParser(tokens)
  return parser.parse() ? resolve(parser, baseOf(text, context), context.zone) : undefined
}

/**
 * Returns the base of relative items, in seconds: a unit after another word is relative to the start, or to the end with
 * `ago`, `last` or a leading minus; everything else is relative to the wall clock.
 */
function baseOf(text: string, { start, end, now }: FreeDateContext): number {
  const words = text.trim().toLowerCase().split(/\s+/)
  const hasUnit = words.some((word, i) => i > 0 && unitOf(word) !== undefined)
  if (!hasUnit) return now
  const isBackward = words.includes('ago') || words.includes('last') || words[0]!.startsWith('-')
  return isBackward && Number.isFinite(end.sec) ? end.sec : start.sec
}

interface ClockTime {
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly nsec: number
}

interface Written {
  readonly year: number | undefined
  readonly month: number
  readonly day: number
}

/** Reads items in any order, at most one each of time, zone, date and weekday. */
class FreeDateParser {
  readonly #tokens: readonly Token[]
  #at = 0
  time: ClockTime | undefined
  /** Minutes west of UTC. */
  zone: number | undefined
  date: Written | undefined
  weekday: { readonly number: number; readonly ordinal: number } | undefined
  /** A relative day such as `today` was given, so the time defaults to midnight. */
  isWholeDay = false
  hasRelative = false
  relative: Readonly<Record<Unit, number>> = { second: 0, day: 0, month: 0 }

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  /** Reads all tokens; returns false if they are not a date. */
  parse(): boolean {
    while (this.#at < this.#tokens.length) if (!this.#item()) return false
    return true
  }

  #item(): boolean {
    const token = this.#tokens[this.#at]!
    switch (token.kind) {
      case 'number':
        return token.fraction === undefined && (token.isSigned ? this.#signed(token.value) : this.#unsigned())
      case 'unit':
        this.#at++
        this.#add(token, 1)
        return this.#ago()
      case 'day':
        this.#at++
        return this.#wholeDay(token.value)
      case 'weekday':
        this.#at++
        if (this.#peek('mark')?.text === ',') this.#at++
        return this.#setWeekday(token.value, 1)
      case 'month':
        return this.#monthFirst(token.value)
      case 'zone':
        return this.#zone(token)
      default:
        return false
    }
  }

  #unsigned(): boolean {
    const first = this.#number()!.value
    const next = this.#tokens[this.#at]
    if (next?.kind === 'mark' && next.text === ':') return this.#clock(first)
    if (next?.kind === 'mark' && next.text === '/') return this.#slashes(first)
    if (next?.kind === 'number' && next.isSigned) return this.#iso(first)
    if (next?.kind === 'meridian') {
      this.#at++
      return this.#setTime(first, 0, 0, 0, next.value)
    }
    if (next?.kind === 'month') return this.#dayFirst(first, next.value)
    if (next?.kind === 'weekday') {
      this.#at++
      return this.#setWeekday(next.value, first)
    }
    if (next?.kind === 'unit') return this.#signed(first, false)
    return this.#lone(first)
  }

  /** Reads a number and a unit. */
  #signed(value: number, isHere = true): boolean {
    if (isHere) this.#at++
    const unit = this.#peek('unit')
    if (unit === undefined) return false
    this.#at++
    this.#add(unit, value)
    return this.#ago()
  }

  /** Reads a number alone: a year once date and time are known, YYYYMMDD, or a time as hh or hhmm. */
  #lone(value: number): boolean {
    if (this.time !== undefined && this.date !== undefined && !this.hasRelative) {
      this.date = { ...this.date, year: value }
      return true
    }
    if (value > 10_000)
      return this.#setDate(Math.floor(value / 10_000), Math.floor(value / 100) % 100, value % 100)
    return value < 100
      ? this.#setTime(value, 0, 0, 0)
      : this.#setTime(Math.floor(value / 100), value % 100, 0, 0)
  }

  #clock(hour: number): boolean {
    this.#at++
    const minute = this.#number()
    if (minute === undefined || minute.fraction !== undefined) return false
    const second = this.#mark(':') ? this.#number(true) : { value: 0, fraction: undefined }
    if (second === undefined) return false
    const nsec = Number((second.fraction ?? '').slice(0, 9).padEnd(9, '0'))
    const zone = this.#peek('number')
    if (zone?.isSigned === true) {
      this.#at++
      return (
        this.#setTime(hour, minute.value, second.value, nsec) &&
        this.#setZone(-Math.sign(zone.value) * minutesOf(Math.abs(zone.value)))
      )
    }
    const meridian = this.#peek('meridian')
    if (meridian !== undefined) this.#at++
    return this.#setTime(hour, minute.value, second.value, nsec, meridian?.value)
  }

  /** Reads `11/14`, `11/14/23` or `2023/11/14`. */
  #slashes(first: number): boolean {
    this.#at++
    const second = this.#number()
    if (second === undefined) return false
    if (!this.#mark('/')) return this.#setDate(undefined, first, second.value)
    const third = this.#number()
    if (third === undefined) return false
    return first >= 1000
      ? this.#setDate(first, second.value, third.value)
      : this.#setDate(third.value, first, second.value)
  }

  /** Reads `2023-11-14`; month and day look like negative numbers. */
  #iso(year: number): boolean {
    const month = this.#number(true)
    const day = this.#peek('number')
    if (month === undefined || day?.isSigned !== true) return false
    this.#at++
    return this.#setDate(year, -month.value, -day.value)
  }

  /** Reads `14 Nov`, `14 Nov 2023` or `14-Nov-2023`. */
  #dayFirst(day: number, month: number): boolean {
    this.#at++
    const year = this.#number(true)
    return this.#setDate(year === undefined ? undefined : Math.abs(year.value), month, day)
  }

  /** Reads `Nov 14` or `Nov 14, 2023`. */
  #monthFirst(month: number): boolean {
    this.#at++
    const day = this.#number()
    if (day === undefined) return false
    if (!this.#mark(',')) return this.#setDate(undefined, month, day.value)
    const year = this.#number()
    return year !== undefined && this.#setDate(year.value, month, day.value)
  }

  #zone(token: Token & { readonly kind: 'zone' }): boolean {
    this.#at++
    const isSummer = this.#peek('dst') !== undefined
    if (isSummer) this.#at++
    return this.#setZone(token.value - (isSummer ? 60 : 0))
  }

  #wholeDay(days: number): boolean {
    if (this.isWholeDay) return false
    this.isWholeDay = true
    this.#add({ unit: 'day', value: 1 }, days)
    return this.#ago()
  }

  /** `ago` negates all relative items before it. */
  #ago(): boolean {
    if (this.#peek('ago') === undefined) return true
    this.#at++
    const { second, day, month } = this.relative
    this.relative = { second: -second, day: -day, month: -month }
    return true
  }

  #add({ unit, value }: { readonly unit: Unit; readonly value: number }, times: number): void {
    this.hasRelative = true
    this.relative = { ...this.relative, [unit]: this.relative[unit] + times * value }
  }

  #setTime(hour: number, minute: number, second: number, nsec: number, half?: 'am' | 'pm'): boolean {
    if (this.time !== undefined || minute > 59 || second > 59) return false
    if (half === undefined ? hour > 23 : hour < 1 || hour > 12) return false
    const hours = half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0)
    this.time = { hour: hours, minute, second, nsec }
    return true
  }

  #setDate(year: number | undefined, month: number, day: number): boolean {
    if (this.date !== undefined) return false
    this.date = { year, month, day }
    return true
  }

  #setWeekday(number: number, ordinal: number): boolean {
    if (this.weekday !== undefined) return false
    this.weekday = { number, ordinal }
    return true
  }

  #setZone(minutes: number): boolean {
    if (this.zone !== undefined) return false
    this.zone = minutes
    return true
  }

  #peek<K extends Token['kind']>(kind: K): (Token & { readonly kind: K }) | undefined {
    const token = this.#tokens[this.#at]
    return token?.kind === kind ? (token as Token & { readonly kind: K }) : undefined
  }

  #mark(text: string): boolean {
    if (this.#peek('mark')?.text !== text) return false
    this.#at++
    return true
  }

  #number(allowSign = false): (Token & { readonly kind: 'number' }) | undefined {
    const token = this.#peek('number')
    if (token === undefined || (token.isSigned && !allowSign)) return undefined
    this.#at++
    return token
  }
}

/** Converts `0530`, hours and minutes, to minutes. */
function minutesOf(hhmm: number): number {
  return Math.floor(hhmm / 100) * 60 + (hhmm % 100)
}

function resolve(parsed: FreeDateParser, base: number, zone: Zone): Timestamp | undefined {
  const { date, time, weekday, relative, hasRelative, isWholeDay } = parsed
  const from = localTime(base, zone)
  const isDated = date !== undefined || time !== undefined || weekday !== undefined
  const year = fullYear(date?.year ?? from.year)
  if (date !== undefined && !isDate(year, date.month, date.day)) return undefined
  const { month, day } = date ?? from
  let days = daysOf(year, month + relative.month, day) + relative.day
  if (weekday !== undefined && date === undefined) {
    const ahead = (weekday.number - weekdayOf(days) + 7) % 7
    days += ahead + 7 * (weekday.ordinal <= 0 ? weekday.ordinal : weekday.ordinal - 1)
  }
  const keepsTime = !isDated && hasRelative && !isWholeDay
  const { hour, minute, second } = time ?? (keepsTime ? from : { hour: 0, minute: 0, second: 0 })
  const seconds = hour * 3600 + minute * 60 + second
  const west = isDated ? parsed.zone : undefined
  const sec = west === undefined ? localMoment(days, seconds, zone) : days * DAY + seconds + west * 60
  return { sec: sec + relative.second, nsec: time?.nsec ?? 0 }
}

function fullYear(year: number): number {
  if (year >= 100) return year
  return year < 69 ? 2000 + year : 1900 + year
}

function isDate(year: number, month: number, day: number): boolean {
  if (year < 1970 || month < 1 || month > 12 || day < 1) return false
  return day <= daysOf(year, month + 1, 1) - daysOf(year, month, 1)
}
