/** /ui/api/range: columns of an archive for charts. docs/pmproxy.md */
import { setImmediate } from 'node:timers/promises'
import { ChartColumn, type ChartPoints, type ChartWindow } from '../../archive/chart-column.ts'
import { toSeconds } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { rateUnits } from '../../model/rate.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_TYPE_DOUBLE } from '../../model/types.ts'
import { extractNumber } from '../../model/value-set.ts'
import type { FetchResult } from '../../model/values.ts'
import type { ArchiveControl } from '../../pmapi/archive-control.ts'
import type { Context } from '../../pmapi/context.ts'
import { fromSeconds } from '../../time/stamp.ts'
import { describeNames, jsonText, orNothing } from '../describe.ts'
import { json, type Reply } from '../http/reply.ts'
import { metricJson } from '../live/topic.ts'
import { namesOf, type PageCall, whole } from './page-call.ts'

const MOST_POINTS = 20_000
const DEFAULT_POINTS = 2000
/** Moments of expressions, each of which is a fetch. */
const MOST_MOMENTS = 4000
/** What is read before others get a turn, in seconds of the archive, and how long it may take altogether, ms. */
const SLICE_SEC = 3600
const MOST_MS = 20_000
/** Columns of one answer, and points of all of them. */
const MOST_COLUMNS = 5000
const MOST_ALL_POINTS = 4_000_000
/** How far before the window values are looked for that rates begin with, seconds. */
const LOOK_BACK = 180

/** A metric with its columns by instance. */
interface Charted {
  readonly name: string
  readonly desc: MetricDesc
  readonly help: string
  readonly columns: Map<number, ChartColumn>
}

/** One answer being made. */
interface Work {
  readonly context: Context
  readonly archive: ArchiveControl
  readonly window: ChartWindow
  readonly raw: boolean
  readonly signal: AbortSignal
  readonly deadline: number
  readonly marks: number[]
}

/** The route. PM_ERR_ARG for what is no window; PM_ERR_TIMEOUT for one that takes too long to read. */
export async function range({ request, context }: PageCall): Promise<Reply> {
  const { query, signal } = request
  const { archive } = context
  if (archive === undefined)
    throw new PcpError('PM_ERR_NOTARCHIVE', 'range needs archive=; values of a host come by /ui/api/live')
  const first = toSeconds(archive.start)
  const last = toSeconds(archive.end())
  const start = moment(query.get('start'), 'start', first)
  const finish = moment(query.get('finish'), 'finish', last)
  if (!(finish > start)) throw new PcpError('PM_ERR_ARG', 'finish is not after start')
  const points = Math.max(2, whole(query.get('points'), 'points', DEFAULT_POINTS, MOST_POINTS))
  const raw = query.get('raw') === '1'
  const work: Work = {
    context,
    archive,
    window: { start, finish, points },
    raw,
    signal,
    deadline: Date.now() + MOST_MS,
    marks: [],
  }
  const derived = await define(work, query.all('derive'))
  const asked = namesOf(request)
  const found = await describeNames(context, asked, { signal })
  const rows = await Promise.all(
    found.map(
      (each, i) => derived.get(asked[i]!) ?? (isError(each) ? each : charted(context, asked[i]!, each.desc)),
    ),
  )
  const known = rows.filter((row): row is Charted => !isError(row))
  const recorded = known.filter(({ name }) => !derived.has(name))
  const steady = recorded.filter(({ desc }) => desc.sem === PM_SEM_DISCRETE)
  await sampleAt(work, steady, start)
  await scanRecorded(work, recorded)
  await sampleAt(work, steady, finish)
  await sampleDerived(
    work,
    known.filter(({ name }) => derived.has(name)),
  )
  return answer(work, asked, rows)
}

function moment(text: string | undefined, what: string, byDefault: number): number {
  if (text === undefined || text === '') return byDefault
  const seconds = Number(text)
  if (Number.isFinite(seconds) && Math.abs(seconds) < 1e11) return seconds
  throw new PcpError('PM_ERR_ARG', `${what} is a time in seconds since the epoch, not ${text}`)
}

