/** Values of an archive as series with statistics. */
import type { ChartRangeMetric } from '../../../archive/chart-answer.ts'
import { chartRange, type WantedMetric } from '../../../archive/chart-range.ts'
import { nthSmallest } from '../../../base/nth-smallest.ts'
import { isError } from '../../../model/errors.ts'
import { type Indom, PM_INDOM_NULL } from '../../../model/ids.ts'
import type { ArchiveContext } from '../../../pmapi/archive.ts'
import { chartArchive, wantedMetrics } from '../../../pmproxy/chart-archive.ts'
import { type Measure, measureOf, RATE } from '../../../ui/view/measure.ts'
import type { Window } from './moments.ts'

/** Points that statistics are calculated from; more values are averaged in pairs or larger groups first. */
const STATISTICS_POINTS = 5000
/** Most metrics of a question. */
export const MOST_METRICS = 20

/** A metric with its series, or why it has none. */
export interface MetricSeries {
  readonly name: string
  readonly help: string
  readonly measure: Measure
  readonly indom: Indom
  /** Counters are shown as rates per second. */
  readonly isRate: boolean
  readonly series: readonly Series[]
  readonly problem?: string
}

/** The values of one instance, gaps left out. */
export interface Series {
  /** '' for a metric without instances. */
  readonly instance: string
  /** Seconds since the epoch, and values in units of the measure. */
  readonly times: Float64Array
  readonly values: Float64Array
  readonly statistics: Statistics
}

/** Statistics of a series in units of its measure. */
export interface Statistics {
  readonly count: number
  readonly min: number
  readonly mean: number
  readonly median: number
  readonly p95: number
  readonly max: number
  readonly last: number
  /** When the maximum was recorded, in seconds since the epoch. */
  readonly maxAt: number
}

/** Reads metrics of an archive; counters become rates. Errors of `chartRange`. */
export async function readSeries(
  context: ArchiveContext,
  names: readonly string[],
  { from, to }: Window,
  signal: AbortSignal,
  points: number = STATISTICS_POINTS,
): Promise<readonly MetricSeries[]> {
  const wanted = await wantedMetrics(context, names.slice(0, MOST_METRICS), [], signal)
  const query = { start: from, finish: to, points, raw: false, aligned: false }
  const { metrics, lists } = await chartRange(chartArchive(context, context.archive, signal), wanted, query)
  return metrics.map((metric, i) => seriesOf(metric, indomOf(wanted[i]!), lists))
}

const indomOf = ({ outcome }: WantedMetric): Indom => (isError(outcome) ? PM_INDOM_NULL : outcome.desc.indom)

function seriesOf(metric: ChartRangeMetric, indom: Indom, lists: readonly Float64Array[]): MetricSeries {
  const { name } = metric
  if ('code' in metric)
    return {
      name,
      help: '',
      measure: measureOf('none', ''),
      isRate: false,
      indom: PM_INDOM_NULL,
      series: [],
      problem: metric.message,
    }
  const { rate: isRate, help } = metric
  const measure = measureOf(metric.units, isRate ? RATE : metric.sem)
  const series = metric.columns.flatMap((column) => {
    const all = lists[column.values]!
    const isValue = (_: number, i: number): boolean => !Number.isNaN(all[i]!)
    const scale = (value: number): number => value * measure.factor
    const times = lists[column.times]!.filter(isValue)
    const values = all.filter(isValue).map(scale)
    if (values.length === 0) return []
    const [least, most] = [column.min, column.max].map((list) =>
      list === undefined ? values : lists[list]!.filter(isValue).map(scale),
    ) as [Float64Array, Float64Array]
    return [{ instance: column.name, times, values, statistics: statisticsOf(times, values, least, most) }]
  })
  return { name, help, measure: { ...measure, factor: 1 }, indom, isRate, series }
}

/** Returns statistics of values, which may be means with separate minima and maxima. */
export function statisticsOf(
  times: Float64Array,
  values: Float64Array,
  least: Float64Array = values,
  most: Float64Array = values,
): Statistics {
  const count = values.length
  const maxAt = most.reduce((best, value, i) => (value > most[best]! ? i : best), 0)
  const share = (part: number): number =>
    nthSmallest(Float64Array.from(values), Math.min(count - 1, Math.floor(part * count)))
  return {
    count,
    min: least.reduce((a, b) => Math.min(a, b)),
    mean: values.reduce((a, b) => a + b, 0) / count,
    median: share(0.5),
    p95: share(0.95),
    max: most[maxAt]!,
    last: values.at(-1)!,
    maxAt: times[maxAt]!,
  }
}

/** Records this many times as far apart as usual are still consecutive: their times vary a little. */
const JITTER = 1.5

/**
 * Returns the mean of each of `count` equal parts of a window; undefined for a part without values. A part that lies between
 * consecutive records, because their times vary, has the value of the nearest.
 */
export function meansOf(
  { times, values }: Series,
  { from, to }: Window,
  count: number,
): (number | undefined)[] {
  const sums = new Float64Array(count)
  const numbers = new Int32Array(count)
  for (const [i, time] of times.entries()) {
    const part = Math.min(count - 1, Math.max(0, Math.floor(((time - from) / (to - from)) * count)))
    sums[part]! += values[i]!
    numbers[part]!++
  }
  const width = (to - from) / count
  const usual = usualStep(times)
  return Array.from(sums, (sum, i) => {
    if (numbers[i]! > 0) return sum / numbers[i]!
    const after = times.findIndex((time) => time >= from + i * width)
    const next = after < 0 ? times.length : after
    const [left, right] = [times[next - 1] ?? from, times[next] ?? to]
    if (usual > JITTER * width || right - left > JITTER * usual) return undefined
    const middle = from + (i + 0.5) * width
    const isLeft = next === times.length || (next > 0 && middle - left < right - middle)
    return values[isLeft ? next - 1 : next]
  })
}

/** Returns the median distance of successive times; 0 for less than two. */
function usualStep(times: Float64Array): number {
  if (times.length < 2) return 0
  const steps = Float64Array.from(times.subarray(1), (time, i) => time - times[i]!)
  return nthSmallest(steps, Math.floor(steps.length / 2))
}
