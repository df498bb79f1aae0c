/** Reports of pcp pidstat with a line for each process: processor time, memory, stack, scheduling. pcp-pidstat(1) */
import { formatRounded, formatValue, POLICIES, type ProcessValues } from '../lib/processes/process-values.ts'
import type { PidstatOptions, PidstatReport } from './options.ts'

/** Width of times, including the separator. */
const STAMP_WIDTH = 17

/** A report: headings after user and PID, and their values; undefined for a process to leave out. */
interface LineReport {
  readonly headings: readonly string[]
  readonly columns: (
    figures: ProcessValues,
    inst: number,
    machine: { readonly divisor: number },
  ) => readonly string[] | undefined
}

const UTIME = 'proc.psinfo.utime'
const STIME = 'proc.psinfo.stime'
const GUEST = 'proc.psinfo.guest_time'

/** Is the value positive or unknown? Unknown ones are shown as a question mark. */
const isPositive = (value: number | undefined): boolean => value === undefined || value > 0

const REPORTS: Readonly<Record<Exclude<PidstatReport, 'states' | 'detail'>, LineReport>> = {
  cpu: {
    headings: ['usr', 'system', 'guest', '%CPU', 'CPU'],
    columns: (figures, inst, { divisor }) => {
      const [usr, system, guest] = [UTIME, STIME, GUEST].map((name) => figures.percent(inst, name))
      const used = figures.percent(inst, UTIME, STIME)
      const total = used === undefined ? undefined : used / divisor
      const processor = figures.number('proc.psinfo.processor', inst)
      return [
        formatRounded(usr),
        formatRounded(system),
        formatRounded(guest),
        formatRounded(total),
        formatValue(processor),
      ]
    },
  },
  memory: {
    headings: ['MinFlt/s', 'MajFlt/s', 'VSize', 'RSS', '%Mem'],
    columns: (figures, inst) => {
      const size = figures.number('proc.psinfo.vsize', inst)
      if (!isPositive(size)) return undefined
      return [
        // These two headings are wider than their values.
        `${formatRounded(figures.rate('proc.psinfo.minflt', inst))}\t`,
        `${formatRounded(figures.rate('proc.psinfo.maj_flt', inst))}\t`,
        formatValue(size),
        formatValue(figures.number('proc.psinfo.rss', inst)),
        formatRounded(figures.memoryPercent(inst)),
      ]
    },
  },
  stack: {
    headings: ['StkSize'],
    columns: (figures, inst) => {
      const size = figures.number('proc.memory.vmstack', inst)
      return isPositive(size) ? [formatValue(size)] : undefined
    },
  },
  scheduling: {
    headings: ['prio', 'policy'],
    columns: (figures, inst) => {
      const priority = figures.number('proc.psinfo.rt_priority', inst)
      if (!isPositive(priority)) return undefined
      const policy = figures.number('proc.psinfo.policy', inst)
      return [
        formatValue(priority),
        formatValue(policy === undefined ? undefined : (POLICIES[policy] ?? policy)),
      ]
    },
  },
}

/** Formats heading and lines of a sample. */
export function lineReport(
  figures: ProcessValues,
  insts: Iterable<number>,
  { report, ...options }: PidstatOptions & { readonly report: keyof typeof REPORTS },
  moment: { readonly stamp: string; readonly cpus: number | undefined },
): string {
  const { headings, columns } = REPORTS[report]
  const width = Math.max(STAMP_WIDTH, moment.stamp.length + 2)
  const user = options.showsUserNames ? 'UName' : 'UID'
  const stamp = moment.stamp.padEnd(width)
  const machine = { divisor: options.isPerMachine ? (moment.cpus ?? 1) : 1 }
  let text = `${'Timestamp'.padEnd(width)}${[user, 'PID', ...headings, 'Command'].join('\t')}\n`
  for (const inst of insts) {
    const cells = columns(figures, inst, machine)
    if (cells === undefined) continue
    const owner = options.showsUserNames
      ? figures.text('proc.id.uid_nm', inst)
      : figures.number('proc.id.uid', inst)
    const pid = figures.pids.get(inst)
    text += `${stamp}${[formatValue(owner), formatValue(pid), ...cells, commandOf(figures, inst, options)].join('\t')}\n`
  }
  return text
}

/** Returns the command of a process, with its arguments if requested. */
export function commandOf(
  figures: ProcessValues,
  inst: number,
  { showsArguments }: Pick<PidstatOptions, 'showsArguments'>,
): string {
  return formatValue(figures.text(showsArguments ? 'proc.psinfo.psargs' : 'proc.psinfo.cmd', inst))
}
