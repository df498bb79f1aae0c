/** Values that a chart samples instead of scanning: of expressions, and of stacked metrics. docs/reference/pmproxy.md */
import { toSeconds } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE } from '../model/types.ts'
import type { FetchResult } from '../model/values.ts'
import type { ChartArchive, ChartedMetric, ChartRequest } from './chart-metric.ts'
import { distant, sampleMoments } from './chart-moments.ts'
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
  /** Discrete operands. */
  readonly held: readonly MetricRecordingTimes[]
  /** Whether a value depends on the time before. */
  readonly isSequential: boolean
  /** Whether values are changes since the time before: also those of counters, which are drawn as rates. */
  readonly isChange: boolean
}

/** Metrics sampled when they, or their operands, were recorded. */
export class SampledMetrics {
  readonly moments: SampleTimes
  readonly #metrics: readonly Sampled[]

  constructor(metrics: readonly ChartedMetric[], { query }: ChartRequest) {
    this.moments = new SampleTimes(query, MOST_MOMENTS)
    this.#metrics = metrics.map((metric) => {
      const { desc } = metric
      const { operands, isSequential } = metric.metric.computed ?? { operands: [desc], isSequential: false }
      const sources: MetricRecordingTimes[] = []
      const held: MetricRecordingTimes[] = []
      for (const operand of operands) {
        // Values that are not numbers are not drawn, but may select instances.
        if (operand.type > PM_TYPE_DOUBLE) continue
        const into = isDiscrete(operand) ? held : sources
        into.push(this.moments.follow(operand))
      }
      const isChange = isSequential || operands.some(({ sem }) => sem === PM_SEM_COUNTER)
      return { metric, sources, held, isSequential, isChange }
    })
  }

  /** Samples all metrics, after their recording times are known. */
  async sample({ archive, query, turn }: ChartRequest): Promise<void> {
    if (this.#metrics.length === 0) return
    const [first, last] = [
      Math.max(query.start, toSeconds(archive.start)),
      Math.min(query.finish, toSeconds(archive.end())),
    ]
    if (last < first) return
    const start = toSeconds(archive.start)
    const intervals = this.#metrics.map(({ sources }) =>
      Math.max(0, ...sources.map(({ whole }) => whole.interval)),
    )
    const isUnknown = this.#metrics.some(({ sources }, m) => sources.length > 0 && intervals[m] === 0)
    const longest = isUnknown ? 0 : Math.max(...intervals)
    // A stack may have values only where the metric with the longest interval has.
    for (const [m, { metric }] of this.#metrics.entries())
      metric.sampledInterval = query.aligned === true ? longest : intervals[m]
    // Discrete metrics also have a value at both ends.
    const holds = this.#metrics.some(({ sources }) => sources.length === 0)
    const dueAt = new Map<number, number[]>(holds ? [first, last].map((time) => [time, []]) : [])
    for (const [m, times] of this.#times(query).entries())
      for (const time of times) {
        if (time < start || time > last) continue
        const due = dueAt.get(time)
        if (due === undefined) dueAt.set(time, [m])
        else due.push(m)
      }
    const before = this.#metrics.map(() => Number.NEGATIVE_INFINITY)
    let previous = Number.NEGATIVE_INFINITY
    for (const [n, time] of [...dueAt.keys()].sort((a, b) => a - b).entries()) {
      const when = this.moments.exact(time) ?? timeInArchive(archive, time)
      // After a mark anew: otherwise counters would be held back once, and their first rate with them.
      if (n === 0 || this.moments.markBetween(previous, time) !== undefined)
        archive.setMode('interpolate', when, 1)
      else archive.moveTo(when)
      previous = time
      const due = this.#dueOf(dueAt.get(time)!)
      const result = await fetchUnlessEnded(
        archive,
        due.map((m) => this.#metrics[m]!.metric.desc.pmid),
      )
      if (result === undefined) continue
      for (const [i, m] of due.entries()) {
        const sampled = this.#metrics[m]!
        const moment = { time, before: before[m]!, mark: this.moments.markBetween(before[m]!, time) }
        if (isKnown(sampled, time)) take(sampled, result, i, moment)
        before[m] = time
      }
      if (n % MOMENTS_A_TURN === MOMENTS_A_TURN - 1) await turn()
    }
  }

  /** Adds the metrics that hold their values: they are sampled each time. */
  #dueOf(due: readonly number[]): readonly number[] {
    const held = [...this.#metrics.keys()].filter(
      (m) => this.#metrics[m]!.sources.length === 0 && !due.includes(m),
    )
    return [...due, ...held]
  }

  /** Returns the times of each metric: when it was recorded, or equal steps if that is too often. */
  #times(query: ChartRequest['query']): readonly (readonly number[])[] {
    const groups = query.aligned === true ? [this.#metrics] : this.#metrics.map((one) => [one])
    const lists = groups.map(momentsOf)
    const inGroups = <T>(each: readonly T[]): readonly T[] =>
      query.aligned === true ? this.#metrics.map(() => each[0]!) : each
    // The times of an operand that was recorded too often end somewhere in the window.
    const isCut = groups.some((group, g) =>
      group
        .flatMap(({ sources, held }) => [...sources, ...held])
        .some(({ times }) => times.length > MOST_MOMENTS && !(lists[g]!.at(-1)! > times.at(-1)!)),
    )
    if (!isCut && new Set(lists.flat()).size <= MOST_MOMENTS)
      return inGroups(lists.map((list) => fromLastBefore(list, query)))
    const { start, finish, points } = query
    const most = Math.min(points, MOST_MOMENTS)
    const step = (finish - start) / (most - 1)
    const steps = Array.from({ length: most }, (_, n) => start + n * step)
    return inGroups(groups.map((group) => (isChanging(group) ? distant(steps, slowestOf(group)) : steps)))
  }
}

/** Returns when metrics that are sampled together are sampled. */
function momentsOf(group: readonly Sampled[]): readonly number[] {
  const sources = new Set(group.flatMap((one) => one.sources))
  const operands = [...sources]
  // Values that hold may change at any time, and need no interval.
  const held = sources.size > 0 ? [] : group.flatMap((one) => one.held)
  const intervalAt = (): number => 0
  return sampleMoments([...operands, ...held.map(({ times }) => ({ times, intervalAt }))], isChanging(group))
}

const isChanging = (group: readonly Sampled[]): boolean => group.some(({ isChange }) => isChange)
const slowestOf =
  (group: readonly Sampled[]) =>
  (time: number): number =>
    Math.max(0, ...group.flatMap(({ sources }) => sources.map((source) => source.intervalAt(time))))

/** Returns the times of the window, and the last one before it. */
function fromLastBefore(times: readonly number[], { start }: ChartRequest['query']): readonly number[] {
  const first = times.findIndex((time) => time >= start)
  return first < 0 ? times.slice(-1) : times.slice(Math.max(0, first - 1))
}

/**
 * Returns whether a metric is recorded at or around a time. After its last record nothing is known yet: a metric that is recorded
 * seldom is not interrupted because another one has newer records.
 */
function isKnown({ sources }: Sampled, time: number): boolean {
  return !sources.some(({ whole }) => whole.isBehind(time))
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
