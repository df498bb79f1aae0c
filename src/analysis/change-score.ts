/**
 * How much one series changed. docs/decisions/what-changed.md
 *
 *     score = evidence × size         each from 0 to 1
 *     evidence   the shift of values against the noise of the window before, also against its slow swings and its trend
 *     size       the ratio of the means, beyond an unimportant difference in these units
 */
import { PM_TYPE_FLOAT } from '../model/types.ts'
import { unpackUnits } from '../model/units.ts'
import { floorOf } from './change-floor.ts'
import type { ChangeGrid } from './change-grid.ts'
import type { ChangeSeries } from './change-series.ts'
import { type Excursion, excursionOf } from './excursion.ts'
import { deviation, mean, median, quantileOfSorted } from './robust.ts'

/** What happened to a series: its level changed, its instance appeared or disappeared, or its discrete value was replaced. */
export type ChangeKind = 'level' | 'new' | 'gone' | 'value'

/** The change of one series. Values are means, in the metric's units; those of counters are rates. */
export interface SeriesChange {
  readonly series: ChangeSeries
  readonly kind: ChangeKind
  /** From 0 to 1. */
  readonly score: number
  /** NaN if there was no value. */
  readonly before: number
  readonly now: number
  /** Seconds since the epoch at which the change begins: the start of a bucket. */
  readonly since: number
  /** When it was over, for an excursion within the span, of which `now` is the mean; undefined if it lasts. */
  readonly until?: number
}

/** Largest deviation of a bucket, in units of the noise: a single spike is not an endless change. */
const MOST_NOISES = 30
/** Standard deviation of a normal distribution, per median deviation, and per distance of the outer tenths. */
const PER_MAD = 1.4826
const PER_TENTHS = 1 / 2.563
/** Noise is at least this share of the level. */
const RELATIVE_NOISE = 0.01
/** Parts of the window before, whose means show its slow swings. */
const PARTS = 6
/** Shift that counts as half evidence, in units of the swings, and the swings assumed at least, in units of the noise. */
const HALF_EVIDENCE = 3
const LEAST_SWING = 0.3
/** Ratio that counts as 1 - 1/e of the full size. */
const BIG_RATIO = Math.log(3)
/** Evidence for something that appeared, disappeared or was replaced; without units it may be an identifier, as a process has. */
const EVIDENCE_OF_OTHERS = 0.6
const EVIDENCE_WITHOUT_UNITS = 0.1
/** Evidence for a counter that never moved before: half of it for so many buckets; and buckets with values needed to know that. */
const EVIDENCE_OF_FIRST = 0.5
const HALF_MOVED = 6
/** Length of a run of unusual buckets that counts as half: a single burst, as timers cause, does not last. */
const HALF_RUN = 3
const UNUSUAL = 2
const STILL_BUCKETS = 20
/** Buckets needed to know the noise; with fewer, the evidence is at most this. */
const ENOUGH_BUCKETS = 4
const EVIDENCE_OF_FEW = 0.4
/** The change begins where deviations exceed this share of their largest, and this many times the noise. */
const ONSET_SHARE = 0.3
const ONSET_NOISES = 3
/** An excursion explains less than a change that lasts: the exponent of its share of the span. */
const SHORT = 0.25

/** Returns the change of a series; undefined if it has too few values to compare. `isRecorded`: were the windows recorded at all? */
export function changeOf(
  series: ChangeSeries,
  grid: ChangeGrid,
  isRecorded: { readonly before: boolean; readonly now: boolean },
): SeriesChange | undefined {
  if (!Number.isNaN(series.changedAt)) return replaced(series)
  const values = meansOf(series)
  const before = values.subarray(0, grid.beforeCount).filter(isNumber)
  const now = values.subarray(grid.beforeCount).filter(isNumber)
  // One value may be missing because the window is hardly longer than the interval.
  const isLong = (window: 'before' | 'span'): boolean =>
    grid[window].finish - grid[window].start > 2.5 * (series.interval || 0)
  if (before.length === 0)
    return now.length > 1 && isRecorded.before && isLong('before')
      ? appeared(series, grid, values, now)
      : undefined
  if (now.length === 0)
    return before.length > 1 && isRecorded.now && isLong('span')
      ? disappeared(series, grid, values, before)
      : undefined
  return shifted(series, grid, values, { before, now })
}

