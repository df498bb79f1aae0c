/** The archives of a directory by the names that pmlogger gives them: `YYYYMMDD[.HH.MM][-NN]`, and `YYMMDD` of old. */
import { type ArchiveFile, archiveFilesIn } from '../../../archive-store/files.ts'

/** Names that begin with a date. */
const DATED = /^((?:\d\d)?\d\d[01]\d[0-3]\d)(?:$|[.-])/
/** Names with a date and nothing else are of whole days. */
const WHOLE_DAY = /^(?:\d\d)?\d\d[01]\d[0-3]\d$/
/** Names that pmlogger gives to parts of a day. */
const PART_OF_DAY = /^(?:\d\d)?\d\d[01]\d[0-3]\d\.\d\d\.\d\d(?:-\d\d)?$/

/** The date that a base name begins with, as written; undefined for names of another kind. */
export function dateOf(base: string): string | undefined {
  return DATED.exec(base)?.[1]
}

/** Is it the archive of a whole day? */
export function isWholeDay(base: string): boolean {
  return WHOLE_DAY.test(base)
}

/** Is it the archive of a part of a day, as pmlogger begins them? */
export function isPartOfDay(base: string): boolean {
  return PART_OF_DAY.test(base)
}

/** The date of a moment in the local zone: `20261120`. */
export function dayName(ms: number): string {
  const t = new Date(ms)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${t.getFullYear()}${two(t.getMonth() + 1)}${two(t.getDate())}`
}

/** The day before, whatever its length. */
export function dayBefore(ms: number): number {
  const t = new Date(ms)
  return new Date(t.getFullYear(), t.getMonth(), t.getDate() - 1, 12).getTime()
}

/** A date of either form as one of eight digits, so that they can be compared; the old form is of this century. */
export function fullDate(date: string): string {
  return date.length === 8 ? date : `20${date}`
}

/** Lists the files of archives whose names begin with a date, by name. Throws Node's error. */
export function datedFilesIn(dir: string): ArchiveFile[] {
  return archiveFilesIn(dir).filter(({ base }) => dateOf(base) !== undefined)
}
