/** Values that a chart samples instead of scanning: of expressions, and of stacked metrics. docs/reference/pmproxy.md */
import { toSeconds } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_TYPE_DOUBLE } from '../model/types.ts'
import type { FetchResult } from '../model/values.ts'
import type { ChartArchive, ChartedMetric, ChartRequest } from './chart-metric.ts'
import { isDiscrete, type MetricRecordingTimes, SampleTimes } from './chart-times.ts'
import { timeInArchive } from './scan-parts.ts'

/** Most times to sample, each of which is a fetch, and how many of them are between two turns. */
export const MOST_MOMENTS = 4000
const MOMENTS_A_TURN = 50

/** Samples discrete metrics at the start of the window, where they usually have no record. */
export async function sampleStart(
  { archive, query: { start, finish } }: ChartRequest,
  metrics: readonly ChartedMetric[],
): Promise<void> {
  const time = Math.max(start, toSeconds(archive.start))
  if (metrics.length === 0 || time > Math.min(finish, toSeconds(archive.end()))) return
  archive.setMode('interpolate', timeInArchive(archive, time), 1)
  const ids = metrics.map(({ desc }) => desc.pmid)
  const result = await fetchUnlessEnded(archive, ids)
  if (result !== undefined)
    for (const [m, metric] of metrics.entries()) metric.take(result, m, toSeconds(result.timestamp))
}

/** A sampled metric, and the recording times of its operands. */
interface Sampled {
  readonly metric: ChartedMetric
  /** Discrete operands are left out. */
  readonly sources: readonly MetricRecordingTimes[]
  /** Whether a value depends on the time before. */
  readonly isSequential: boolean
}

/** Metrics sampled at the same times: when they, or their operands, were recorded. */
export class SampledMetrics {
  readonly moments: SampleTimes
  readonly #metrics: readonly Sampled[]

  constructor(metrics: readonly ChartedMetric[], { query }: ChartRequest) {
    this.moments = new SampleTimes(query, MOST_MOMENTS)
    this.#metrics = metrics.map((metric) => {
      const { desc } = metric
      const { operands, isSequential } = metric.metric.computed ?? { operands: [desc], isSequential: false }
      const sources: MetricRecordingTimes[] = []
      for (const operand of operands) {
        // Values that are not numbers are not drawn, but may select instances.
        if (operand.type > PM_TYPE_DOUBLE) continue
        const samples = this.moments.follow(operand)
        if (!isDiscrete(operand)) sources.push(samples)
      }
      return { metric, sources, isSequential }
    })
  }

  /** Samples all metrics, after their recording times are known. */
  async sample({ archive, query, turn }: ChartRequest): Promise<void> {
    if (this.#metrics.length === 0) return
    const ids = this.#metrics.map(({ metric }) => metric.desc.pmid)
    const [first, last] = [
      Math.max(query.start, toSeconds(archive.start)),
      Math.min(query.finish, toSeconds(archive.end())),
    ]
    if (last < first) return
    const start = toSeconds(archive.start)
    const recorded = this.#times(query).filter((time) => time >= start && time <= last)
    // Discrete metrics also have a value at both ends.
    const holds = this.#metrics.some(({ sources }) => sources.length === 0)
    const known = new Set(recorded)
    const ends = new Set(holds ? [first, last].filter((time) => !known.has(time)) : [])
    const moments = [...recorded, ...ends].sort((a, b) => a - b)
    const intervals = this.#metrics.map(({ sources }) =>
      Math.max(0, ...sources.map(({ whole }) => whole.interval)),
    )
    const isUnknown = this.#metrics.some(({ sources }, m) => sources.length > 0 && intervals[m] === 0)
    const longest = isUnknown ? 0 : Math.max(...intervals)
    // A stack may have values only where the metric with the longest interval has.
    for (const [m, { metric }] of this.#metrics.entries())
      metric.sampledInterval = query.aligned === true ? longest : intervals[m]
    let before = Number.NEGATIVE_INFINITY
    for (const [n, time] of moments.entries()) {
      const when = this.moments.exact(time) ?? timeInArchive(archive, time)
      // After a mark anew: otherwise counters would be held back once, and their first rate with them.
      const mark = this.moments.markBetween(before, time)
      if (n === 0 || mark !== undefined) archive.setMode('interpolate', when, 1)
      else archive.moveTo(when)
      const result = await fetchUnlessEnded(archive, ids)
      if (result === undefined) continue
      for (const [m, sampled] of this.#metrics.entries())
        if (isKnown(sampled, time, ends)) take(sampled, result, m, { time, before, mark })
      before = time
      if (n % MOMENTS_A_TURN === MOMENTS_A_TURN - 1) await turn()
    }
  }

  /** Returns the recording times, or equal steps if there are too many. */
  #times({ start, finish, points, aligned }: ChartRequest['query']): readonly number[] {
    const recorded = this.moments.list(aligned === true)
    if (recorded !== undefined) return recorded
    const most = Math.min(points, MOST_MOMENTS)
    const step = (finish - start) / (most - 1)
    return Array.from({ length: most }, (_, n) => start + n * step)
  }
}

/**
 * Returns whether a metric is recorded at or around a time. After its last record nothing is known yet: a metric that is recorded
 * seldom is not interrupted because another one has newer records.
 */
function isKnown({ sources }: Sampled, time: number, ends: ReadonlySet<number>): boolean {
  return sources.length === 0 || !(ends.has(time) || sources.some(({ whole }) => whole.isBehind(time)))
}

interface Moment {
  readonly time: number
  /** The sampled time before it. */
  readonly before: number
  /** When recording was interrupted between them. */
  readonly mark: number | undefined
}

/** Takes the values of one time, except those computed across a gap. */
function take(
  { metric, sources, isSequential }: Sampled,
  result: FetchResult,
  m: number,
  { time, before, mark }: Moment,
): void {
  for (const [inst, column] of metric.columns) {
    // The value of a discrete metric holds until then.
    if (sources.length === 0 && mark !== undefined && mark > column.lastTime) column.mark(mark)
    // A whole gap may be between the two times.
    const { lastTime } = column
    for (const source of sources) {
      const end = source.of(inst).gapEnd(time)
      if (end > lastTime) column.mark((lastTime + end) / 2)
    }
  }
  metric.take(result, m, time, (inst) =>
    sources.every((source) => {
      const samples = source.of(inst)
      return samples.covers(time) && !(isSequential && samples.gapEnd(time) > before)
    }),
  )
}

/** Returns undefined before the first and after the last values of the archive. */
async function fetchUnlessEnded(
  archive: ChartArchive,
  ids: readonly Pmid[],
): Promise<FetchResult | undefined> {
  try {
    return await archive.fetch(ids)
  } catch (error) {
    if (PcpError.from(error).code === 'PM_ERR_EOL') return undefined
    throw error
  }
}
