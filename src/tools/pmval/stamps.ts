/** The times that rows from archives begin with. */
import type { Timestamp } from '../../base/timestamp.ts'
import { clockStamp, ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'

/** How times are written, and how many columns they take. */
export interface RowStamp {
  readonly width: number
  readonly text: (time: Timestamp) => string
}

/** Times of day to the millisecond; with -X once or twice dates, to the microsecond or nanosecond. */
export function rowStamp(level: number, zone: Zone): RowStamp {
  if (level === 0) return { width: 12, text: (time) => clockStamp(time, zone) }
  const digits = level === 1 ? 6 : 9
  const text = ({ sec, nsec }: Timestamp): string => {
    const date = ctime(sec, zone)
    const year = date.lastIndexOf(' ')
    return `${date.slice(0, year)}.${String(nsec).padStart(9, '0').slice(0, digits)}${date.slice(year)}`
  }
  return { width: 25 + digits, text }
}
