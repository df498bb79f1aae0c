/** The header, the column headings, and the times of rows. */
import { byteWidth, formatF, rightJustify } from '../../base/printf.ts'
import { decodeText, encodeText } from '../../base/text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { rateUnits } from '../../model/rate.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_SEM_INSTANT } from '../../model/types.ts'
import { unitsStr, unpackUnits } from '../../model/units.ts'
import { clockStamp, ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import type { Schedule } from './schedule.ts'
import type { Column, ShownMetric } from './subject.ts'

/** Returns the lines before the values. */
export function headerLines(
  subject: ShownMetric,
  host: string,
  { samples, intervalSec, origin, finish, archive }: Schedule,
  zone: Zone,
): string {
  const { name, desc, isEvent, isRate } = subject
  let lines = isEvent ? '' : `metric:    ${name}\n`
  if (archive !== undefined) lines += `archive:   ${archive.name}\n`
  lines += `host:      ${host}\n`
  if (archive !== undefined) {
    lines += `start:     ${ctime(origin.sec, zone)}\n`
    if (Number.isFinite(finish.sec)) lines += `end:       ${ctime(finish.sec, zone)}\n`
  }
  if (!isEvent) {
    lines += `semantics: ${semantics(desc.sem)}${isRate ? ' (converting to rate)' : ''}\n`
    lines += `units:     ${unitsStr(desc.units) || 'none'}${isRate ? ` (converting to ${rateText(desc.units)})` : ''}\n`
  }
  lines += `samples:   ${samples ?? 'all'}\n`
  if (samples !== undefined && samples > 1 && archive?.isRaw !== true)
    lines += `interval:  ${formatF(intervalSec, 2)} sec\n`
  return lines
}

function semantics(sem: number): string {
  if (sem === PM_SEM_COUNTER) return 'cumulative counter'
  if (sem === PM_SEM_INSTANT) return 'instantaneous value'
  return sem === PM_SEM_DISCRETE ? 'discrete instantaneous value' : 'unknown'
}

function rateText(units: number): string {
  const text = unitsStr(rateUnits(units).units)
  if (text !== '') return text
  return unpackUnits(units).dimTime === 1 ? 'time utilization' : 'none'
}

/** Columns by which headings of rates are moved left, if they fit, as rates end with blanks. */
const SHIFT = 3

/** Headings of columns. Their layout is chosen once, from the initial names. */
export class Headings {
  readonly #width: number
  readonly #shift: number
  readonly #margin: string
  /** A legend of full names, if they do not fit their columns. */
  readonly fullNames: string

  /** `margin`: width before the first column. */
  constructor(columns: readonly Column[], width: number, isShiftable: boolean, margin: number) {
    const longest = Math.max(0, ...columns.map(({ name }) => byteWidth(name)))
    this.#width = width
    this.#margin = ' '.repeat(margin)
    this.#shift = isShiftable && longest <= width - SHIFT ? SHIFT : 0
    const line = ({ name }: Column, i: number): string => `full label for instance[${i}]: ${name}\n`
    this.fullNames = longest > width ? columns.map(line).join('') : ''
  }

  /** Returns an empty line and the names. */
  lines(columns: readonly Column[]): string {
    if (columns.length === 0) return '\n'
    const width = this.#width - this.#shift
    const names = columns.map(({ name }) => rightJustify(firstBytes(name, width), width))
    return `\n${this.#margin}${names.map((name) => `${name}${' '.repeat(this.#shift)} `).join('')}\n`
  }
}

function firstBytes(text: string, bytes: number): string {
  return byteWidth(text) <= bytes ? text : decodeText(encodeText(text).subarray(0, Math.max(0, bytes)))
}

/** Formats times, with their width. */
export interface RowStamp {
  readonly width: number
  readonly text: (time: Timestamp) => string
}

/** Returns the format of times: time of day to the millisecond; with -X dates and microseconds, with a second -X nanoseconds. */
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
