/** Values of metrics over time. */
import { z } from 'zod'
import { PM_SEM_COUNTER, semStr } from '../../../../model/types.ts'
import { unitsStr } from '../../../../model/units.ts'
import type { ArchiveContext } from '../../../../pmapi/archive.ts'
import type { Context } from '../../../../pmapi/context.ts'
import { formatDuration } from '../../../../ui/time/format.ts'
import {
  type Measure,
  measureOf,
  RATE,
  rateOf,
  showNumber,
  showValue,
  stepFor,
} from '../../../../ui/view/measure.ts'
import { Answer, shownMessage, shownName, shownText, untrusted } from '../answer.ts'
import { instancesOf, isInstance, unknownInstances } from '../instances.ts'
import { type Desk, type McpTool, mcpTool } from '../mcp-tool.ts'
import type { Window } from '../moments.ts'
import type { MeasuredPlot } from '../page-links.ts'
import { type MetricSeries, meansOf, readSeries, type Series } from '../series.ts'
import { type SnapshotMetric, snapshot } from '../snapshot.ts'
import { archiveOf, type NamedSource, spanOf } from '../sources.ts'
import { FROM, INSTANCES, METRICS, SOURCE, TO } from './arguments.ts'

/** Most points of an answer, over all series; fewer of one series than the least show no course. */
const MOST_POINTS = 200
const LEAST_POINTS = 4
/** Tokens of a point: up to three digits, a dot, a gap. */
const TOKENS_A_POINT = 4

export const query: McpTool = mcpTool({
  name: 'query',
  title: 'Query values',
  description:
    'Values of metrics in a window of an archive: statistics of each instance (min, mean, median, 95th percentile, max and when, last) and up to 200 points. Counters are rates per second. For a host: the values of now. The instances with the highest values come first.',
  input: z.object({
    metrics: METRICS,
    instances: INSTANCES,
    source: SOURCE,
    from: FROM,
    to: TO,
    points: z
      .number()
      .int()
      .min(0)
      .max(MOST_POINTS)
      .optional()
      .describe('Most points of all series together; 0 for statistics only. Default 60'),
  }),
  async run(input, desk) {
    const isPast = input.from !== undefined || input.to !== undefined
    const source = desk.sources.named(input.source, isPast)
    return desk.sources.use(source, async (context) =>
      context.archive === undefined && !isPast
        ? valuesNow(context, input.metrics, input.instances, source, desk)
        : overTime(archiveOf(context, source), input, source, desk),
    )
  },
})

interface Question {
  readonly metrics: readonly string[]
  readonly instances?: readonly string[] | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly points?: number | undefined
}

const DEFAULT_POINTS = 60

async function overTime(
  context: ArchiveContext,
  { metrics, instances, from, to, points = DEFAULT_POINTS }: Question,
  source: NamedSource,
  desk: Desk,
): Promise<string> {
  const window = desk.moments.window(from, to, spanOf(context)!)
  const read = await readSeries(context, metrics, window, desk.signal)
  const answer = new Answer().line(`${source.id}, ${desk.moments.windowText(window)}`)
  const link = await desk.links.charts(source, plotsOf(read, instances), window)
  if (link !== undefined) answer.foot(link)
  const rows = read.flatMap((metric) =>
    chosen(metric.series, instances).map((series) => ({ metric, series })),
  )
  rows.sort((a, b) => b.series.statistics.max - a.series.statistics.max)
  // Every series gets its statistics before one gets points.
  const perSeries = Math.min(
    Math.floor(points / Math.max(1, rows.length)),
    Math.floor(answer.room / TOKENS_A_POINT / Math.max(1, rows.length)) - 20,
  )
  const most = Math.max(0, ...rows.map(({ series }) => series.statistics.count))
  const count = perSeries >= Math.min(LEAST_POINTS, points) ? Math.min(perSeries, most) : 0
  const titles = await Promise.all(read.map((metric) => titleOf(metric, instances, context, desk.signal)))
  answer.rows(titles, 'name fewer metrics')
  if (count === 0 && points > 0 && rows.length > 0)
    answer.line(
      `No points: fewer than ${LEAST_POINTS} for each of ${rows.length} series; name instances, or request more points or fewer metrics`,
    )
  if (count > 0)
    answer.line(
      `Points: ${count} means of ${formatDuration((window.to - window.from) / count)} each, oldest first, - for none`,
    )
  return answer
    .rows(
      rows.map(({ metric, series }) => rowOf(metric, series, window, count, desk, read.length > 1)),
      'name instances, or request fewer metrics',
    )
    .toString()
}

