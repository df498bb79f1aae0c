/** Lists hosts and archives. */
import { z } from 'zod'
import { PcpError } from '../../../../model/errors.ts'
import { Answer, shownMessage, untrusted } from '../answer.ts'
import { type Desk, type McpTool, mcpTool } from '../mcp-tool.ts'
import { type NamedSource, spanOf } from '../sources.ts'

/** Most sources that are opened for one answer. */
const MOST_OPENED = 20

export const sources: McpTool = mcpTool({
  name: 'sources',
  title: 'List sources',
  description:
    'Lists the hosts and archives that can be read, with the time that each archive covers. Call it first: other tools take an id of it as "source"; without one they read the first source, for times of the past the first archive.',
  input: z.object({}),
  async run(_, desk) {
    const all = desk.sources.list()
    if (all.length === 0)
      throw new PcpError('ENOENT', 'No source was found: run pcp-ts start, which records this host')
    const rows: string[] = []
    // One after the other, because opening an archive reads files.
    for (const source of all.slice(0, MOST_OPENED)) rows.push(await rowOf(source, desk))
    return new Answer()
      .line(`${all.length} ${all.length === 1 ? 'source' : 'sources'}; the first is the default.`)
      .rows(rows, 'name archives with -a, or a directory with --directory', all.length)
      .toString()
  },
})

async function rowOf(source: NamedSource, { sources, moments }: Desk): Promise<string> {
  if (source.kind === 'host') return `${source.id}  a collector: values of now`
  try {
    return await sources.use(source, async (context) => {
      const span = spanOf(context)!
      const host = untrusted(context.archive!.label.hostname)
      return `${source.id}  an archive of host ${host}, ${moments.windowText({ from: span.start, to: span.end })}`
    })
  } catch (error) {
    return `${source.id}  cannot be read: ${shownMessage(PcpError.from(error).message)}`
  }
}
