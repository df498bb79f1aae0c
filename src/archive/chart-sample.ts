/** Values that a chart samples rather than reads from records: of expressions, and of metrics that are to add up. docs/pmproxy.md */
import { type Timestamp, toSeconds } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_TYPE_DOUBLE } from '../model/types.ts'
import type { FetchResult } from '../model/values.ts'
import { fromSeconds } from '../time/stamp.ts'
import type { ChartArchive, Charted, Reading } from './chart-metric.ts'
import { isSteady, type MetricSamples, Moments } from './chart-moments.ts'

/** Moments that are sampled, each of which is a fetch, and how many of them come between two turns. */
export const MOST_MOMENTS = 4000
const MOMENTS_A_TURN = 50

/** A moment of what was recorded. The bounds are as they are: a double holds no nanoseconds. */
export function momentOf(archive: ChartArchive, seconds: number): Timestamp {
  if (seconds <= toSeconds(archive.start)) return archive.start
  const end = archive.end()
  return seconds >= toSeconds(end) ? end : fromSeconds(seconds)
}

/** What is recorded only when it changes holds at the start too, where it was not. */
export async function sampleStart(
  { archive, query: { start, finish } }: Reading,
  metrics: readonly Charted[],
): Promise<void> {
  const time = Math.max(start, toSeconds(archive.start))
  if (metrics.length === 0 || time > Math.min(finish, toSeconds(archive.end()))) return
  archive.setMode('interpolate', momentOf(archive, time), 1)
  const ids = metrics.map(({ desc }) => desc.pmid)
  const result = await fetchUnlessEnded(archive, ids)
  if (result !== undefined)
    for (const [m, metric] of metrics.entries()) metric.take(result, m, toSeconds(result.timestamp))
}

/** A metric that is sampled, with the records that its values come from. */
interface Sampled {
  readonly metric: Charted
  /** Of metrics that do not hold until they change. */
  readonly sources: readonly MetricSamples[]
  /** Does a value say something about the time since the moment before? */
  readonly isSequential: boolean
}

/** Metrics that are sampled at the same moments: when they, or what they are computed from, were recorded. */
export class SampledTogether {
  readonly moments: Moments
  readonly #metrics: readonly Sampled[]

  constructor(metrics: readonly Charted[], { query }: Reading) {
    this.moments = new Moments(query, MOST_MOMENTS)
    this.#metrics = metrics.map((metric) => {
      const { desc } = metric
      const { operands, isSequential } = metric.metric.computed ?? { operands: [desc], isSequential: false }
      const sources: MetricSamples[] = []
      for (const operand of operands) {
        // What is no number is no value either, but may choose instances.
        if (operand.type > PM_TYPE_DOUBLE) continue
        const samples = this.moments.follow(operand)
        if (!isSteady(operand)) sources.push(samples)
      }
      return { metric, sources, isSequential }
    })
  }

  /** Samples them all, when their records have been noted. */
  async sample({ archive, query, turn }: Reading): Promise<void> {
    if (this.#metrics.length === 0) return
    const ids = this.#metrics.map(({ metric }) => metric.desc.pmid)
    const [first, last] = [
      Math.max(query.start, toSeconds(archive.start)),
      Math.min(query.finish, toSeconds(archive.end())),
    ]
    if (last < first) return
    const start = toSeconds(archive.start)
    const recorded = this.#times(query).filter((time) => time >= start && time <= last)
    // What holds until it changes has a value at both ends too.
    const holds = this.#metrics.some(({ sources }) => sources.length === 0)
    const known = new Set(recorded)
    const ends = new Set(holds ? [first, last].filter((time) => !known.has(time)) : [])
    const moments = [...recorded, ...ends].sort((a, b) => a - b)
    let before = Number.NEGATIVE_INFINITY
    for (const [n, time] of moments.entries()) {
      const when = momentOf(archive, time)
      if (n === 0) archive.setMode('interpolate', when, 1)
      else archive.moveTo(when)
      const result = await fetchUnlessEnded(archive, ids)
      if (result === undefined) continue
      for (const [m, sampled] of this.#metrics.entries())
        if (sampled.sources.length === 0 || !ends.has(time)) take(sampled, result, m, { time, before })
      before = time
      if (n % MOMENTS_A_TURN === MOMENTS_A_TURN - 1) await turn()
    }
  }

  /** Moments of records; at equal steps where there are too many. */
  #times({ start, finish, points, aligned }: Reading['query']): readonly number[] {
    const recorded = this.moments.list(aligned === true)
    if (recorded !== undefined) return recorded
    const most = Math.min(points, MOST_MOMENTS)
    const step = (finish - start) / (most - 1)
    return Array.from({ length: most }, (_, n) => start + n * step)
  }
}

/** Takes the values of a moment, without those that would be concluded across a gap. */
function take(
  { metric, sources, isSequential }: Sampled,
  result: FetchResult,
  m: number,
  { time, before }: { readonly time: number; readonly before: number },
): void {
  for (const [inst, column] of metric.columns) {
    // Between the two moments there may be a gap as a whole.
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

/** Nothing where the archive has no values yet, or no more. */
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
