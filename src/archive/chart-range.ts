/**
 * Some metrics of an archive over a span of time, as columns for charts: the same whether pmproxy serves it, or the page has the archive
 * itself. docs/pmproxy.md
 *
 *     recorded     scanned in parts ─┐
 *     discrete     from the start on ┼→ a ChartColumn an instance → points
 *     expressions  at equal steps   ─┘
 */
import { type Timestamp, toSeconds } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import { type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { rateUnits } from '../model/rate.ts'
import type { Instances } from '../model/source.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_TYPE_DOUBLE } from '../model/types.ts'
import { extractNumber } from '../model/value-set.ts'
import type { FetchResult } from '../model/values.ts'
import { fromSeconds } from '../time/stamp.ts'
import {
  type ChartRange,
  failedMetric,
  type ListedMetric,
  Lists,
  MOST_POINTS,
  metricWords,
  tooManyPoints,
} from './chart-answer.ts'
import { ChartColumn, type ChartWindow } from './chart-column.ts'
import type { ScanOptions, ScanResult, ScanSink } from './scan.ts'
import type { ValueSink } from './scan-layout.ts'

/** What is asked of an archive. */
export interface ChartArchive {
  readonly start: Timestamp
  end(): Timestamp
  /** Recorded metrics, see `scan`. */
  scan(ids: readonly Pmid[], options: ScanOptions): ScanResult
  /** Instances over its whole life. PM_ERR_INDOM_LOG. */
  instances(indom: Indom): Instances
  /** Where `fetch` interpolates next, and how far it goes on each time. */
  setMode(mode: 'interpolate', when: Timestamp, stepSec: number): void
  /** Recorded and derived metrics. PM_ERR_EOL outside of what was recorded. */
  fetch(ids: readonly Pmid[]): Promise<FetchResult>
  /** Lets others have a turn; throws when nobody waits for the answer any more. `soFar` makes an answer of what has been read. */
  turn(soFar: () => ChartRange): Promise<void>
}

/** A metric that is wanted, or why it cannot be had. */
export interface WantedMetric {
  readonly name: string
  readonly outcome: Outcome<KnownMetric>
}

/** A metric of an archive. */
export interface KnownMetric {
  readonly desc: MetricDesc
  readonly help: string
  /** It is computed: no record has values of it. */
  readonly isDerived: boolean
}

/** What is wanted. */
export interface ChartQuery extends ChartWindow {
  /** Counters as they are recorded, not as rates. */
  readonly raw: boolean
}

/** Moments of expressions, each of which is a fetch, and how many of them come between two turns. */
const MOST_MOMENTS = 4000
const MOMENTS_A_TURN = 50
/**
 * What is scanned between two turns: seconds of the archive at first, and then twice as much until there are so many records. No more
 * than some days: records may be dense again after a time of none.
 */
const PART_SEC = 3600
const PART_RECORDS = 2000
const MOST_PART_SEC = 3 * 24 * 3600
/** Columns of a metric, and the points that there may be space for while an answer is read: columns grow by doubling. */
const MOST_COLUMNS = 5000
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
  const recorded = charted.filter(({ metric }) => !metric.isDerived)
  const steady = recorded.filter(({ desc }) => desc.sem === PM_SEM_DISCRETE)
  const computed = charted.filter(({ metric }) => metric.isDerived)
  const marks: number[] = []
  const answer = (): ChartRange => {
    const lists = new Lists()
    const metrics = rows.map((row, i) =>
      row instanceof PcpError ? failedMetric(wanted[i]!.name, row) : row.listed(archive, lists),
    )
    return { start: query.start, finish: query.finish, marks, metrics, lists: lists.all }
  }
  const reading: Reading = { archive, query, turn: () => archive.turn(answer) }
  await sampleStart(reading, steady)
  await scanRecorded(reading, recorded, marks)
  const end = Math.min(query.finish, toSeconds(archive.end()))
  for (const metric of steady) metric.hold(end)
  await sampleDerived(reading, computed)
  return answer()
}

/** What is read, and for what. */
interface Reading {
  readonly archive: ChartArchive
  readonly query: ChartQuery
  readonly turn: () => Promise<void>
}

/** A moment of what was recorded. The bounds are as they are: a double holds no nanoseconds. */
function momentOf(archive: ChartArchive, seconds: number): Timestamp {
  if (seconds <= toSeconds(archive.start)) return archive.start
  const end = archive.end()
  return seconds >= toSeconds(end) ? end : fromSeconds(seconds)
}

/** A metric with its columns by instance. */
class Charted {
  readonly name: string
  readonly metric: KnownMetric
  readonly columns: Map<number, ChartColumn> = new Map()
  readonly #query: ChartQuery
  readonly #reserve: (points: number) => void

  constructor(
    { name, metric }: { readonly name: string; readonly metric: KnownMetric },
    query: ChartQuery,
    reserve: (points: number) => void,
  ) {
    this.name = name
    this.metric = metric
    this.#query = query
    this.#reserve = reserve
  }

  get desc(): MetricDesc {
    return this.metric.desc
  }

