/** Time labels below charts, at round times of the shown zone, also across daylight saving changes. */
import type { Frame } from '../time/control.ts'
import { formatTime, offsetOf } from '../time/format.ts'

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400
const STEPS: readonly number[] = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 28, 56, 112].map((days) => days * DAY),
]

/** A time and its label. */
export interface TimeMark {
  readonly at: number
  readonly label: string
  /** The day, as in 2026-11-22. */
  readonly date: string
}

/** Returns at most `most` labels at round times of a zone. */
export function timeMarks({ from, to }: Frame, most: number, zone: string): TimeMark[] {
  const least = (to - from) / Math.max(1, most)
  const step = STEPS.find((size) => size >= least) ?? Math.ceil(least / DAY) * DAY
  const isLong = to - from > DAY
  return roundTimes(from, to, step, zone).map((at) => {
    const text = formatTime(at + 1e-4, zone)
    return { at, label: labelOf(at, step, isLong, text), date: text.slice(0, 10) }
  })
}

/** Widths of labels such as 18:20 and 18:20:30 with a gap, and room to the right of a plot, in pixels. */
const [MINUTES_WIDTH, SECONDS_WIDTH, RIGHT] = [48, 72, 18]
/** Width of a date with a gap. */
const DATE_WIDTH = 78

/**
 * Returns labels for a plot of a width in pixels. Texts that would be cut off at its right edge are empty, and so is the date of the first
 * label if that of the second one would touch it.
 */
export function marksIn(frame: Frame, width: number, zone: string): TimeMark[] {
  const scale = (frame.to - frame.from) / width
  // Labels of marks less than a minute apart are longer.
  const each = MINUTES_WIDTH * scale > 30 ? MINUTES_WIDTH : SECONDS_WIDTH
  const marks = timeMarks(frame, width / each, zone)
  return marks.map(({ at, label, date }, i) => {
    const fitted = (text: string): string => ((frame.to - at) / scale + RIGHT < 3.5 * text.length ? '' : text)
    const next = i === 0 && !label.includes('-') ? marks[1] : undefined
    const isNear = next !== undefined && next.date !== date && next.at - at < DATE_WIDTH * scale
    return { at, label: fitted(label), date: isNear ? '' : fitted(date) }
  })
}

/** Adds the date to labels, below the first one and where a day begins; dates get the year. */
export function withDates(marks: readonly TimeMark[]): string[] {
  let known = ''
  return marks.map(({ label, date }) => {
    const added = label.includes('-') ? date.slice(0, 4) : date
    if (known.startsWith(added)) return label
    known = date
    return `${label}\n${added}`
  })
}

/** Returns the times that are multiples of `step` on the clocks of a zone. */
function roundTimes(from: number, to: number, step: number, zone: string): number[] {
  const times: number[] = []
  let offset = offsetOf(from, zone)
  for (let i = Math.ceil((from + offset) / step); i * step - offset <= to; i++) {
    const changed = offsetOf(i * step - offset, zone)
    if (changed !== offset) {
      offset = changed
      // Continues with the new offset, which may have changed between the two steps.
      i = Math.floor(((times.at(-1) ?? from) + offset) / step) + 1
      while (i * step - offset <= to && offsetOf(i * step - offset, zone) !== offset) i++
      if (i * step - offset > to) break
    }
    times.push(i * step - offset)
  }
  return times
}

/** Returns the shortest distinguishable label; for steps within several days midnight is shown as a date. */
function labelOf(at: number, step: number, isLong: boolean, text: string): string {
  const date = text.slice(5, 10)
  if (step >= DAY) return date
  if (step >= MINUTE) return isLong && text.endsWith(' 00:00:00') ? date : text.slice(11, 16)
  return step >= 1 ? text.slice(11) : `${text.slice(14)}.${(at - Math.floor(at)).toFixed(3).slice(2)}`
}