/** Defines metrics; for each name whether it means something in this archive: what it is made of may not have been recorded. */
async function define(
  { context, signal }: Work,
  definitions: readonly string[],
): Promise<ReadonlyMap<string, PcpError | undefined>> {
  const names = new Map<string, PcpError | undefined>()
  for (const text of definitions.slice(0, 100)) {
    const equals = text.indexOf('=')
    if (equals < 1) throw new PcpError('PM_ERR_ARG', 'derive is NAME=EXPRESSION')
    const name = text.slice(0, equals)
    const fault = await context.addDerived(name, text.slice(equals + 1), { signal }).then(
      () => undefined,
      (error: unknown) => PcpError.from(error),
    )
    if (fault !== undefined && fault.code !== 'PM_ERR_BADDERIVE') throw fault
    names.set(name, fault)
  }
  return names
}

async function charted(context: Context, name: string, desc: MetricDesc): Promise<Charted | PcpError> {
  if (desc.type > PM_TYPE_DOUBLE) return new PcpError('PM_ERR_TYPE', `${name}: its values are no numbers`)
  const help = (await orNothing(context.text(desc.pmid, { level: 'oneline' }))) ?? ''
  return { name, desc, help, columns: new Map() }
}

/** In slices, with a turn for others between them. */
async function scanRecorded(work: Work, metrics: readonly Charted[]): Promise<void> {
  const { archive, window, marks } = work
  const ids = [...new Set(metrics.map(({ desc }) => desc.pmid))]
  if (ids.length === 0) return
  const byId = new Map<Pmid, Charted[]>()
  for (const metric of metrics) byId.set(metric.desc.pmid, [...(byId.get(metric.desc.pmid) ?? []), metric])
  const epoch = toSeconds(archive.start)
  let from = Math.max(epoch, window.start - LOOK_BACK)
  const end = Math.min(window.finish, toSeconds(archive.end()))
  while (from <= end) {
    const to = Math.min(end, from + SLICE_SEC)
    const part = archive.scan(ids, { from: fromSeconds(from), to: fromSeconds(to) })
    const gaps = Array.from(part.marks, (time) => epoch + time)
    for (const gap of gaps) if (gap >= window.start && marks.at(-1) !== gap) marks.push(gap)
    for (const { pmid, inst, times, values } of part.columns)
      for (const metric of byId.get(pmid) ?? [])
        addPart(columnOf(work, metric, inst), epoch, times, values, gaps)
    if (to >= end) return
    from = to
    await pause(work)
  }
}

function addPart(
  column: ChartColumn,
  epoch: number,
  times: Float64Array,
  values: Float64Array,
  gaps: readonly number[],
): void {
  let gap = 0
  for (let i = 0; i < times.length; i++) {
    const time = epoch + times[i]!
    while (gap < gaps.length && gaps[gap]! <= time) column.mark(gaps[gap++]!)
    column.add(time, values[i]!)
  }
  while (gap < gaps.length) column.mark(gaps[gap++]!)
}

async function sampleDerived(work: Work, metrics: readonly Charted[]): Promise<void> {
  if (metrics.length === 0) return
  const { archive, context, window, signal } = work
  const moments = Math.min(window.points, MOST_MOMENTS)
  const step = (window.finish - window.start) / (moments - 1)
  // Before its start an archive answers as after its end.
  const first = Math.max(0, Math.ceil((toSeconds(archive.start) - window.start) / step))
  archive.setMode('interpolate', fromSeconds(window.start + first * step), step)
  const ids = metrics.map(({ desc }) => desc.pmid)
  for (let n = first; n < moments; n++) {
    const result = await fetchUnlessEnded(context, ids, signal)
    if (result === undefined) break
    const time = toSeconds(result.timestamp)
    metrics.forEach((metric, m) => {
      const set = result.sets[m]!
      for (let i = 0; i < set.status; i++)
        columnOf(work, metric, set.inst[i]!).add(time, extractNumber(set, i, metric.desc.type))
    })
    if (n % 50 === 49) await pause(work)
  }
}

/** Nothing where the archive has no values yet, or no more. */
async function fetchUnlessEnded(
  context: Context,
  ids: readonly Pmid[],
  signal: AbortSignal,
): Promise<FetchResult | undefined> {
  try {
    return await context.fetch(ids, { signal })
  } catch (error) {
    if (PcpError.from(error).code === 'PM_ERR_EOL') return undefined
    throw error
  }
}

