/** Time cells and zones of spreadsheets. sheet2pcp(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'

/** Order of day, month and year. */
export type DateFormat = 'DMY' | 'MDY' | 'YMD'

const CELL = /^\s*(\d+)[-/: ]+(\d+)[-/: ]+(\d+)[-/: T]+(\d+)[-/: ]+(\d+)(?:[-/: ]+(\d+)(?:\.\d*)?)?\s*$/
const ZONE = /^([-+])(\d\d)(\d\d)$/

/** Parses `+HHMM` to seconds east of UTC; undefined if invalid. */
export function parseOffset(text: string): number | undefined {
  const match = ZONE.exec(text)
  if (match === null || Number(match[3]) > 59) return undefined
  const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60
  return match[1] === '-' && seconds > 0 ? -seconds : seconds
}

/** Returns the time zone for an archive's label: POSIX counts westwards. */
export function zoneName(offset: number): string {
  if (offset === 0) return 'UTC'
  const minutes = Math.abs(offset) / 60
  const two = (n: number): string => String(n).padStart(2, '0')
  return `PCP${offset > 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** Parses a time cell in a zone. Throws PM_ERR_GENERIC with PCP's message. */
export function parseTime(text: string, format: DateFormat, offset: number): Timestamp {
  const match = CELL.exec(text)
  if (match === null) throw new PcpError('PM_ERR_GENERIC', `dodate: bad datetime format: "${text}"`)
  const fields = match.slice(1, 4).map(Number)
  const [day, month, year] = [...'DMY'].map((letter) => fields[format.indexOf(letter)]!)
  const [hour, minute, second] = match.slice(4).map((field) => Number(field ?? 0))
  return fromParts([fullYear(year!), month!, day!, hour!, minute!, second!], text, offset)
}

/** Converts a date in a zone to a timestamp. */
export function zonedTime(date: Date, text: string, offset: number): Timestamp {
  if (Number.isNaN(date.getTime()))
    throw new PcpError('PM_ERR_GENERIC', `dodate: bad datetime format: "${text}"`)
  const ms = date.getTime()
  const sec = Math.floor(ms / 1000)
  return { sec: sec - offset, nsec: Math.round(ms - sec * 1000) * 1_000_000 }
}

function fullYear(year: number): number {
  if (year >= 100) return year
  return year <= 80 ? 2000 + year : 1900 + year
}

function fromParts(parts: readonly number[], text: string, offset: number): Timestamp {
  const [year, month, day, hour, minute, second] = parts as [number, number, number, number, number, number]
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  const back = [
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ]
  // 31 February, 25 o'clock
  if (back.some((part, i) => part !== parts[i]))
    throw new PcpError('PM_ERR_GENERIC', `Failed to verify time formatted as "${text}"`)
  return { sec: date.getTime() / 1000 - offset, nsec: 0 }
}
