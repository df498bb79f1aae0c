/** pcp pidstat: what processes use of the machine, a line a process and sample. pcp-pidstat(1) */
import { mustSeeProcesses, ProcessFigures, stamp } from '../lib/processes/figures.ts'
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

/** Reports what processes use. */
export const tool: Tool = {
  name: 'pcp-pidstat',
  summary: 'Show what each process uses of the machine',
  description: `
Shows processor time of each process as a percentage: in its own code (usr), in the kernel (system), in virtual machines (guest), all of
it (%CPU), and which processor it ran on. With -r page faults, sizes in kilobytes and the part of the memory; with -k the kilobytes of
the stack; with -R the priority of processes that have a real-time priority; with -B how long they have been in the states that are
asked for.

A question mark stands where there is no value, because a process is new or has ended. The first sample only begins the counting: -s 3
makes two reports.`,
  examples: [
    ['pcp pidstat -t 5 -G postgres', 'The processes of a database, every five seconds:'],
    ['pcp -a 20261120 -S @10:00 pidstat -s 2 -t 1h -U', 'An hour of an archive, with names of users:'],
    ['pcp pidstat -B D -l', 'Who waits for a disk, and what the command line is:'],
  ],
  seeAlso: ['pcp', 'pcp-ps', 'pcp-atop', 'pmrep'],
  options: OPTIONS,
  endsInOrder: true,
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
    mustSeeProcesses(now)
    if (before !== undefined && knowsMachine(now)) {
      if (!isBegun) io.stdout.write(machineLine(now, zone))
      isBegun = true
      io.stdout.write(print(now, before))
    }
    before = now
  }
  return 0
}

/** Prints one sample after the other. */
function printerOf(
  options: PidstatOptions,
  { zone }: ReportSource,
  intervalSec: number,
): (now: Sample, before: Sample) => string {
  const { report, timeFormat } = options
  const times = new StateTimes()
  let seconds = intervalSec
  return (now, before) => {
    const figures = new ProcessFigures(now, before)
    const insts = wantedProcesses(figures, options)
    const time = stamp(timeFormat, now.time, zone)
    if (report === 'states' || report === 'detail') {
      const text = times.report(figures, insts, options, { stamp: time, seconds })
      seconds = figures.elapsedSec
      return text
    }
    return lineReport(figures, insts, { ...options, report }, { stamp: time, cpus: now.number('hinv.ncpu') })
  }
}

function* wantedProcesses(
  figures: ProcessFigures,
  { pids, pattern, user }: PidstatOptions,
): Generator<number> {
  for (const [inst, pid] of figures.pids) {
    const command = figures.text('proc.psinfo.cmd', inst)
    // A process that is gone, though its number is still remembered.
    if (command === undefined || pids?.has(pid) === false) continue
    if (pattern?.test(command) === false) continue
    if (user !== undefined && figures.text('proc.id.uid_nm', inst) !== user) continue
    yield inst
  }
}