const isNumber = (value: number): boolean => !Number.isNaN(value)

function replaced(series: ChangeSeries): SeriesChange {
  const { first: before, last: now, changedAt: since } = series
  const size = Math.max(0.3, sizeOf(before, now, floorOf(series.metric.desc) / 10))
  return {
    series,
    kind: 'value',
    score: before === now ? 0 : EVIDENCE_OF_OTHERS * size,
    before,
    now,
    since,
  }
}

function appeared(
  series: ChangeSeries,
  grid: ChangeGrid,
  values: Float64Array,
  now: Float64Array,
): SeriesChange {
  const first = values.findIndex(isNumber)
  const level = mean(now)
  return {
    series,
    kind: 'new',
    score: evidenceOf(series) * sizeOf(0, level, floorOf(series.metric.desc)),
    before: Number.NaN,
    now: level,
    since: grid.timeOf(first),
  }
}

function disappeared(
  series: ChangeSeries,
  grid: ChangeGrid,
  values: Float64Array,
  before: Float64Array,
): SeriesChange {
  const level = mean(before)
  return {
    series,
    kind: 'gone',
    score: evidenceOf(series) * sizeOf(level, 0, floorOf(series.metric.desc)),
    before: level,
    now: Number.NaN,
    since: grid.timeOf(values.findLastIndex(isNumber) + 1),
  }
}

const evidenceOf = ({ isRate, metric: { desc } }: ChangeSeries): number =>
  isRate || desc.units !== 0 ? EVIDENCE_OF_OTHERS : EVIDENCE_WITHOUT_UNITS

interface Windows {
  readonly before: Float64Array
  readonly now: Float64Array
}

function shifted(
  series: ChangeSeries,
  grid: ChangeGrid,
  values: Float64Array,
  { before, now }: Windows,
): SeriesChange {
  const deviations = deviationsIn(series, grid, values, before)
  const later = deviations.subarray(grid.beforeCount)
  const isStill =
    series.isRate && before.length >= STILL_BUCKETS && before.every((value) => value === before[0])
  const level = mean(before)
  // A counter that never moved counts errors or other rare events, for which a few are many.
  const floor = isStill && level === 0 ? rareFloor(series, grid) : floorOf(series.metric.desc)
  const most = before.length < ENOUGH_BUCKETS ? EVIDENCE_OF_FEW : 1
  const shift = shiftOf(deviations, grid)
  let evidence = Math.min(most, evidenceOfShift(shift, later))
  if (isStill) {
    const moved = now.reduce((count, value) => (value === before[0] ? count : count + 1), 0)
    evidence = Math.max(evidence, (EVIDENCE_OF_FIRST * moved) / (moved + HALF_MOVED))
  }
  const shown = mean(now)
  const { from } = lasting(later, Math.sign(shown - level))
  const lasts: SeriesChange = {
    series,
    kind: 'level',
    score: evidence * sizeOf(level, shown, floor),
    before: level,
    now: shown,
    since: grid.timeOf(grid.beforeCount + from),
  }
  const passed = passing(lasts, grid, values, deviations, floor)
  return passed !== undefined && passed.score > lasts.score ? passed : lasts
}

/** Returns the change as an excursion that was over before the span ends, or undefined. */
function passing(
  lasts: SeriesChange,
  grid: ChangeGrid,
  values: Float64Array,
  deviations: Float64Array,
  floor: number,
): SeriesChange | undefined {
  const excursion = excursionOf(deviations, grid)
  if (excursion === undefined) return undefined
  const later = deviations.subarray(grid.beforeCount)
  const { from, to } = boundsOf(excursion, later)
  const within = values.subarray(grid.beforeCount)
  const now = mean(within.subarray(from, to).filter(isNumber))
  const rest = median(within.filter(isNumber))
  const size = Math.min(sizeOf(lasts.before, now, floor), sizeOf(rest, now, floor))
  const duration = ((to - from) / later.length) ** SHORT
  const evidence = evidenceOfShift({ shift: excursion.excess, swing: excursion.swing + LEAST_SWING }, later)
  return {
    ...lasts,
    score: evidence * size * Math.min(1, duration),
    now,
    since: grid.timeOf(grid.beforeCount + from),
    ...(to < later.length ? { until: grid.timeOf(grid.beforeCount + to) } : {}),
  }
}