/** What is recorded only when it changes holds at a moment too at which it was not. */
async function sampleAt(work: Work, metrics: readonly Charted[], moment: number): Promise<void> {
  const { archive, context, signal } = work
  const time = Math.min(Math.max(moment, toSeconds(archive.start)), toSeconds(archive.end()))
  if (metrics.length === 0 || time < work.window.start || time > work.window.finish) return
  archive.setMode('interpolate', fromSeconds(time), 1)
  const ids = metrics.map(({ desc }) => desc.pmid)
  const result = await fetchUnlessEnded(context, ids, signal)
  if (result === undefined) return
  const { sets } = result
  for (const [m, metric] of metrics.entries()) {
    const set = sets[m]!
    for (let i = 0; i < set.status; i++)
      columnOf(work, metric, set.inst[i]!).add(time, extractNumber(set, i, metric.desc.type))
  }
}

async function pause({ signal, deadline }: Work): Promise<void> {
  await setImmediate()
  signal.throwIfAborted()
  if (Date.now() > deadline)
    throw new PcpError('PM_ERR_TIMEOUT', 'The window takes too long to read: ask for a shorter one')
}

function columnOf({ window, raw }: Work, { columns, desc }: Charted, inst: number): ChartColumn {
  const known = columns.get(inst)
  if (known !== undefined) return known
  if (columns.size >= MOST_COLUMNS)
    throw new PcpError('PM_ERR_TOOBIG', `More than ${MOST_COLUMNS} instances: ask for fewer`)
  const { factor } = rateUnits(desc.units)
  const column = new ChartColumn(window, { sem: desc.sem, factor, raw })
  columns.set(inst, column)
  return column
}

function answer(work: Work, asked: readonly string[], rows: readonly (Charted | PcpError)[]): Reply {
  const { start, finish } = work.window
  const times = new Times()
  const budget = { points: MOST_ALL_POINTS }
  const metrics = rows.map((row, i) =>
    isError(row) ? metricJson({ name: asked[i]!, error: row }) : metricText(work, row, times, budget),
  )
  const marks = work.marks.map(seconds).join(',')
  return json(
    `{"start":${seconds(start)},"finish":${seconds(finish)},"marks":[${marks}],"metrics":[${metrics.join(',')}],"times":[${times.texts.join(',')}]}`,
  )
}

function metricText(
  { archive, raw }: Work,
  metric: Charted,
  times: Times,
  budget: { points: number },
): string {
  const { desc } = metric
  const isRate = desc.sem === PM_SEM_COUNTER && !raw
  const shown = isRate ? { ...desc, units: rateUnits(desc.units).units } : desc
  const names = instanceNames(archive, desc.indom)
  const columns = [...metric.columns].map(([inst, column]) => {
    const points = column.finish()
    budget.points -= points.values.length
    if (budget.points < 0)
      throw new PcpError(
        'PM_ERR_TOOBIG',
        `More than ${MOST_ALL_POINTS} points: ask for fewer metrics or points`,
      )
    const name = inst === PM_IN_NULL ? '' : (names.get(inst) ?? String(inst))
    const extremes =
      points.min === undefined || points.max === undefined
        ? ''
        : `,"min":[${numbers(points.min, raw)}],"max":[${numbers(points.max, raw)}]`
    return `{"inst":${inst},"name":${jsonText(name)},"times":${times.index(points)},"values":[${numbers(points.values, raw)}]${extremes}}`
  })
  return `${metricJson({ name: metric.name, desc: shown, help: metric.help }).slice(0, -1)},"rate":${isRate},"columns":[${columns.join(',')}]}`
}

function instanceNames(archive: ArchiveControl, indom: number): ReadonlyMap<number, string> {
  if (indom === PM_INDOM_NULL) return new Map()
  try {
    const { ids, names } = archive.instances(indom)
    return new Map(ids.map((id, i) => [id, names[i]!]))
  } catch {
    return new Map() // an expression of a domain that was never recorded
  }
}

/** Lists of times, each once. */
class Times {
  readonly texts: string[] = []
  readonly #lists: (readonly number[])[] = []

  index({ times }: ChartPoints): number {
    const known = this.#lists.findIndex(
      (list) => list.length === times.length && list.every((t, i) => t === times[i]),
    )
    if (known >= 0) return known
    this.#lists.push(times)
    this.texts.push(`[${times.map(seconds).join(',')}]`)
    return this.#lists.length - 1
  }
}

/** Milliseconds are enough for a chart. */
function seconds(time: number): string {
  return String(Math.round(time * 1000) / 1000)
}

/** Eight digits are enough for a chart; recorded values are left whole. */
function numbers(values: readonly number[], raw: boolean): string {
  return values
    .map((value) => {
      if (!Number.isFinite(value)) return 'null'
      return String(raw || Number.isInteger(value) ? value : Number(value.toPrecision(8)))
    })
    .join(',')
}
