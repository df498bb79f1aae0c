/** pcp ps: processes as ps(1) lists them, live or as they were. pcp-ps(1) */
import { mustSeeProcesses, ProcessFigures, stamp } from '../lib/processes/figures.ts'
import { knowsMachine, machineLine } from '../lib/sampled/machine-line.ts'
import { type Sample, SampledMetrics } from '../lib/sampled/metrics.ts'
import { type ReportSource, runReport, samplesOf, samplingPlan, sayMissing } from '../lib/sampled/report.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type PsProcess, processorPercent } from './columns.ts'
import { printerOf } from './layouts.ts'
import { OPTIONS, type PsOptions, readOptions, type SortKey } from './options.ts'

/** The report insists on these, as in PCP. */
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

/** Archives need not have it. */
const OPTIONAL = 'proc.id.uid'

/** Lists processes. */
export const tool: Tool = {
  name: 'pcp-ps',
  summary: 'List processes, live or as they were',
  description: `
Lists processes as ps(1) does: of this host now, or at each sample of an archive. Live there is one list unless -s asks for more. The
options of the source and of the time window are those of pcp: pcp -a ARCHIVE -S TIME ps.

What is a percentage is of one processor (%CPU, since the sample before) or of the machine's memory (%MEM). The first sample only begins
the counting: -s 3 makes two lists. A question mark stands where there is no value. Options that choose processes must all hold.`,
  examples: [
    ['pcp ps -u -O %cpu', 'What uses the processor, the busiest first:'],
    ['pcp -a 20261120 -S @10:00 -s 2 ps -e', 'All processes at ten o’clock:'],
    ['pcp ps -P 1 -o pid,state,wchan,args', 'What the first process started, and what it waits for:'],
  ],
  seeAlso: ['pcp', 'pcp-pidstat', 'pcp-atop', 'pmrep'],
  options: OPTIONS,
  endsInOrder: true,
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
    sayMissing(missing, 'Missing', io)
    return 1
  }
  // Live, one list is wanted, and a sample before it for the processor time.
  const once = context.archive === undefined && standard.window.finish === undefined ? 2 : undefined
  const plan = samplingPlan(source, window.samples ?? once)
  let before: Sample | undefined
  let isBegun = false
  for await (const now of samplesOf(context, metrics, plan, io)) {
    mustSeeProcesses(now)
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
  const figures = new ProcessFigures(now, before)
  const { heading, line } = printerOf(options.layout)
  const time = stamp('%H:%M:%S', now.time, zone)
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
  figures: ProcessFigures,
  inst: number,
  { pids, parents, commands, user }: PsOptions,
): boolean {
  if (pids !== undefined && !pids.has(figures.pids.get(inst)!)) return false
  if (parents !== undefined && !parents.has(figures.number('proc.psinfo.ppid', inst) ?? -1)) return false
  if (commands !== undefined && !commands.has(figures.text('proc.psinfo.cmd', inst) ?? '')) return false
  return user === undefined || figures.text('proc.id.uid_nm', inst) === user
}

/** Largest first, those without a value last; otherwise in the order they come. */
function sorted(
  figures: ProcessFigures,
  insts: readonly number[],
  key: SortKey | undefined,
): readonly number[] {
  if (key === undefined) return insts
  const value = (inst: number): number =>
    (key === '%cpu' ? processorPercent(figures, inst) : figures.memoryPercent(inst)) ?? -1
  return [...insts].sort((a, b) => value(b) - value(a))
}