/** Returns the buckets of the span in which an excursion is unusual: those of its part, and their neighbours that are too. */
function boundsOf(
  { excess, ...part }: Excursion,
  later: Float64Array,
): { readonly from: number; readonly to: number } {
  const sign = Math.sign(excess)
  const most = later
    .subarray(part.from, part.to)
    .reduce((best, value) => Math.max(best, value * sign || 0), 0)
  const least = Math.min(most, Math.max(ONSET_NOISES, ONSET_SHARE * most))
  const isUnusual = (i: number): boolean => later[i]! * sign >= least
  // Buckets without a value neither end it nor belong to it at an end.
  const isOver = (i: number): boolean => !Number.isNaN(later[i]!) && !isUnusual(i)
  let { from, to } = part
  while (from > 0 && !isOver(from - 1)) from--
  while (to < later.length && !isOver(to)) to++
  while (from < to - 1 && !isUnusual(from)) from++
  while (to > from + 1 && !isUnusual(to - 1)) to--
  return { from, to }
}

/**
 * Returns the deviations of a series from its usual level by bucket, in units of the noise, bounded; NaN without a value. Empty for changes
 * without a level before.
 */
export function deviationsOf({ series, kind }: SeriesChange, grid: ChangeGrid): Float64Array {
  if (kind !== 'level') return new Float64Array(0)
  const values = meansOf(series)
  return deviationsIn(series, grid, values, values.subarray(0, grid.beforeCount).filter(isNumber))
}

const meansOf = ({ sums, counts }: ChangeSeries): Float64Array => sums.map((sum, i) => sum / counts[i]!)

function deviationsIn(
  series: ChangeSeries,
  grid: ChangeGrid,
  values: Float64Array,
  before: Float64Array,
): Float64Array {
  const usual = median(before)
  const noise = noiseOf(before, usual, series, grid)
  return values.map((value) => Math.min(MOST_NOISES, Math.max(-MOST_NOISES, (value - usual) / noise)))
}

interface Shift {
  /** In units of the noise. */
  readonly shift: number
  /** The slow swings of the window before. */
  readonly swing: number
}

/** Returns the shift between the windows. */
function shiftOf(deviations: Float64Array, grid: ChangeGrid): Shift {
  const earlier = deviations.subarray(0, grid.beforeCount)
  const parts = partMeans(earlier)
  const later = deviations.subarray(grid.beforeCount).filter(isNumber)
  return {
    shift: withoutTrend(mean(later) - mean(earlier.filter(isNumber)), parts, grid),
    swing: deviation(parts) + LEAST_SWING,
  }
}

function evidenceOfShift({ shift, swing }: Shift, later: Float64Array): number {
  const run = longestRun(later, Math.sign(shift))
  return (shift ** 2 / (shift ** 2 + (HALF_EVIDENCE * swing) ** 2)) * (run / (run + HALF_RUN))
}

/** Returns the noise of a bucket: the spread of the window before, at least what rounding and the counting of events cause. */
function noiseOf(before: Float64Array, usual: number, series: ChangeSeries, grid: ChangeGrid): number {
  const distances = before.map((value) => Math.abs(value - usual)).sort()
  const sorted = before.slice().sort()
  const tenths = (quantileOfSorted(sorted, 0.9) - quantileOfSorted(sorted, 0.1)) * PER_TENTHS
  const spread = Math.max(PER_MAD * quantileOfSorted(distances, 0.5), tenths)
  return Math.max(spread, RELATIVE_NOISE * Math.abs(usual), stepOf(series, usual, grid))
}

