/** Compares two windows of an archive. */
import { z } from 'zod'
import { type Measure, showValue } from '../../../../ui/view/measure.ts'
import { Answer, shownMessage, shownName, untrusted } from '../answer.ts'
import { type McpTool, mcpTool } from '../mcp-tool.ts'
import { type MetricSeries, readSeries, type Statistics } from '../series.ts'
import { archiveOf, spanOf } from '../sources.ts'
import { METRICS, SOURCE } from './arguments.ts'
import { comparedWindows, WINDOWS } from './compared-windows.ts'

export const compare: McpTool = mcpTool({
  name: 'compare',
  title: 'Compare two windows',
  description:
    'Compares the values of named metrics in a window with those of an earlier one (by default the window of the same length just before): mean, 95th percentile and maximum of each instance, the largest change first.',
  input: z.object({
    metrics: METRICS,
    source: SOURCE,
    ...WINDOWS,
  }),
  async run({ metrics, source: id, ...windows }, { sources, moments, links, signal }) {
    const source = sources.named(id, true)
    return sources.use(source, async (context) => {
      const archive = archiveOf(context, source)
      const { before, now } = comparedWindows(windows, spanOf(archive)!, moments)
      const [earlier, later] = [
        await readSeries(archive, metrics, before, signal),
        await readSeries(archive, metrics, now, signal),
      ]
      const rows = later.flatMap((metric, i) => changes(earlier[i]!, metric))
      rows.sort((a, b) => b.size - a.size)
      const answer = new Answer().line(
        `${source.id}: ${moments.windowText(before)}, then ${moments.windowText(now)}; counters as rates`,
      )
      for (const { name, problem } of later)
        if (problem !== undefined)
          answer.rows([`${shownName(name)}: ${shownMessage(problem)}`], 'name fewer metrics')
      const plots = later
        .filter(({ problem }) => problem === undefined)
        .map(({ name, measure }) => ({ plot: { metric: name }, measure }))
      const link = await links.charts(source, plots, {
        from: Math.min(before.from, now.from),
        to: Math.max(before.to, now.to),
      })
      if (link !== undefined) answer.foot(link)
      return answer
        .rows(
          rows.map(({ text }) => text),
          'request fewer metrics',
        )
        .toString()
    })
  },
})

interface Change {
  readonly size: number
  readonly text: string
}

function changes(before: MetricSeries, now: MetricSeries): readonly Change[] {
  const earlier = new Map(before.series.map(({ instance, statistics }) => [instance, statistics]))
  const later = new Map(now.series.map(({ instance, statistics }) => [instance, statistics]))
  return [...new Set([...earlier.keys(), ...later.keys()])].map((instance) => {
    const [old, latest] = [earlier.get(instance), later.get(instance)]
    const metric = shownName(now.name)
    const name = instance === '' ? metric : `${metric} ${untrusted(instance)}`
    return { size: sizeOf(old, latest), text: `${name}: ${changeText(now.measure, old, latest)}` }
  })
}

/** Returns the size of a change: the difference of the means in parts of the larger one; instances that come or go first. */
function sizeOf(before: Statistics | undefined, now: Statistics | undefined): number {
  if (before === undefined || now === undefined) return 2
  const largest = Math.max(Math.abs(before.mean), Math.abs(now.mean))
  return largest === 0 ? 0 : Math.abs(now.mean - before.mean) / largest
}

function changeText(measure: Measure, before: Statistics | undefined, now: Statistics | undefined): string {
  const show = (value: number): string => showValue(measure, value)
  if (before === undefined) return `no values before, now mean ${show(now!.mean)}, max ${show(now!.max)}`
  if (now === undefined) return `no values now, before mean ${show(before.mean)}`
  const factor =
    before.mean > 0 && now.mean > 0 ? ` (${Number((now.mean / before.mean).toPrecision(3))} times)` : ''
  return `mean ${show(before.mean)} → ${show(now.mean)}${factor}, p95 ${show(before.p95)} → ${show(now.p95)}, max ${show(before.max)} → ${show(now.max)}`
}
