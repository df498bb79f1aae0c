/** /ui/api/range: values of an archive in columns, for charts. docs/reference/pmproxy.md */
import type { ChartRange } from '../../archive/chart-answer.ts'
import { encodeChartRange } from '../../archive/chart-bytes.ts'
import { chartRange } from '../../archive/chart-range.ts'
import { toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { chartArchive, wantedMetrics } from '../chart-archive.ts'
import { jsonText } from '../describe.ts'
import { json, type Reply } from '../http/reply.ts'
import { moment, namesOf, type PageCall, wholeNumber } from './page-call.ts'

const MOST_POINTS = 20_000
const DEFAULT_POINTS = 2000

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
