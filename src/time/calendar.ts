/** Conversion between dates and days since 1970-01-01 in the proleptic Gregorian calendar. */

/** Seconds in a day. */
export const DAY = 86_400

export interface CalendarDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
}

/** Days in 400 years, the period of the calendar. */
const ERA = 146_097
/** Days from 0000-03-01 to 1970-01-01. Years are counted from March, so that the leap day is the last. */
const EPOCH = 719_468

/** Returns the days from 1970-01-01 to a date; months and days out of range carry over. */
export function daysOf(year: number, month: number, day: number): number {
  const months = year * 12 + (month - 1)
  const shifted = months - 2 // counted from March
  const marchYear = Math.floor(shifted / 12)
  const monthOfYear = shifted - marchYear * 12
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * monthOfYear + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * ERA + dayOfEra - EPOCH
}

/** Returns the date that is so many days after 1970-01-01. */
export function dateOf(days: number): CalendarDate {
  const shifted = days + EPOCH
  const era = Math.floor(shifted / ERA)
  const dayOfEra = shifted - era * ERA
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthOfYear = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * monthOfYear + 2) / 5) + 1
  const month = monthOfYear < 10 ? monthOfYear + 3 : monthOfYear - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return { year, month, day }
}

/** Returns the weekday of a day counted from 1970-01-01; 0 is Sunday. */
export function weekdayOf(days: number): number {
  return (((days + 4) % 7) + 7) % 7
}

/** Returns whether a year has a 29 February. */
export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}