  column(inst: number): ChartColumn {
    let column = this.columns.get(inst)
    if (column === undefined) {
      if (this.columns.size >= MOST_COLUMNS)
        throw new PcpError('PM_ERR_TOOBIG', `More than ${MOST_COLUMNS} instances: ask for fewer`)
      const { sem, units } = this.desc
      column = new ChartColumn(this.#query, {
        sem,
        factor: rateUnits(units).factor,
        raw: this.#query.raw,
        reserve: this.#reserve,
      })
      this.columns.set(inst, column)
    }
    return column
  }

  /** Takes the values of a fetch. */
  take({ timestamp, sets }: FetchResult, m: number): void {
    const set = sets[m]!
    const time = toSeconds(timestamp)
    for (let i = 0; i < set.status; i++)
      this.column(set.inst[i]!).add(time, extractNumber(set, i, this.desc.type))
  }

  /** What was recorded last still holds, of the instances that there were then. */
  hold(time: number): void {
    const columns = [...this.columns.values()]
    const latest = columns.reduce((last, { lastTime }) => Math.max(last, lastTime || 0), 0)
    for (const column of columns) if (column.lastTime === latest) column.hold(time)
  }

  /** What a fetch has no value of is interrupted. */
  markOthers({ timestamp, sets }: FetchResult, m: number): void {
    const { status, inst } = sets[m]!
    if (status >= this.columns.size) return
    const here = new Set(inst.slice(0, Math.max(0, status)))
    const time = toSeconds(timestamp)
    for (const [id, column] of this.columns) if (!here.has(id)) column.mark(time)
  }

  listed(archive: ChartArchive, lists: Lists): ListedMetric {
    const { desc } = this
    const rate = desc.sem === PM_SEM_COUNTER && !this.#query.raw
    const shown = rate ? { ...desc, units: rateUnits(desc.units).units } : desc
    const isSingular = desc.indom === PM_INDOM_NULL
    const names = isSingular ? new Map<number, string>() : instanceNames(archive, desc.indom)
    const columns = Array.from(this.columns, ([inst, column]) => {
      const name = isSingular ? '' : (names.get(inst) ?? String(inst))
      return { inst, name, ...lists.put(column.finish()) }
    })
    return { ...metricWords(this.name, shown, this.metric.help), rate, columns }
  }
}

function instanceNames(archive: ChartArchive, indom: Indom): ReadonlyMap<number, string> {
  try {
    const { ids, names } = archive.instances(indom)
    return new Map(Array.from(ids, (id, i) => [id, names[i]!]))
  } catch {
    return new Map() // an expression of a domain that was never recorded
  }
}

/** All that was recorded in the window, part by part; `marks` gets when recording was interrupted. */
async function scanRecorded(
  { archive, query: { start, finish }, turn }: Reading,
  metrics: readonly Charted[],
  marks: number[],
): Promise<void> {
  const into = new Recorded(metrics, start, marks)
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

/** Hands what is scanned to the columns of all metrics of a name or another. */
class Recorded implements ScanSink {
  readonly #byId = new Map<Pmid, Charted[]>()
  readonly #start: number
  readonly #marks: number[]

  constructor(metrics: readonly Charted[], start: number, marks: number[]) {
    this.#start = start
    this.#marks = marks
    for (const metric of metrics) {
      const { pmid } = metric.desc
      this.#byId.set(pmid, [...(this.#byId.get(pmid) ?? []), metric])
    }
  }

  get ids(): readonly Pmid[] {
    return [...this.#byId.keys()]
  }

  columnOf(pmid: Pmid, inst: number): ValueSink {
    const columns = this.#byId.get(pmid)!.map((metric) => metric.column(inst))
    if (columns.length === 1) return columns[0]!
    return {
      add: (time, value) => {
        for (const column of columns) column.add(time, value)
      },
    }
  }

  mark(time: number): void {
    if (time >= this.#start && this.#marks.at(-1) !== time) this.#marks.push(time)
    for (const metrics of this.#byId.values())
      for (const { columns } of metrics) for (const column of columns.values()) column.mark(time)
  }
}

/** What is recorded only when it changes holds at the start too, where it was not. */
async function sampleStart(
  { archive, query: { start, finish } }: Reading,
  metrics: readonly Charted[],
): Promise<void> {
  const time = Math.max(start, toSeconds(archive.start))
  if (metrics.length === 0 || time > Math.min(finish, toSeconds(archive.end()))) return
  archive.setMode('interpolate', momentOf(archive, time), 1)
  const ids = metrics.map(({ desc }) => desc.pmid)
  const result = await fetchUnlessEnded(archive, ids)
  if (result !== undefined) for (const [m, metric] of metrics.entries()) metric.take(result, m)
}

async function sampleDerived(
  { archive, query: { start, finish, points }, turn }: Reading,
  metrics: readonly Charted[],
): Promise<void> {
  if (metrics.length === 0) return
  const moments = Math.min(points, MOST_MOMENTS)
  const step = (finish - start) / (moments - 1)
  // Before its start an archive answers as after its end.
  const first = Math.max(0, Math.ceil((toSeconds(archive.start) - start) / step))
  archive.setMode('interpolate', momentOf(archive, start + first * step), step)
  const ids = metrics.map(({ desc }) => desc.pmid)
  for (let n = first; n < moments; n++) {
    const result = await fetchUnlessEnded(archive, ids)
    if (result === undefined) break
    for (const [m, metric] of metrics.entries()) {
      metric.take(result, m)
      metric.markOthers(result, m)
    }
    if (n % MOMENTS_A_TURN === MOMENTS_A_TURN - 1) await turn()
  }
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
