/** Finds metrics by words. */
import { z } from 'zod'
import { NameSearch } from '../../../../pmproxy/name-search.ts'
import { Answer, untrusted } from '../answer.ts'
import { type McpTool, mcpTool } from '../mcp-tool.ts'
import { SOURCE } from './arguments.ts'

const MOST_WORDS_TRIED = 10
/** Help texts are cut after so many letters. */
const HELP_LETTERS = 90

const search = new NameSearch()

export const findMetrics: McpTool = mcpTool({
  name: 'find_metrics',
  title: 'Find metrics',
  description:
    'Finds metrics by words in their names and help texts, e.g. "disk write bytes" or "memory available". Metrics with all words come first, then those with the most.',
  input: z.object({ query: z.string().min(1).max(300), source: SOURCE }),
  async run({ query, source: id }, { sources, signal }) {
    const source = sources.named(id)
    const found = await sources.use(source, async (context) => {
      const key = `${source.kind} ${source.name}`
      const whole = await search.find(key, context, query, { signal })
      if (whole.length > 0) return whole
      const words = [
        ...new Set(
          query
            .toLowerCase()
            .split(/\s+/)
            .filter((word) => word !== ''),
        ),
      ]
      const scores = new Map<string, { metric: (typeof whole)[number]; score: number }>()
      for (const word of words.slice(0, MOST_WORDS_TRIED))
        for (const metric of await search.find(key, context, word, { signal })) {
          const score = (scores.get(metric.name)?.score ?? 0) + 1
          scores.set(metric.name, { metric, score })
        }
      return [...scores.values()].sort((a, b) => b.score - a.score).map(({ metric }) => metric)
    })
    const answer = new Answer()
    if (found.length === 0)
      return answer.line(`No metric of ${source.id} has these words; try fewer or other words.`).toString()
    const rows = found.map(
      ({ name, help }) => `${name}  ${untrusted([...help].slice(0, HELP_LETTERS).join(''))}`,
    )
    return answer
      .line(`${found.length} ${found.length === 1 ? 'metric' : 'metrics'} of ${source.id}:`)
      .rows(rows, 'use more words')
      .toString()
  },
})
