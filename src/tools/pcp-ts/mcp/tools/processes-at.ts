/** Processes at an instant. */
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { PcpError } from '../../../../model/errors.ts'
import type { ProcessesAnswer } from '../../../../model/process-sample.ts'
import type { Context } from '../../../../pmapi/context.ts'
import { processesNow, recordedProcesses } from '../../../../pmproxy/processes.ts'
import { type ProcessRow, rowsOf } from '../../../../ui/processes/rows.ts'
import { type Measure, measureOf, RATE, showValue } from '../../../../ui/view/measure.ts'
import { Answer, shownText } from '../answer.ts'
import { type McpTool, mcpTool } from '../mcp-tool.ts'
import { spanOf } from '../sources.ts'
import { AT, SOURCE } from './arguments.ts'

/** Letters of a command line; more would leave no room for other processes. */
const COMMAND_LETTERS = 120
/** Of the user and the control group. */
const ABOUT_LETTERS = 40
/** Letters of a container's id, as Docker and Podman show it. */
const CONTAINER_LETTERS = 12
/** Time between two samples of a host, ms. */
const SAMPLE_MS = 1000

/** The amount of each order. */
const ORDERS = { cpu: 'cpu', memory: 'memory', disk: 'io' } as const
const BYTES_A_SECOND = measureOf('byte / sec', RATE)
const BYTES = measureOf('byte', 'instant')

export const processesAt: McpTool = mcpTool({
  name: 'processes_at',
  title: 'Processes at a time',
  description:
    'The processes of a host at a time, recorded or now, with CPU (100 % is one processor), memory, disk traffic, user, state and command; the heaviest first.',
  input: z.object({
    source: SOURCE,
    at: AT,
    by: z.enum(['cpu', 'memory', 'disk']).optional().describe('Order: cpu (default), memory or disk'),
    limit: z.number().int().min(1).max(50).optional().describe('Most processes; default 15'),
  }),
  async run({ source: id, at, by = 'cpu', limit = 15 }, { sources, moments, links, signal }) {
    const source = sources.named(id, at !== undefined)
    return sources.use(source, async (context) => {
      const span = spanOf(context)
      if (span === undefined && at !== undefined)
        throw new PcpError(
          'PM_ERR_ARG',
          `${source.id} is a host, which only has now; leave out "at", or use an archive`,
        )
      const when = span === undefined ? undefined : moments.instant(at, span)
      const found = await processesOf(context, when, signal)
      if (found.sample === null)
        throw new PcpError(
          'PM_ERR_VALUE',
          'This source has no metrics of processes (hotproc or proc) at this time; the recorder did not keep them',
        )
      const amount = (row: ProcessRow): number => row[ORDERS[by]] ?? -1
      const rows = rowsOf(found).sort((a, b) => amount(b) - amount(a))
      const answer = new Answer().line(
        `${source.id}, ${moments.text(found.sample.at)}: ${rows.length} processes, by ${by}`,
      )
      const link = links.processes(source, when === undefined ? undefined : found.sample.at)
      if (link !== undefined) answer.foot(link)
      return answer
        .rows(rows.slice(0, limit).map(textOf), 'a higher "limit" shows more', rows.length)
        .toString()
    })
  },
})

/** Returns the processes of an archive at a time, or of a host now, with the sample before. */
async function processesOf(
  context: Context,
  at: number | undefined,
  signal: AbortSignal,
): Promise<ProcessesAnswer> {
  const { archive } = context
  if (archive !== undefined && at !== undefined) return recordedProcesses(context, archive, at, signal)
  const { sample: before } = await processesNow(context, signal)
  if (before === null) return { sample: null, before: null, newest: null }
  await sleep(SAMPLE_MS, undefined, { signal })
  return { ...(await processesNow(context, signal)), before }
}

function textOf({ pid, cpu, memory, io, user, state, cgroup, container, command }: ProcessRow): string {
  const share = cpu === null ? 'unknown' : `${(100 * cpu).toFixed(cpu < 0.1 ? 1 : 0)} %`
  const amount = (measure: Measure, value: number | null): string =>
    value === null ? 'unknown' : showValue(measure, value)
  const about = [
    ['user', user],
    ['state', state],
    container === ''
      ? ['control group', cgroup.split('/').at(-1)]
      : ['container', container.slice(0, CONTAINER_LETTERS)],
  ].flatMap(([label, text]) => shownText(text, ABOUT_LETTERS).map((marked) => `, ${label} ${marked}`))
  const args = shownText(command, COMMAND_LETTERS).map((text) => ` ${text}`)
  return `${pid}: CPU ${share}, memory ${amount(BYTES, memory)}, disk ${amount(BYTES_A_SECOND, io)}${about.join('')}${args.join('')}`
}