/** Returns the smallest step of values: a whole number, or for rates what a few events more or less in a bucket make. */
function stepOf(
  { metric: { desc }, interval, isRate }: ChangeSeries,
  usual: number,
  grid: ChangeGrid,
): number {
  const seconds = Math.max(grid.width, interval || 0)
  const tiny = floorOf(desc) / 10
  if (!isRate) return desc.type < PM_TYPE_FLOAT ? Math.max(tiny, 0.5) : tiny
  const isCount = unpackUnits(desc.units).dimCount === 1
  // Events that are independent of each other vary by the root of their number.
  return isCount ? Math.sqrt(Math.max(usual, 1 / seconds) / seconds) : tiny
}

/** A few events in the whole span. */
function rareFloor({ metric: { desc } }: ChangeSeries, { span }: ChangeGrid): number {
  const isCount = unpackUnits(desc.units).dimCount === 1
  return isCount ? Math.min(floorOf(desc), 2 / (span.finish - span.start)) : floorOf(desc)
}

/** Returns the means of equal parts of a window, without empty ones. */
function partMeans(values: Float64Array): Float64Array {
  const length = values.length / PARTS
  const parts = Array.from({ length: PARTS }, (_, i) =>
    mean(values.subarray(Math.round(i * length), Math.round((i + 1) * length)).filter(isNumber)),
  )
  return Float64Array.from(parts.filter(isNumber))
}

/** Returns a shift without the part that the trend of the window before explains. */
function withoutTrend(shift: number, parts: Float64Array, grid: ChangeGrid): number {
  if (parts.length < PARTS) return shift
  const third = PARTS / 3
  const slope = (mean(parts.subarray(PARTS - third)) - mean(parts.subarray(0, third))) / (PARTS - third)
  const { before, span } = grid
  const seconds = (span.start + span.finish - before.start - before.finish) / 2
  const trend = (slope * seconds * PARTS) / (before.finish - before.start)
  if (Math.sign(trend) !== Math.sign(shift)) return shift
  return Math.sign(shift) * Math.max(0, Math.abs(shift) - Math.abs(trend))
}

/** Returns the number of unusual buckets in the longest run of them; a run may have single usual ones. */
function longestRun(later: Float64Array, sign: number): number {
  let [most, run, usual] = [0, 0, 0]
  for (const value of later) {
    if (Number.isNaN(value)) continue
    if (value * sign >= UNUSUAL) {
      usual = 0
      run++
    } else if (++usual > 1) run = 0
    if (run > most) most = run
  }
  return most
}

/** Returns the size of a change from 0 to 1. */
function sizeOf(before: number, now: number, floor: number): number {
  const low = Math.min(Math.abs(before), Math.abs(now))
  const high = Math.max(Math.abs(before), Math.abs(now))
  const ratio = before * now < 0 ? (high + low + floor) / floor : (high + floor) / (low + floor)
  return 1 - Math.exp(-Math.log(ratio) / BIG_RATIO)
}

/** Returns the buckets of the first deviation of the span that lasts: the next value confirms it, and its end. */
function lasting(later: Float64Array, sign: number): { readonly from: number; readonly to: number } {
  let most = 0
  for (const value of later) if (value * sign > most) most = value * sign
  const least = Math.min(most, Math.max(ONSET_NOISES, ONSET_SHARE * most))
  let [candidate, confirmed] = [-1, -1]
  for (let i = 0; i < later.length && confirmed < 0; i++) {
    if (Number.isNaN(later[i]!)) continue
    if (later[i]! * sign < least) candidate = -1
    else if (candidate >= 0) confirmed = candidate
    else candidate = i
  }
  const peak = later.findIndex((value) => value * sign === most)
  const from = Math.max(0, confirmed >= 0 ? confirmed : candidate >= 0 ? candidate : peak)
  let [to, usual] = [from, 0]
  for (let i = from; i < later.length && usual < 2; i++) {
    if (Number.isNaN(later[i]!)) continue
    if (later[i]! * sign < least) usual++
    else [to, usual] = [i, 0]
  }
  // Without a second usual value, the span ends first.
  return { from, to: usual < 2 ? later.length : to + 1 }
}
