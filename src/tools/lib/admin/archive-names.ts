/** Finding archives by the names that pmlogger gives them: `YYYYMMDD[.HH.MM][-NN]`, formerly `YYMMDD`. */
import { type ArchiveFile, archiveFilesIn } from '../../../archive-store/files.ts'

/** Names that begin with a date. */
const DATED = /^((?:\d\d)?\d\d[01]\d[0-3]\d)(?:$|[.-])/
const WHOLE_DAY = /^(?:\d\d)?\d\d[01]\d[0-3]\d$/
const PART_OF_DAY = /^(?:\d\d)?\d\d[01]\d[0-3]\d\.\d\d\.\d\d(?:-\d\d)?$/

/** Returns the date at the beginning of a base name, as written; undefined for other names. */
export function dateOf(base: string): string | undefined {
  return DATED.exec(base)?.[1]
}

/** Is it the archive of a whole day? The name is a date and nothing else. */
export function isWholeDay(base: string): boolean {
  return WHOLE_DAY.test(base)
}

/** Is it an archive of a part of a day, named with date and time as pmlogger does? */
export function isPartOfDay(base: string): boolean {
  return PART_OF_DAY.test(base)
}

/** Formats the local date of a time in milliseconds: `20261120`. */
export function dayName(ms: number): string {
  const t = new Date(ms)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${t.getFullYear()}${two(t.getMonth() + 1)}${two(t.getDate())}`
}

/** Returns noon of the day before in the local zone, as days differ in length. */
export function dayBefore(ms: number): number {
  const t = new Date(ms)
  return new Date(t.getFullYear(), t.getMonth(), t.getDate() - 1, 12).getTime()
}

/** Returns a date as eight digits, to compare both forms; six digits are of this century. */
export function fullDate(date: string): string {
  return date.length === 8 ? date : `20${date}`
}

/** Lists the files of archives whose names begin with a date, sorted by name. Throws Node's error. */
export function datedFilesIn(dir: string): ArchiveFile[] {
  return archiveFilesIn(dir).filter(({ base }) => dateOf(base) !== undefined)
}
