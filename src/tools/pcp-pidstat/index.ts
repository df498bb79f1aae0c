/** pcp pidstat: resource use of processes, a line for each process and sample. pcp-pidstat(1) */
import { formatTime, ProcessValues, requireProcessAccess } from '../lib/processes/process-values.ts'
import { knowsMachine, machineLine } from '../lib/sampled/machine-line.ts'
import type { Sample } from '../lib/sampled/metrics.ts'
import {
  type ReportSource,
  requireMetrics,
  runReport,
  samplesOf,
  samplingPlan,
} from '../lib/sampled/report.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { metricsOf } from './metrics.ts'
import { OPTIONS, type PidstatOptions, readOptions } from './options.ts'
import { lineReport } from './reports.ts'
import { StateTimes } from './states.ts'

export const tool: Tool = {
  name: 'pcp-pidstat',
  summary: 'Show the resource use of processes',
  description: `
Shows the processor time of each process as percentages: in user mode (usr), in the kernel (system), in virtual machines (guest), and in
total (%CPU), and the processor it ran on. With -r shows page faults, sizes in kilobytes and the percentage of memory; with -k the stack
size in kilobytes; with -R real-time priorities; with -B the time spent in the given process states.

A question mark is shown for missing values, because a process is new or has ended. The first sample only starts the counters: -s 3
makes two reports.`,
  examples: [
    ['pcp pidstat -t 5 -G postgres', 'The processes of a database, every five seconds:'],
    ['pcp -a 20261120 -S @10:00 pidstat -s 2 -t 1h -U', 'An hour of an archive, with names of users:'],
    ['pcp pidstat -B D -l', 'Processes waiting for a disk, with their command lines:'],
  ],
  seeAlso: ['pcp', 'pcp-ps', 'pcp-atop', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: async (io) => runReport({ table: OPTIONS, read: readOptions }, io, report),
}

async function report(source: ReportSource, options: PidstatOptions | string, io: ToolIo): Promise<number> {
  if (typeof options === 'string') {
    io.stderr.write(`${options}\n`)
    return 1
  }
  const { context, zone } = source
  const metrics = await requireMetrics(context, metricsOf(options), io)
  if (metrics === undefined) return 1
  const plan = samplingPlan(source)
  const print = printerOf(options, source, plan.intervalSec)
  let before: Sample | undefined
  let isBegun = false
  for await (const now of samplesOf(context, metrics, plan, io)) {
    requireProcessAccess(now)
    if (before !== undefined && knowsMachine(now)) {
      if (!isBegun) io.stdout.write(machineLine(now, zone))
      isBegun = true
      io.stdout.write(print(now, before))
    }
    before = now
  }
  return 0
}

/** Returns a function that prints a sample. */
function printerOf(
  options: PidstatOptions,
  { zone }: ReportSource,
  intervalSec: number,
): (now: Sample, before: Sample) => string {
  const { report, timeFormat } = options
  const times = new StateTimes()
  let seconds = intervalSec
  return (now, before) => {
    const figures = new ProcessValues(now, before)
    const insts = wantedProcesses(figures, options)
    const time = formatTime(timeFormat, now.time, zone)
    if (report === 'states' || report === 'detail') {
      const text = times.report(figures, insts, options, { stamp: time, seconds })
      seconds = figures.elapsedSec
      return text
    }
    return lineReport(figures, insts, { ...options, report }, { stamp: time, cpus: now.number('hinv.ncpu') })
  }
}

function* wantedProcesses(
  figures: ProcessValues,
  { pids, pattern, user }: PidstatOptions,
): Generator<number> {
  for (const [inst, pid] of figures.pids) {
    const command = figures.text('proc.psinfo.cmd', inst)
    // The process has exited, although the instance still exists.
    if (command === undefined || pids?.has(pid) === false) continue
    if (pattern?.test(command) === false) continue
    if (user !== undefined && figures.text('proc.id.uid_nm', inst) !== user) continue
    yield inst
  }
}
