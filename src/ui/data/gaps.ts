/**
 * Gaps in live values, while page, server or host were away, filled with the values recorded meanwhile.
 *
 *     live        ──────┤            ├──────
 *     recorded      · · · · ·    · · · · ·
 *     filled      ──────┼─·─·    ·─·─┼──────     stays a gap where nothing was recorded either
 */
import { firstAtOrAfter, type Line, mapColumns } from './line.ts'

/** Times of the last value before a gap and of the first value after it. */
export interface Gap {
  readonly start: number
  readonly end: number
}

/** Fills the holes of a line, in ascending order, with recorded values. `line` is undefined for an instance that existed only in the holes. */
export function fillGaps(line: Line | undefined, recorded: Line, holes: readonly Gap[]): Line {
  const { instance, times, values } = recorded
  const live = line ?? { instance, times: [], values: [] }
  const parts: Line[] = []
  let done = 0
  for (const { start, end } of holes) {
    const at = firstAtOrAfter(times, start)
    const first = times[at] === start ? at + 1 : at
    const last = firstAtOrAfter(times, end) - 1
    if (last < first) continue
    const left = firstAtOrAfter(live.times, start)
    let right = firstAtOrAfter(live.times, end)
    // Values recorded without a break on both sides of the start of the hole connect across it.
    const isOpen = live.times[left] === start && values[first - 1] != null
    const isClosed = live.times[right] === end && values[last + 1] != null
    parts.push(part(live, done, live.times[left] === start ? left + 1 : left))
    if (!isOpen) parts.push(gapAt((start + times[first]!) / 2))
    parts.push(part(recorded, first, last + 1))
    if (!isClosed) parts.push(gapAt((times[last]! + end) / 2))
    // A rate has no value directly after a hole; once the hole is filled, that is no longer a gap.
    else if (live.values[right] === null) right++
    done = right
  }
  if (parts.length === 0) return live
  parts.push(part(live, done))
  const whole = {
    instance,
    times: parts.flatMap((one) => one.times),
    values: parts.flatMap((one) => one.values),
  }
  if (recorded.low === undefined && live.low === undefined) return whole
  return {
    ...whole,
    low: parts.flatMap((one) => one.low ?? one.values),
    high: parts.flatMap((one) => one.high ?? one.values),
  }
}

function part(line: Line, from: number, to?: number): Line {
  const columns = mapColumns(line, (column) => column.slice(from, to))
  return { ...columns, instance: line.instance, times: line.times.slice(from, to) }
}

const gapAt = (time: number): Line => ({ instance: null, times: [time], values: [null] })
