/** Ranks what changed. */
import { z } from 'zod'
import type { Change, RelatedChange } from '../../../../analysis/what-changed.ts'
import { changesOf } from '../../../../pmapi/what-changed.ts'
import { yieldToEventLoop } from '../../../../sys/event-loop.ts'
import { type Measure, measureOf, RATE, showValue } from '../../../../ui/view/measure.ts'
import { Answer, shownName, shownText, untrusted } from '../answer.ts'
import { type McpTool, mcpTool } from '../mcp-tool.ts'
import type { Moments } from '../moments.ts'
import { archiveOf, spanOf } from '../sources.ts'
import { SOURCE } from './arguments.ts'
import { comparedWindows, WINDOWS } from './compared-windows.ts'

const MOST_ROWS = 30
/** Related series that a row names. */
const NAMED_OTHERS = 2
/** Help texts are cut after so many letters. */
const HELP_LETTERS = 60

export const whatChanged: McpTool = mcpTool({
  name: 'what_changed',
  title: 'What changed',
  description:
    'Compares every metric of an archive in a window with the time before, and ranks what changed beyond its usual noise: the metric and instance, values before and now, since when, and how many related series moved along. Use it first for "what happened at ...".',
  input: z.object({
    source: SOURCE,
    ...WINDOWS,
    limit: z.number().int().min(1).max(MOST_ROWS).optional().describe('Most changes; default 15'),
  }),
  async run({ source: id, limit = 15, ...windows }, { sources, moments, links, signal }) {
    const source = sources.named(id, true)
    return sources.use(source, async (context) => {
      const archive = archiveOf(context, source)
      const { before, now } = comparedWindows(windows, spanOf(archive)!, moments)
      const report = await changesOf(
        archive,
        {
          span: { start: now.from, finish: now.to },
          before: { start: before.from, finish: before.to },
          limit,
        },
        {
          signal,
          turn: async () => {
            await yieldToEventLoop()
            signal.throwIfAborted()
          },
        },
      )
      const answer = new Answer().line(
        `${source.id}: ${moments.windowText(now)} against ${moments.windowText(before)}; ${report.series} series compared`,
      )
      if (report.unrecorded !== null)
        return answer
          .line(
            `Nothing was recorded in ${report.unrecorded === 'span' ? 'the window' : 'the time to compare with'}.`,
          )
          .toString()
      if (report.leftOut > 0) answer.line(`${report.leftOut} series were left out: compare a shorter window.`)
      if (report.changes.length === 0)
        return answer.line('Nothing changed beyond its usual noise.').toString()
      const plots = report.changes.map((change) => ({
        plot: {
          metric: change.metric,
          ...(change.instance === ''
            ? {}
            : { instances: { mode: 'instance' as const, text: change.instance } }),
        },
        measure: measureOfChange(change),
      }))
      const link = await links.charts(source, plots, { from: before.from, to: now.to })
      if (link !== undefined) answer.foot(link)
      return answer
        .rows(
          report.changes.map((change, i) => `${i + 1}. ${textOf(change, moments)}`),
          'a shorter window, or "query" for one metric',
        )
        .toString()
    })
  },
})

const nameOf = ({ metric, instance }: RelatedChange): string =>
  instance === '' ? shownName(metric) : `${shownName(metric)} ${untrusted(instance)}`

function textOf(change: Change, moments: Moments): string {
  const { before, now, since, until, help, others } = change
  const measure = measureOfChange(change)
  const first = others.slice(0, NAMED_OTHERS).map(nameOf).join(', ')
  const rest = others.length > NAMED_OTHERS ? ` and ${others.length - NAMED_OTHERS} more` : ''
  const along = others.length === 0 ? '' : `, with ${first}${rest}`
  const when = `${until === null ? 'since' : 'from'} ${moments.text(since)}${until === null ? '' : ` to ${moments.text(until)}`}`
  const about = shownText(help, HELP_LETTERS).map((text) => ` ${text}`)
  return `${nameOf(change)}: ${valueText(measure, before)} → ${valueText(measure, now)} ${when}${along}${about.join('')}`
}

const measureOfChange = ({ units, isRate }: Change): Measure => measureOf(units, isRate ? RATE : '')

const valueText = (measure: Measure, value: number | null): string =>
  value === null ? 'no value' : showValue(measure, value * measure.factor)
