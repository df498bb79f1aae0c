/** The lines above the values, the headings of their columns, and the times in front of rows. */
import { byteWidth, formatF, rightJustify } from '../../base/printf.ts'
import { decodeText, encodeText } from '../../base/text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { rateUnits } from '../../model/rate.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_SEM_INSTANT } from '../../model/types.ts'
import { unitsStr, unpackUnits } from '../../model/units.ts'
import { clockStamp, ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import type { Schedule } from './schedule.ts'
import type { Column, Subject } from './subject.ts'

/** The lines above the values. */
export function headerLines(
  subject: Subject,
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

/** Rates end with blanks behind their point, so that their names stand this much further left, where they fit. */
const SHIFT = 3

/** How names stand above their columns: decided once, by the names at the start. */
export class Headings {
  readonly #width: number
  readonly #shift: number
  readonly #margin: string
  /** Names in full, where they do not fit their columns. */
  readonly fullNames: string

  /** `margin`: columns in front of the first one. */
  constructor(columns: readonly Column[], width: number, isShiftable: boolean, margin: number) {
    const longest = Math.max(0, ...columns.map(({ name }) => byteWidth(name)))
    this.#width = width
    this.#margin = ' '.repeat(margin)
    this.#shift = isShiftable && longest <= width - SHIFT ? SHIFT : 0
    const line = ({ name }: Column, i: number): string => `full label for instance[${i}]: ${name}\n`
    this.fullNames = longest > width ? columns.map(line).join('') : ''
  }

  /** A blank line and the names. */
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
