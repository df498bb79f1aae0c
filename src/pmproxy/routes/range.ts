/** /ui/api/range: values of an archive in columns, for charts. docs/reference/pmproxy.md */
import type { ChartRange } from '../../archive/chart-answer.ts'
import { encodeChartRange } from '../../archive/chart-bytes.ts'
import type { ChartArchive, DerivedFrom } from '../../archive/chart-metric.ts'
import { chartRange, type WantedMetric } from '../../archive/chart-range.ts'
import { toSeconds } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { ArchiveControl } from '../../pmapi/archive-control.ts'
import type { Context } from '../../pmapi/context.ts'
import { yieldToEventLoop } from '../../sys/event-loop.ts'
import { describeNames, jsonText, orUndefined } from '../describe.ts'
import { json, type Reply } from '../http/reply.ts'
import { namesOf, type PageCall, wholeNumber } from './page-call.ts'

const MOST_POINTS = 20_000
const DEFAULT_POINTS = 2000
/** Time limit of a response, ms. */
const MOST_MS = 20_000
const MOST_DEFINITIONS = 100

/** Handles the route. PM_ERR_ARG for an invalid window; PM_ERR_TIMEOUT if reading takes too long. */
export async function range({ request, context }: PageCall): Promise<Reply> {
  const { query, signal } = request
  const { archive } = context
  if (archive === undefined)
    throw new PcpError('PM_ERR_NOTARCHIVE', 'range requires archive=; for values of a host use /ui/api/live')
  const start = moment(query.get('start'), 'start', toSeconds(archive.start))
  const finish = moment(query.get('finish'), 'finish', toSeconds(archive.end()))
  if (!(finish > start)) throw new PcpError('PM_ERR_ARG', 'finish must be after start')
  const points = Math.max(2, wholeNumber(query.get('points'), 'points', DEFAULT_POINTS, MOST_POINTS))
  const raw = query.get('raw') === '1'
  const wanted = await wantedMetrics(context, namesOf(request), query.all('derive'), signal)
  const answer = await chartRange(chartArchive(context, archive, signal), wanted, {
    start,
    finish,
    points,
    raw,
    aligned: query.get('aligned') === '1',
  })
  return query.get('format') === 'columns'
    ? { status: 200, type: 'application/octet-stream', body: encodeChartRange(answer) }
    : json(jsonOf(answer, raw))
}

/** Parses a time in seconds since the epoch. PM_ERR_ARG for anything else. */
export function moment(text: string | undefined, what: string, byDefault: number): number {
  if (text === undefined || text === '') return byDefault
  const seconds = Number(text)
  if (Number.isFinite(seconds) && Math.abs(seconds) < 1e11) return seconds
  throw new PcpError('PM_ERR_ARG', `${what} must be a time in seconds since the epoch, not ${text}`)
}

async function wantedMetrics(
  context: Context,
  names: readonly string[],
  definitions: readonly string[],
  signal: AbortSignal,
): Promise<WantedMetric[]> {
  const derived = await define(context, definitions, signal)
  const found = await describeNames(context, names, { signal })
  return Promise.all(
    found.map(async (each, i) => {
      const name = names[i]!
      const fault = derived.get(name)
      if (fault !== undefined) return { name, outcome: fault }
      if (isError(each)) return { name, outcome: each }
      const help = (await orUndefined(context.text(each.desc.pmid, { level: 'oneline' }))) ?? ''
      const computed = await computedOf(context, each.desc.pmid, signal)
      return { name, outcome: { desc: each.desc, help, ...(computed === undefined ? {} : { computed }) } }
    }),
  )
}

/** Returns the metrics that the operands of derived metrics use. */
async function computedOf(context: Context, id: Pmid, signal: AbortSignal): Promise<DerivedFrom | undefined> {
  const from = context.operandsOf(id)
  if (from === undefined) return undefined
  const descs = await context.descs(from.ids, { signal })
  return {
    operands: descs.filter((desc): desc is MetricDesc => !isError(desc)),
    isSequential: from.isSequential,
  }
}

/** Defines derived metrics; returns errors by name, as operands may not have been recorded. */
async function define(
  context: Context,
  definitions: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PcpError | undefined>> {
  const names = new Map<string, PcpError | undefined>()
  for (const text of definitions.slice(0, MOST_DEFINITIONS)) {
    const equals = text.indexOf('=')
    if (equals < 1) throw new PcpError('PM_ERR_ARG', 'derive must be NAME=EXPRESSION')
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

function chartArchive(context: Context, archive: ArchiveControl, signal: AbortSignal): ChartArchive {
  const deadline = performance.now() + MOST_MS
  return {
    start: archive.start,
    end: () => archive.end(),
    scan: (ids, options) => archive.scan(ids, options),
    instances: (indom) => archive.instances(indom),
    setMode: (mode, when, stepSec) => archive.setMode(mode, when, stepSec),
    moveTo: (when) => archive.moveTo(when),
    fetch: (ids) => context.fetch(ids, { signal }),
    yield: async () => {
      await yieldToEventLoop()
      signal.throwIfAborted()
      if (performance.now() > deadline)
        throw new PcpError('PM_ERR_TIMEOUT', 'Reading the window takes too long; use a shorter one')
    },
  }
}

/** Formats the response as JSON, with values in their columns and lists of times at the end. */
function jsonOf({ start, finish, marks, metrics, lists }: ChartRange, raw: boolean): string {
  const places = new Map<number, number>()
  const times: string[] = []
  const placeOf = (list: number): number => {
    if (!places.has(list))
      places.set(list, times.push(`[${Array.from(lists[list]!, seconds).join(',')}]`) - 1)
    return places.get(list)!
  }
  const values = (what: string, list: number | undefined): string =>
    list === undefined ? '' : `,"${what}":[${numbers(lists[list]!, raw)}]`
  const rows = metrics.map((metric) => {
    if ('code' in metric) return JSON.stringify(metric)
    const { columns, ...words } = metric
    const texts = columns.map(
      (column) =>
        `{"inst":${column.inst},"name":${jsonText(column.name)},"times":${placeOf(column.times)}` +
        `${values('values', column.values)}${values('min', column.min)}${values('max', column.max)}}`,
    )
    return `${JSON.stringify(words).slice(0, -1)},"columns":[${texts.join(',')}]}`
  })
  return (
    `{"start":${seconds(start)},"finish":${seconds(finish)},"marks":[${marks.map(seconds).join(',')}],` +
    `"metrics":[${rows.join(',')}],"times":[${times.join(',')}]}`
  )
}

/** Rounds a time to milliseconds, which suffice for a chart. */
function seconds(time: number): string {
  return String(Math.round(time * 1000) / 1000)
}

/** Rounds values to eight digits, which suffice for a chart; `raw` values are exact. */
function numbers(values: Float64Array, raw: boolean): string {
  return Array.from(values, (value) => {
    if (!Number.isFinite(value)) return 'null'
    return String(raw || Number.isInteger(value) ? value : Number(value.toPrecision(8)))
  }).join(',')
}