async function titleOf(
  { name, isRate, help, problem, indom, series }: MetricSeries,
  instances: readonly string[] | undefined,
  context: ArchiveContext,
  signal: AbortSignal,
): Promise<string> {
  if (problem !== undefined) return `${shownName(name)}: ${shownMessage(problem)}`
  const count = chosen(series, instances).length
  const known = instances?.length ? ((await instancesOf(context, indom, signal))?.names ?? []) : []
  const unknown = unknownInstances(instances, known)
  const what = count === 0 ? 'no values in this window' : `${count} series${isRate ? ', rates' : ''}`
  const shown = [count === 0 && unknown !== undefined ? '' : what, unknown ?? '']
  const about = shownText(help).map((text) => ` (${text})`)
  return `${shownName(name)}${about.join('')}: ${shown.filter((part) => part !== '').join('; ')}`
}

function rowOf(
  metric: MetricSeries,
  series: Series,
  window: Window,
  points: number,
  { moments }: Desk,
  isNamed: boolean,
): string {
  const { statistics } = series
  const show = (value: number): string => showValue(metric.measure, value)
  const { min, mean, median, p95, max, last, maxAt } = statistics
  const name = [
    isNamed ? shownName(metric.name) : '',
    series.instance === '' ? '' : untrusted(series.instance),
  ]
  const about = `${name.join(' ').trim() || shownName(metric.name)}: mean ${show(mean)}, median ${show(median)}, p95 ${show(p95)}, min ${show(min)}, max ${show(max)} at ${moments.text(maxAt)}, last ${show(last)}`
  if (points === 0) return about
  const { divisor, unit } = stepFor(metric.measure, Math.max(Math.abs(max), Math.abs(min)))
  const values = meansOf(series, window, points).map((value) =>
    value === undefined ? '-' : shortNumber(value / divisor),
  )
  return `${about}\n  ${unit === '' ? '' : `in ${unit}: `}${values.join(' ')}`
}

/** Formats a number with at most three digits after its zeros. */
const shortNumber = (value: number): string => String(Number(showNumber(value)))

const chosen = (series: readonly Series[], names: readonly string[] | undefined): readonly Series[] =>
  names === undefined || names.length === 0
    ? series
    : series.filter(({ instance }) => names.some((name) => isInstance(instance, name)))

function plotsOf(
  read: readonly MetricSeries[],
  instances: readonly string[] | undefined,
): readonly MeasuredPlot[] {
  return read
    .filter(({ problem }) => problem === undefined)
    .flatMap(({ name, measure }) =>
      instances === undefined || instances.length === 0
        ? [{ plot: { metric: name }, measure }]
        : instances.map((text) => ({
            plot: { metric: name, instances: { mode: 'instance' as const, text } },
            measure,
          })),
    )
}

async function valuesNow(
  context: Context,
  names: readonly string[],
  instances: readonly string[] | undefined,
  source: NamedSource,
  { moments, signal, links }: Desk,
): Promise<string> {
  const { at, metrics, missing } = await snapshot(context, names, undefined, signal)
  const answer = new Answer()
  answer.rows(
    [...missing.values()].map(({ message }) => shownMessage(message)),
    'name fewer metrics',
  )
  if (metrics.length === 0) return answer.toString()
  answer.line(`${source.id}, values of ${moments.text(at)}; counters as rates over the last second`)
  const measured = metrics.map((metric) => ({ ...metric, ...measureNow(metric) }))
  const link = await links.charts(
    source,
    measured.map(({ name, measure }) => ({ plot: { metric: name }, measure })),
    undefined,
  )
  if (link !== undefined) answer.foot(link)
  const rows = measured.flatMap(({ name, values, names: of, measure, factor }) => {
    const unknown = unknownInstances(instances, [...of.values()])
    const notes = unknown === undefined ? [] : [`${shownName(name)}: ${unknown}`]
    const shown = [...values].flatMap(([inst, value]) => {
      const instance = of.get(inst) ?? ''
      if (instances?.length && !instances.some((each) => isInstance(instance, each))) return []
      const text =
        typeof value === 'string' || value instanceof Uint8Array
          ? untrusted(String(value))
          : showValue(measure, Number(value) * factor * measure.factor)
      return [`${shownName(name)}${instance === '' ? '' : ` ${untrusted(instance)}`}: ${text}`]
    })
    return [...notes, ...shown]
  })
  return answer.rows(rows, 'name instances, or request fewer metrics').toString()
}

function measureNow({ desc }: SnapshotMetric): Readonly<{ measure: Measure; factor: number }> {
  const units = unitsStr(desc.units) || 'none'
  if (desc.sem !== PM_SEM_COUNTER) return { measure: measureOf(units, semStr(desc.sem)), factor: 1 }
  const rate = rateOf(units)
  return { measure: measureOf(rate.units, RATE), factor: rate.factor }
}
