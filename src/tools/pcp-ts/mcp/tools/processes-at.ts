/** Processes at an instant. */
import { z } from 'zod'
import { PcpError } from '../../../../model/errors.ts'
import type { Value } from '../../../../model/values.ts'
import type { Context } from '../../../../pmapi/context.ts'
import { describeNames, isKnown } from '../../../../pmproxy/describe.ts'
import { type Measure, measureOf, RATE, showValue } from '../../../../ui/view/measure.ts'
import { Answer, untrusted } from '../answer.ts'
import { type McpTool, mcpTool } from '../mcp-tool.ts'
import { type Snapshot, snapshot } from '../snapshot.ts'
import { spanOf } from '../sources.ts'
import { AT, SOURCE } from './arguments.ts'

/** Recorders keep the busiest processes as hotproc, or all of them as proc. */
const TREES = ['hotproc', 'proc'] as const
const NUMBERS = [
  'psinfo.utime',
  'psinfo.stime',
  'psinfo.rss',
  'io.read_bytes',
  'io.write_bytes',
  'psinfo.maj_flt',
] as const
const TEXTS = ['psinfo.psargs', 'psinfo.sname', 'id.uid_nm', 'psinfo.cgroups'] as const
const KIBIBYTE = 1024
/** Letters of a command line; more would leave no room for other processes. */
const COMMAND_LETTERS = 120

const ORDERS = ['cpu', 'memory', 'disk'] as const
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
    by: z.enum(ORDERS).optional().describe('Order: cpu (default), memory or disk'),
    limit: z.number().int().min(1).max(50).optional().describe('Most processes; default 15'),
  }),
  async run({ source: id, at, by = 'cpu', limit = 15 }, { sources, moments, links, signal }) {
    const source = sources.named(id)
    return sources.use(source, async (context) => {
      const span = spanOf(context)
      if (span === undefined && at !== undefined)
        throw new PcpError(
          'PM_ERR_ARG',
          `${source.id} is a host, which only has now; leave out "at", or use an archive`,
        )
      const tree = await treeOf(context, signal)
      const names = [...NUMBERS, ...TEXTS].map((name) => `${tree}.${name}`)
      const when = span === undefined ? undefined : moments.instant(at, span)
      const taken = await snapshot(context, names, when, signal)
      const rows = processes(taken, tree).sort((a, b) => (b[by] ?? -1) - (a[by] ?? -1))
      const answer = new Answer().line(
        `${source.id}, ${moments.text(taken.at)}: ${rows.length} processes recorded, by ${by}`,
      )
      const window = when === undefined ? undefined : { from: when - 1800, to: when + 1800 }
      const link = await links.chart(source, [{ metric: 'kernel.all.load' }], window)
      if (link !== undefined) answer.foot(link)
      return answer
        .rows(
          rows.slice(0, limit).map((row) => textOf(row)),
          'a higher "limit" shows more',
          rows.length,
        )
        .toString()
    })
  },
})

/** Returns the tree of metrics that this source has. PM_ERR_NAME if it has no processes. */
async function treeOf(context: Context, signal: AbortSignal): Promise<string> {
  for (const tree of TREES) {
    const found = await describeNames(context, [`${tree}.psinfo.utime`], { signal })
    if (found.every(isKnown)) return tree
  }
  throw new PcpError(
    'PM_ERR_NAME',
    'This source has no metrics of processes (hotproc or proc); the recorder did not keep them',
  )
}

interface ProcessRow {
  readonly pid: number
  /** Share of one processor; undefined for a process that was not there ten seconds before. */
  readonly cpu: number | undefined
  /** Bytes. */
  readonly memory: number | undefined
  /** Bytes a second, read and written; undefined where its owner alone may see them. */
  readonly disk: number | undefined
  readonly command: string
  readonly about: string
}

function processes({ metrics }: Snapshot, tree: string): ProcessRow[] {
  const of = (name: string) => metrics.find((metric) => metric.name === `${tree}.${name}`)
  const sum = (names: readonly string[], pid: number, factor: number): number | undefined => {
    const values = names.map((name) => of(name)?.values.get(pid))
    const numbers = values.filter((value) => typeof value === 'number' || typeof value === 'bigint')
    return numbers.length === 0
      ? undefined
      : factor * numbers.reduce((total: number, value) => total + Number(value), 0)
  }
  const text = (name: string, pid: number): string => textValue(of(name)?.values.get(pid))
  const names = new Map(metrics.flatMap((metric) => [...metric.names]))
  // Texts of an archive are held from earlier records, also those of processes that have ended.
  const pids = new Set(NUMBERS.flatMap((name) => [...(of(name)?.values.keys() ?? [])]))
  return [...pids].map((pid) => ({
    pid,
    // Counters of milliseconds; their rates are in milliseconds a second.
    cpu: sum(['psinfo.utime', 'psinfo.stime'], pid, 1 / 1000),
    memory: sum(['psinfo.rss'], pid, KIBIBYTE),
    disk: sum(['io.read_bytes', 'io.write_bytes'], pid, 1),
    command: text('psinfo.psargs', pid) || (names.get(pid) ?? '').replace(/^\d+ /, ''),
    about: [text('id.uid_nm', pid), text('psinfo.sname', pid), groupOf(text('psinfo.cgroups', pid))]
      .filter((part) => part !== '')
      .join(' '),
  }))
}

const textValue = (value: Value | undefined): string => (typeof value === 'string' ? value : '')

/** Returns the last part of a control group: a service or container. */
const groupOf = (path: string): string => path.split('/').at(-1)?.slice(0, 40) ?? ''

function textOf({ pid, cpu, memory, disk, about, command }: ProcessRow): string {
  const share = cpu === undefined ? 'unknown' : `${(100 * cpu).toFixed(cpu < 0.1 ? 1 : 0)} %`
  const amount = (measure: Measure, value: number | undefined): string =>
    value === undefined ? 'unknown' : showValue(measure, value)
  const short = [...command].slice(0, COMMAND_LETTERS).join('')
  return `${pid}: CPU ${share}, memory ${amount(BYTES, memory)}, disk ${amount(BYTES_A_SECOND, disk)}${about === '' ? '' : `, ${untrusted(about)}`} ${untrusted(short)}`
}
