/**
 * Some metrics of an archive over a span of time, as columns for charts: the same whether pmproxy serves it, or the page has the archive
 * itself. docs/pmproxy.md
 *
 *     recorded              scanned in parts   ─┐
 *     discrete              from the start on   ┼→ a ChartColumn an instance → points
 *     expressions, stacks   at the same moments ┘
 */
import { toSeconds } from '../base/timestamp.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_TYPE_DOUBLE } from '../model/types.ts'
import { type ChartRange, failedMetric, Lists, MOST_POINTS, tooManyPoints } from './chart-answer.ts'
import {
  type ChartArchive,
  Charted,
  type ChartQuery,
  type KnownMetric,
  type Reading,
} from './chart-metric.ts'
import { isSteady, type Moments } from './chart-moments.ts'
import { momentOf, SampledTogether, sampleStart } from './chart-sample.ts'
import type { ScanSink, ValueSink } from './scan.ts'

/** A metric that is wanted, or why it cannot be had. */
export interface WantedMetric {
  readonly name: string
  readonly outcome: Outcome<KnownMetric>
}

/**
 * What is scanned between two turns: seconds of the archive at first, and then twice as much until there are so many records. No more
 * than some days: records may be dense again after a time of none.
 */
const PART_SEC = 3600
const PART_RECORDS = 2000
const MOST_PART_SEC = 3 * 24 * 3600
/** Points that there may be space for while an answer is read: columns grow by doubling. */
const MOST_SPACE = 2 * MOST_POINTS
/** How far before the window values are looked for that rates begin with, seconds. */
const LOOK_BACK_SEC = 180

/** Reads it. PM_ERR_TOOBIG for more than is reasonable, and whatever `turn` throws. */
export async function chartRange(
  archive: ChartArchive,
  wanted: readonly WantedMetric[],
  query: ChartQuery,
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
        ? new PcpError('PM_ERR_TYPE', `${name}: its values are no numbers`)
        : new Charted({ name, metric: outcome }, query, reserve),
  )
  const charted = rows.filter((row) => row instanceof Charted)
  const recorded = charted.filter(({ isScanned }) => isScanned)
  const steady = recorded.filter(({ desc }) => isSteady(desc))
  const marks: number[] = []
  const answer = (): ChartRange => {
    const lists = new Lists()
    const metrics = rows.map((row, i) =>
      row instanceof PcpError ? failedMetric(wanted[i]!.name, row) : row.listed(archive, lists),
    )
    return { start: query.start, finish: query.finish, marks, metrics, lists: lists.all }
  }
  const reading: Reading = { archive, query, turn: () => archive.turn(answer) }
  const sampled = new SampledTogether(
    charted.filter(({ isScanned }) => !isScanned),
    reading,
  )
  await sampleStart(reading, steady)
  await scanRecorded(reading, new Recorded(recorded, sampled.moments, query.start, marks))
  const end = Math.min(query.finish, toSeconds(archive.end()))
  for (const metric of steady) metric.hold(end)
  for (const metric of recorded) metric.settle()
  await sampled.sample(reading)
  return answer()
}

/** All that was recorded in the window, part by part. */
async function scanRecorded(
  { archive, query: { start, finish }, turn }: Reading,
  into: Recorded,
): Promise<void> {
  const { ids } = into
  const end = Math.min(finish, toSeconds(archive.end()))
  let from = Math.max(toSeconds(archive.start), start - LOOK_BACK_SEC)
  let seconds = PART_SEC
  while (ids.length > 0 && from <= end) {
    const to = Math.min(end, from + seconds)
    const { records } = archive.scan(ids, {
      from: momentOf(archive, from),
      to: momentOf(archive, to),
      into,
    })
    if (to >= end) break
    // Both ends of a part belong to it: what is at its end comes again, and is left out.
    from = to
    if (records < PART_RECORDS) seconds = Math.min(MOST_PART_SEC, 2 * seconds)
    await turn()
  }
}

/** Hands scanned values to the columns of their metrics, and their times to the metrics that are sampled. */
class Recorded implements ScanSink {
  readonly #byId = new Map<Pmid, Charted[]>()
  readonly #moments: Moments
  readonly #start: number
  readonly #marks: number[]

  constructor(metrics: readonly Charted[], moments: Moments, start: number, marks: number[]) {
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

  mark(time: number): void {
    if (time >= this.#start && this.#marks.at(-1) !== time) this.#marks.push(time)
    for (const metrics of this.#byId.values()) for (const metric of metrics) metric.mark(time)
    this.#moments.mark(time)
  }
}
