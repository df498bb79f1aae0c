/** Finds metrics by words. */
import { z } from 'zod'
import { NameSearch } from '../../../../pmproxy/name-search.ts'
import { Answer, shownName, shownText } from '../answer.ts'
import { type McpTool, mcpTool } from '../mcp-tool.ts'
import { SOURCE } from './arguments.ts'

/** Help texts are cut after so many letters. */
const HELP_LETTERS = 90

const search = new NameSearch()

export const findMetrics: McpTool = mcpTool({
  name: 'find_metrics',
  title: 'Find metrics',
  description:
    'Finds metrics by words in their names and help texts, e.g. "disk write bytes" or "memory available". Words of users are understood too: latency, iowait, packet loss, temperature. The best come first.',
  input: z.object({ query: z.string().min(1).max(300), source: SOURCE }),
  async run({ query, source: id }, { sources, signal }) {
    const source = sources.named(id)
    const found = await sources.use(source, (context) =>
      search.find(`${source.kind} ${source.name}`, context, query, { signal }),
    )
    const answer = new Answer()
    if (found.length === 0)
      return answer.line(`No metric of ${source.id} has these words; try fewer or other words.`).toString()
    const rows = found.map(({ name, help }) => [shownName(name), ...shownText(help, HELP_LETTERS)].join('  '))
    return answer
      .line(`${found.length} ${found.length === 1 ? 'metric' : 'metrics'} of ${source.id}:`)
      .rows(rows, 'use more words')
      .toString()
  },
})
