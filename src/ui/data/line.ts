/** Lines of numbers over time, and functions to align them. */
import { gapAfter, IntervalEstimator } from '../../archive/chart-interval.ts'
import { counterRate } from '../../model/rate.ts'

/** Values of one instance of a metric; counters are rates per second. */
export interface Line {
  /** Null for a metric without instances. */
  readonly instance: string | null
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[]
  /** Null marks a missing value. */
  readonly values: readonly (number | null)[]
  /** Minimum and maximum around each time, if values are means of several samples. */
  readonly low?: readonly (number | null)[]
  readonly high?: readonly (number | null)[]
  /** Seconds between the records of recorded values; 0 if the source does not know, undefined if only the values show it. */
  readonly interval?: number | undefined
}

/** Returns the rate per second of a counter, times `factor`: null at its start, after a gap, and where the counter decreased. */
export function ratesOf(
  times: readonly number[],
  values: readonly (number | null)[],
  factor = 1,
): (number | null)[] {
  return values.map((value, i) => {
    const before = i === 0 ? null : values[i - 1]!
    const seconds = i === 0 ? 0 : times[i]! - times[i - 1]!
    if (value === null || before === null || !(seconds > 0)) return null
    const rate = counterRate(before, value, seconds)
    return rate === undefined ? null : rate * factor
  })
}

/** Returns the part of a line from `from` to `to`, with `more` samples on either side so that it reaches the edges. */
export function cut(line: Line, from: number, to: number, more = 1): Line {
  const { times } = line
  const first = Math.max(0, firstAtOrAfter(times, from) - more)
  const end = Math.min(times.length, firstAtOrAfter(times, to) + more)
  if (first === 0 && end === times.length) return line
  const part = mapColumns(line, (column) => column.slice(first, end))
  return { ...part, instance: line.instance, times: times.slice(first, end) }
}

/** The columns of a line. */
export interface Columns<T> {
  readonly values: readonly T[]
  readonly low?: readonly T[]
  readonly high?: readonly T[]
}

/** Applies a function to each column. */
export function mapColumns<T, R>(
  { values, low, high }: Columns<T>,
  change: (column: readonly T[]) => readonly R[],
): Columns<R> {
  return low === undefined || high === undefined
    ? { values: change(values) }
    : { values: change(values), low: change(low), high: change(high) }
}

/** Returns the index of the first time at or after `time`; the length if there is none. */
export function firstAtOrAfter(times: readonly number[], time: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[middle]! < time) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the index of the first sample of a line from an index on, forwards or (`step` -1) backwards; beyond the ends without one. */
export function sampleFrom(
  values: readonly (number | null | undefined)[],
  index: number,
  step: 1 | -1,
): number {
  let at = index
  while (at >= 0 && at < values.length && values[at] === undefined) at += step
  return at
}

/** Number of samples that show how often a line has values. */
const FEW = 12
/** Seconds between records assumed after a single one: recorders write what charts show at least once a minute. */
const UNKNOWN_SEC = 60

/** How the values of a line are sampled. */
export interface Sampling {
  /** Seconds between live samples. */
  readonly every: number
  /** Does a value hold until the next one, however late that is? */
  readonly isDiscrete: boolean
}

/** Joins recorded values and the live ones after them. Missing samples leave a gap. */
export function joined(earlier: Line, later: Line | undefined, sampling: Sampling): Line {
  if (later === undefined) return earlier
  const start = later.times[0]
  const end = start === undefined ? earlier.times.length : firstAtOrAfter(earlier.times, start)
  // A live rate has no first value; after recorded values, that is not a gap.
  const first = end > 0 && later.values[0] === null ? 1 : 0
  const added = later.values.slice(first)
  const last = earlier.times[end - 1]!
  const next = later.times[first]!
  const isGap = !continues(earlier, end, next, sampling)
  return {
    ...mapColumns(earlier, (column) => [...column.slice(0, end), ...(isGap ? [null] : []), ...added]),
    instance: later.instance,
    times: [
      ...earlier.times.slice(0, end),
      ...(isGap ? [(last + next) / 2] : []),
      ...later.times.slice(first),
    ],
  }
}

/** Checks whether a live value at `next` would follow the recorded ones before the index `end` without a gap. */
export function continues(line: Line, end: number, next: number, sampling: Sampling): boolean {
  // Recorded values without a break reach beyond the start of the live ones.
  if (line.values[end] != null) return true
  // Without a value on one side the comparison is false, and there is no gap either.
  return !(next - line.times[end - 1]! > longestDistance(line, end, sampling))
}

/** Returns how long after its last sample before an index a line may have its next one, in seconds. */
function longestDistance(
  { times, values, interval }: Line,
  end: number,
  { every, isDiscrete }: Sampling,
): number {
  // Its samples are those of its window's ends.
  if (isDiscrete) return gapAfter([], UNKNOWN_SEC)
  const newest = times
    .slice(Math.max(0, end - FEW), end)
    .filter((_, i, { length }) => values[end - length + i] != null)
  const least = interval === 0 && newest.length < 2 ? UNKNOWN_SEC : (interval ?? 0)
  return gapAfter(newest, Math.max(every, least))
}

/** Lines on one time axis: `undefined` at times of other lines at which a line has no sample, which is not a gap. */
export interface Aligned {
  readonly times: readonly number[]
  readonly lines: readonly Columns<number | null | undefined>[]
}

/** Puts lines on one time axis. Lines that already share a list of times need no work. */
export function align(lines: readonly Line[]): Aligned {
  const lists = [...new Set(lines.map(({ times }) => times))]
  const first = lists[0]
  if (first === undefined) return { times: [], lines: [] }
  if (lists.length === 1) return { times: first, lines }
  const times = mergedTimes(lists)
  const places = new Map(lists.map((list) => [list, placesIn(times, list)]))
  return {
    times,
    lines: lines.map((line) => {
      const own = places.get(line.times)!
      return mapColumns(line, (column) => {
        const spread = new Array<number | null | undefined>(times.length).fill(undefined)
        for (const [i, place] of own.entries()) spread[place] = column[i]!
        return spread
      })
    }),
  }
}

function mergedTimes(lists: readonly (readonly number[])[]): number[] {
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const list of lists) {
    all.set(list, at)
    at += list.length
  }
  all.sort()
  const times: number[] = []
  for (const time of all) if (time !== times.at(-1)) times.push(time)
  return times
}

/** Returns the index of each time of a list in the merged list. */
function placesIn(times: readonly number[], list: readonly number[]): number[] {
  let at = 0
  return list.map((time) => {
    while (times[at] !== time) at++
    return at
  })
}

/**
 * Returns values to add up: a line keeps its previous value between two samples, and after the last one for as long as another may
 * follow. It does not keep a value before a gap, as nothing is drawn there and the gaps of two lines need not start together.
 */
export function held(
  values: readonly (number | null | undefined)[],
  times: readonly number[],
): (number | null)[] {
  let last: number | null = null
  const pace = new IntervalEstimator()
  const end = values.findLastIndex((value) => value !== undefined)
  const full = values.map((value, i) => {
    const time = times[i]!
    if (value !== undefined) {
      last = value
      if (value === null) pace.interrupt(time)
      else pace.next(time)
    } else if (i > end && !(time - times[end]! <= pace.gapAfter && pace.interval > 0)) last = null
    return last
  })
  for (let i = end - 1; i > 0; i--) if (values[i] === undefined && full[i + 1] === null) full[i] = null
  return full
}
