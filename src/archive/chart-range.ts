/**
 * Reads metrics of an archive over a time range as columns for charts, for pmproxy and for pages that have the archive themselves.
 * docs/reference/pmproxy.md
 *
 *     recorded              scanned in parts    ─┐
 *     discrete              from the start      ┼→ one ChartColumn per instance → points
 *     expressions, stacks   at the same times   ┘
 */
import { type Timestamp, toSeconds } from '../base/timestamp.ts'
import { isDerivedPmid } from '../derive/definitions.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_TYPE_DOUBLE } from '../model/types.ts'
import { type ChartRange, failedMetric, MOST_POINTS, NumberLists, tooManyPoints } from './chart-answer.ts'
import {
  type ChartArchive,
  ChartedMetric,
  type ChartQuery,
  type ChartRequest,
  type DescribedMetric,
} from './chart-metric.ts'
import { SampledMetrics, sampleStart } from './chart-sample.ts'
import { isDiscrete, type SampleTimes } from './chart-times.ts'
import type { ScanSink, ValueSink } from './scan.ts'
import { scanParts, timeInArchive } from './scan-parts.ts'

/** A requested metric, or why it is unavailable. */
export interface WantedMetric {
  readonly name: string
  readonly outcome: Outcome<DescribedMetric>
}

/** Most points allocated while an answer is read: columns grow by doubling. */
const MOST_SPACE = 2 * MOST_POINTS
/** How far before the window, in seconds, the first values of rates are searched. */
export const LOOK_BACK_SEC: number = 180

/** Reads an answer. PM_ERR_TOOBIG if it would be too large, and any error of `turn`. */
export async function chartRange(
  archive: ChartArchive,
  wanted: readonly WantedMetric[],
  query: ChartQuery,
): Promise<ChartRange> {
  const together = await scanTogether(archive, wanted, query)
  if (together !== undefined) return together
  return readRange(archive, wanted, query)
}

/** Returns the scanned values of stacked metrics that were recorded together, which are much faster to get; undefined for others. */
async function scanTogether(
  archive: ChartArchive,
  wanted: readonly WantedMetric[],
  query: ChartQuery,
): Promise<ChartRange | undefined> {
  if (query.aligned !== true || !wanted.every(isRecorded)) return undefined
  try {
    const scanned = await readRange(archive, wanted, { ...query, aligned: false }, true)
    return isAligned(scanned) ? scanned : undefined
  } catch (error) {
    // A sample has fewer points.
    if (PcpError.from(error).code === 'PM_ERR_TOOBIG') return undefined
    throw error
  }
}

/** May a scan find values of the metric, or is it not in the archive? */
function isRecorded({ outcome }: WantedMetric): boolean {
  return outcome instanceof PcpError || (outcome.computed === undefined && !isDiscrete(outcome.desc))
}

/** Is it a metric of every archive that no record has, such as event.missed? */
function isEventOnly({ desc, computed }: DescribedMetric): boolean {
  return computed === undefined && isDerivedPmid(desc.pmid)
}

/** Checks whether all columns have the same times, as metrics do that are recorded together. Then there is nothing to sample. */
function isAligned({ metrics }: ChartRange): boolean {
  const times = metrics
    .flatMap((metric) => ('columns' in metric ? metric.columns : []))
    .map((column) => column.times)
  return times.every((list) => list === times[0])
}

/** `isTrial`: parts are not shown before all are known. */
async function readRange(
  archive: ChartArchive,
  wanted: readonly WantedMetric[],
  query: ChartQuery,
  isTrial = false,
): Promise<ChartRange> {
  let space = MOST_SPACE
  const reserve = (points: number): void => {
    space -= points
    if (space < 0) throw tooManyPoints()
  }
  const rows = wanted.map(({ name, outcome }) =>
    outcome instanceof PcpError
      ? outcome
      : outcome.desc.type > PM_TYPE_DOUBLE
        ? new PcpError('PM_ERR_TYPE', `${name}: its values are not numbers`)
        : isEventOnly(outcome)
          ? new PcpError('PM_ERR_PMID_LOG', `${name}: it has values in event records only`)
          : new ChartedMetric({ name, metric: outcome }, query, reserve),
  )
  const charted = rows.filter((row) => row instanceof ChartedMetric)
  const recorded = charted.filter(({ isScanned }) => isScanned)
  const steady = recorded.filter(({ desc }) => isDiscrete(desc))
  const marks: number[] = []
  const answer = (): ChartRange => {
    const lists = new NumberLists()
    const metrics = rows.map((row, i) =>
      row instanceof PcpError ? failedMetric(wanted[i]!.name, row) : row.listed(archive, lists),
    )
    return { start: query.start, finish: query.finish, marks, metrics, lists: lists.all }
  }
  const reading: ChartRequest = {
    archive,
    query,
    turn: () => archive.yield(isTrial ? () => ({ ...answer(), metrics: [] }) : answer),
  }
  const sampled = new SampledMetrics(
    charted.filter(({ isScanned }) => !isScanned),
    reading,
  )
  const into = new Recorded(recorded, sampled.moments, query.start, marks)
  const window = { from: query.start - LOOK_BACK_SEC, to: query.finish }
  if (steady.length > 0)
    await archive.prefetch?.(timeInArchive(archive, window.from), timeInArchive(archive, window.to))
  await sampleStart(reading, steady)
  // Parts overlap at their ends; the columns skip the repeated value.
  await scanParts(archive, into.ids, window, into, reading.turn)
  const end = Math.min(query.finish, toSeconds(archive.end()))
  for (const metric of steady) metric.hold(end)
  for (const metric of recorded) metric.settle()
  await sampled.sample(reading)
  return answer()
}

/** Passes scanned values to the columns of their metrics, and their times to the sampled metrics. */
class Recorded implements ScanSink {
  readonly #byId = new Map<Pmid, ChartedMetric[]>()
  readonly #moments: SampleTimes
  readonly #start: number
  readonly #marks: number[]

  constructor(metrics: readonly ChartedMetric[], moments: SampleTimes, start: number, marks: number[]) {
    this.#moments = moments
    this.#start = start
    this.#marks = marks
    for (const metric of metrics) {
      const { pmid } = metric.desc
      this.#byId.set(pmid, [...(this.#byId.get(pmid) ?? []), metric])
    }
  }

  get ids(): readonly Pmid[] {
    return [...new Set([...this.#byId.keys(), ...this.#moments.ids])]
  }

  columnOf(pmid: Pmid, inst: number): ValueSink {
    const sinks = (this.#byId.get(pmid) ?? []).map((metric) => metric.sinkOf(inst))
    const times = this.#moments.sinkOf(pmid, inst)
    if (times !== undefined) sinks.push(times)
    if (sinks.length === 1) return sinks[0]!
    return {
      add: (time, value) => {
        for (const sink of sinks) sink.add(time, value)
      },
    }
  }

  record(time: Timestamp): void {
    this.#moments.record(time)
  }

  mark(time: number): void {
    if (time >= this.#start && this.#marks.at(-1) !== time) this.#marks.push(time)
    for (const metrics of this.#byId.values()) for (const metric of metrics) metric.mark(time)
    this.#moments.mark(time)
  }
}
