/** pcp ps: lists processes like ps(1), live or from archives. pcp-ps(1) */
import { formatTime, ProcessValues, requireProcessAccess } from '../lib/processes/process-values.ts'
import { knowsMachine, machineLine } from '../lib/sampled/machine-line.ts'
import { type Sample, SampledMetrics } from '../lib/sampled/metrics.ts'
import {
  type ReportSource,
  reportMissing,
  runReport,
  samplesOf,
  samplingPlan,
} from '../lib/sampled/report.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type PsProcess, processorPercent } from './columns.ts'
import { layoutPrinter } from './layouts.ts'
import { OPTIONS, type PsOptions, readOptions, type SortKey } from './options.ts'

/** Required metrics, as in PCP. */
const REQUIRED: readonly string[] = [
  'kernel.uname.nodename',
  'kernel.uname.release',
  'kernel.uname.sysname',
  'kernel.uname.machine',
  'hinv.ncpu',
  'proc.psinfo.pid',
  'proc.psinfo.guest_time',
  'proc.psinfo.utime',
  'proc.psinfo.ppid',
  'proc.psinfo.rt_priority',
  'proc.psinfo.rss',
  'proc.id.uid_nm',
  'proc.psinfo.stime',
  'kernel.all.boottime',
  'proc.psinfo.sname',
  'proc.psinfo.start_time',
  'proc.psinfo.vsize',
  'proc.psinfo.priority',
  'proc.psinfo.nice',
  'proc.psinfo.wchan_s',
  'proc.psinfo.psargs',
  'proc.psinfo.cmd',
  'proc.psinfo.ttyname',
  'mem.physmem',
  'proc.psinfo.policy',
]

/** Missing in some archives. */
const OPTIONAL = 'proc.id.uid'

export const tool: Tool = {
  name: 'pcp-ps',
  summary: 'List processes, live or from an archive',
  description: `
Lists processes like ps(1), currently on this host or at each sample of an archive. Live, one list is shown unless -s requests more.
Source and time window are options of pcp: pcp -a ARCHIVE -S TIME ps.

Percentages are of one processor (%CPU, since the previous sample) or of the machine's memory (%MEM). The first sample only starts the
counters: -s 3 makes two lists. A question mark is shown for missing values. Several selections of processes must all match.`,
  examples: [
    ['pcp ps -u -O %cpu', 'Processes by processor use, the busiest first:'],
    ['pcp -a 20261120 -S @10:00 -s 2 ps -e', 'All processes at ten o’clock:'],
    ['pcp ps -P 1 -o pid,state,wchan,args', 'Children of the first process, and what they wait for:'],
  ],
  seeAlso: ['pcp', 'pcp-pidstat', 'pcp-atop', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: async (io) => runReport({ table: OPTIONS, read: readOptions }, io, report),
}

async function report(source: ReportSource, options: PsOptions | string, io: ToolIo): Promise<number> {
  if (typeof options === 'string') {
    io.stderr.write(`${options}\n`)
    return 1
  }
  const { context, standard, window, zone } = source
  const metrics = await SampledMetrics.find(context, [...REQUIRED, OPTIONAL], io)
  const missing = metrics.missing.filter((name) => name !== OPTIONAL)
  if (missing.length > 0) {
    reportMissing(missing, 'Missing', io)
    return 1
  }
  // Live, a single list, after a first sample for processor percentages.
  const once = context.archive === undefined && standard.window.finish === undefined ? 2 : undefined
  const plan = samplingPlan(source, window.samples ?? once)
  let before: Sample | undefined
  let isBegun = false
  for await (const now of samplesOf(context, metrics, plan, io)) {
    requireProcessAccess(now)
    if (before !== undefined && knowsMachine(now)) {
      if (!isBegun) io.stdout.write(machineLine(now, zone))
      isBegun = true
      io.stdout.write(list(now, before, source, options))
    }
    before = now
  }
  return 0
}

function list(now: Sample, before: Sample, { zone }: ReportSource, options: PsOptions): string {
  const figures = new ProcessValues(now, before)
  const { heading, line } = layoutPrinter(options.layout)
  const time = formatTime('%H:%M:%S', now.time, zone)
  const machine = { figures, now: now.time, boot: now.number('kernel.all.boottime'), zone }
  const insts = sorted(
    figures,
    [...figures.pids.keys()].filter((inst) => isWanted(figures, inst, options)),
    options.sort,
  )
  const processes = insts.map((inst): PsProcess => ({ ...machine, inst }))
  return heading + processes.map((process) => line(time, process)).join('')
}

function isWanted(
  figures: ProcessValues,
  inst: number,
  { pids, parents, commands, user }: PsOptions,
): boolean {
  if (pids !== undefined && !pids.has(figures.pids.get(inst)!)) return false
  if (parents !== undefined && !parents.has(figures.number('proc.psinfo.ppid', inst) ?? -1)) return false
  if (commands !== undefined && !commands.has(figures.text('proc.psinfo.cmd', inst) ?? '')) return false
  return user === undefined || figures.text('proc.id.uid_nm', inst) === user
}

/** Sorts in descending order, with missing values last. */
function sorted(
  figures: ProcessValues,
  insts: readonly number[],
  key: SortKey | undefined,
): readonly number[] {
  if (key === undefined) return insts
  const value = (inst: number): number =>
    (key === '%cpu' ? processorPercent(figures, inst) : figures.memoryPercent(inst)) ?? -1
  return [...insts].sort((a, b) => value(b) - value(a))
}
