/** Dates in the order of ctime(3), used after `@` in time arguments: `@Tue Nov 14 10:30:00 2023`. pmParseTimeWindow(3) */
import type { Timestamp } from '../base/timestamp.ts'
import { daysOf } from './calendar.ts'
import { monthOfName, weekdayOfName } from './calendar-words.ts'
import { caretError } from './caret.ts'
import { localMoment, localTime, type Zone } from './zone.ts'

/** Fields of a date; undefined if not given. */
interface Fields {
  weekday?: number
  month?: number
  day?: number
  hour?: number
  minute?: number
  second?: number
  nsec?: number
  year?: number
}

const UNEXPECTED = 'unexpected value'
const INCOMPLETE = 'more information expected'

/**
 * Returns the time of a date. Fields larger than the first one given default to those of `start`, smaller ones to zero. A date
 * before `start` without a year may mean the next day, month or year. Throws a SyntaxError in PCP's format, also for an hour
 * alone: `@12` is a free-form date and means today.
 */
export function parseCtimeDate(text: string, start: Timestamp, zone: Zone): Timestamp {
  return resolve(new CtimeReader(text).read(), start, zone)
}

/** Reads the optional fields in their fixed order. */
class CtimeReader {
  readonly #text: string
  readonly #fields: Fields = {}
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Fields {
    const fields = this.#fields
    const weekday = this.#word(weekdayOfName)
    if (weekday !== undefined) fields.weekday = weekday
    const month = this.#word(monthOfName)
    if (month !== undefined) fields.month = month
    this.#dayAndHour()
    this.#minutes()
    this.#meridian()
    this.#year()
    this.#blanks()
    if (this.#at < this.#text.length) this.#fail(this.#at)
    if (!isEnough(fields)) throw caretError(this.#text, this.#at, INCOMPLETE)
    return fields
  }

  /** Reads one or two numbers. A number alone or before a colon is an hour if in range; otherwise, and before another number, a day. */
  #dayAndHour(): void {
    const fields = this.#fields
    const first = this.#number()
    if (first === undefined) return
    if (first.value >= 1900 && first.digits >= 4) {
      this.#at = first.at // a year, read later
      return
    }
    const isDay =
      first.value > 23 || (!this.#colonFollows() && (fields.month !== undefined || this.#anotherFollows()))
    if (!isDay) {
      fields.hour = first.value
      return
    }
    if (first.value > 31) this.#fail(first.at)
    // Day 0 is the last day of the month before; without a month it counts as not given.
    if (first.value > 0 || fields.month !== undefined) fields.day = first.value
    const second = this.#number()
    if (second === undefined) return
    if (second.value >= 1900 && second.digits >= 4) this.#at = second.at
    else if (second.value > 23) this.#fail(second.at)
    else fields.hour = second.value
  }

  #colonFollows(): boolean {
    return /^ *:/.test(this.#text.slice(this.#at))
  }

  #anotherFollows(): boolean {
    const number = this.#number()
    if (number === undefined) return false
    this.#at = number.at
    return number.value < 1900
  }

  #minutes(): void {
    const fields = this.#fields
    if (!this.#take(':')) return
    fields.hour ??= 0
    fields.minute = this.#part(59)
    if (!this.#take(':')) return
    fields.second = this.#part(61)
    if (!this.#take('.')) return
    const digits = /^\d*/.exec(this.#text.slice(this.#at))![0]
    fields.nsec = Number(digits.slice(0, 9).padEnd(9, '0'))
    this.#at += digits.length
  }

  #meridian(): void {
    const fields = this.#fields
    const before = this.#at
    this.#blanks()
    const word = this.#text.slice(this.#at, this.#at + 2).toLowerCase()
    if (word !== 'am' && word !== 'pm') {
      this.#at = before
      return
    }
    if (fields.hour === undefined || fields.hour > 12) this.#fail(this.#at)
    this.#at += 2
    fields.hour = (fields.hour % 12) + (word === 'pm' ? 12 : 0)
  }

  #year(): void {
    const year = this.#number()
    if (year === undefined) return
    if (year.value < 1900) this.#fail(year.at)
    this.#fields.year = year.value
  }

  /** Reads a name of three letters. As in the reference, longer names are left to free-form dates. */
  #word(find: (word: string) => number | undefined): number | undefined {
    this.#blanks()
    const number = find(this.#text.slice(this.#at, this.#at + 3).toLowerCase())
    if (number !== undefined) this.#at += 3
    return number
  }

  #number(): { readonly at: number; readonly value: number; readonly digits: number } | undefined {
    const digits = /^ *(\d+)/.exec(this.#text.slice(this.#at))
    if (digits === null) return undefined
    const at = this.#at + digits[0].length - digits[1]!.length
    this.#at += digits[0].length
    return { at, value: Number(digits[1]), digits: digits[1]!.length }
  }

  /** Reads a number up to `most` after a colon, 0 if it is missing. */
  #part(most: number): number {
    const digits = /^\d*/.exec(this.#text.slice(this.#at))![0]
    const value = Number(digits)
    if (value > most) this.#fail(this.#at)
    this.#at += digits.length
    return value
  }

  #take(character: string): boolean {
    const before = this.#at
    this.#blanks()
    if (this.#text[this.#at] === character) {
      this.#at++
      return true
    }
    this.#at = before
    return false
  }

  #blanks(): void {
    while (this.#text[this.#at] === ' ') this.#at++
  }

  #fail(at: number): never {
    throw caretError(this.#text, at, UNEXPECTED)
  }
}

/** Returns whether the fields determine a time. An hour alone, or a weekday without day and month, is a free-form date. */
function isEnough({ weekday, month, day, hour, minute, year }: Fields): boolean {
  if (month !== undefined || day !== undefined) return true
  return weekday === undefined && (hour === undefined || minute !== undefined || year !== undefined)
}

function resolve(fields: Fields, start: Timestamp, zone: Zone): Timestamp {
  const from = localTime(start.sec, zone)
  if (Object.keys(fields).length === 0) return start
  let year = fields.year ?? from.year
  let month = fields.month ?? (fields.year === undefined ? from.month : 1)
  const isWithin = fields.year === undefined && fields.month === undefined
  let day = fields.day ?? (isWithin ? from.day : 1)
  const [hour, minute, second] = [fields.hour ?? 0, fields.minute ?? 0, fields.second ?? 0]
  if (fields.year === undefined && fields.month !== undefined) {
    if (fields.month < from.month) year++
  } else if (fields.year === undefined && fields.day !== undefined) {
    if (fields.day < from.day) month++
  } else if (fields.year === undefined && fields.minute !== undefined) {
    // As with days and months, only the largest field is compared.
    if (hour < from.hour) day++
  }
  const sec = localMoment(daysOf(year, month, day), hour * 3600 + minute * 60 + second, zone)
  return { sec, nsec: fields.nsec ?? 0 }
}
