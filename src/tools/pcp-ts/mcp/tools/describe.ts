/** Describes metrics. */
import { z } from 'zod'
import { PM_INDOM_NULL } from '../../../../model/ids.ts'
import { semStr, typeStr } from '../../../../model/types.ts'
import { unitsStr } from '../../../../model/units.ts'
import type { Context } from '../../../../pmapi/context.ts'
import {
  contextSets,
  describeNames,
  isKnown,
  labelsJson,
  type NamedMetric,
  orUndefined,
} from '../../../../pmproxy/describe.ts'
import { Answer, shownMessage, shownName, shownText, untrusted } from '../answer.ts'
import { instancesOf } from '../instances.ts'
import { type McpTool, mcpTool } from '../mcp-tool.ts'
import { METRICS, SOURCE } from './arguments.ts'

const MOST_NAMES = 20

export const describe: McpTool = mcpTool({
  name: 'describe',
  title: 'Describe metrics',
  description:
    'Describes metrics: type, semantics (counter, instant or discrete), units, instances and help text, and the labels of the source.',
  input: z.object({ metrics: METRICS, source: SOURCE }),
  async run({ metrics, source: id }, { sources, signal }) {
    const source = sources.named(id)
    return sources.use(source, async (context) => {
      const answer = new Answer().line(
        `Source ${source.id}, labels ${untrusted(labelsJson(await contextSets(context, { signal })))}`,
      )
      const rows: string[] = []
      for (const [i, found] of (await describeNames(context, metrics, { signal })).entries())
        rows.push(
          isKnown(found)
            ? await textOf(context, found, signal)
            : `${shownName(metrics[i]!)}: ${shownMessage(found.message)}; find names with "find_metrics"`,
        )
      return answer.rows(rows, 'request fewer metrics').toString()
    })
  },
})

async function textOf(context: Context, { name, desc }: NamedMetric, signal: AbortSignal): Promise<string> {
  const [short, long] = await Promise.all(
    (['oneline', 'help'] as const).map((level) => orUndefined(context.text(desc.pmid, { signal, level }))),
  )
  const lines = [
    `${shownName(name)}: ${semStr(desc.sem)}, ${typeStr(desc.type).toLowerCase()}, units ${unitsStr(desc.units) || 'none'}`,
    ...[short, long?.trim() === short?.trim() ? undefined : long].flatMap((help) =>
      shownText(help).map((text) => `  ${text}`),
    ),
  ]
  if (desc.indom === PM_INDOM_NULL) return lines.join('\n')
  const names = (await instancesOf(context, desc.indom, signal))?.names ?? []
  const shown = names.slice(0, MOST_NAMES).map((each) => untrusted(each))
  const more = names.length > shown.length ? `, and ${names.length - shown.length} more` : ''
  lines.push(
    `  ${names.length === 1 ? '1 instance' : `${names.length} instances`}: ${shown.join(', ')}${more}`,
  )
  return lines.join('\n')
}
