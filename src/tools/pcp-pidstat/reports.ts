/** The reports of pcp pidstat that are a line a process: processor time, memory, stack, scheduling. pcp-pidstat(1) */
import { POLICIES, type ProcessFigures, rounded, shown } from '../lib/processes/figures.ts'
import type { PidstatOptions, PidstatReport } from './options.ts'

/** Width of times, with what separates them from the next column. */
const STAMP_WIDTH = 17

/** A report: headings behind user and process, and what stands below them; undefined for a process that it leaves out. */
interface LineReport {
  readonly headings: readonly string[]
  readonly columns: (
    figures: ProcessFigures,
    inst: number,
    machine: { readonly divisor: number },
  ) => readonly string[] | undefined
}

const UTIME = 'proc.psinfo.utime'
const STIME = 'proc.psinfo.stime'
const GUEST = 'proc.psinfo.guest_time'

/** Is a process of a report's kind? One whose value is missing is shown, with a question mark. */
const isPositive = (value: number | undefined): boolean => value === undefined || value > 0

const REPORTS: Readonly<Record<Exclude<PidstatReport, 'states' | 'detail'>, LineReport>> = {
  cpu: {
    headings: ['usr', 'system', 'guest', '%CPU', 'CPU'],
    columns: (figures, inst, { divisor }) => {
      const [usr, system, guest] = [UTIME, STIME, GUEST].map((name) => figures.percent(inst, name))
      const used = figures.percent(inst, UTIME, STIME)
      const total = used === undefined ? undefined : used / divisor
      const processor = figures.number('proc.psinfo.processor', inst)
      return [rounded(usr), rounded(system), rounded(guest), rounded(total), shown(processor)]
    },
  },
  memory: {
    headings: ['MinFlt/s', 'MajFlt/s', 'VSize', 'RSS', '%Mem'],
    columns: (figures, inst) => {
      const size = figures.number('proc.psinfo.vsize', inst)
      if (!isPositive(size)) return undefined
      return [
        // Figures are narrower than these two headings.
        `${rounded(figures.rate('proc.psinfo.minflt', inst))}\t`,
        `${rounded(figures.rate('proc.psinfo.maj_flt', inst))}\t`,
        shown(size),
        shown(figures.number('proc.psinfo.rss', inst)),
        rounded(figures.memoryPercent(inst)),
      ]
    },
  },
  stack: {
    headings: ['StkSize'],
    columns: (figures, inst) => {
      const size = figures.number('proc.memory.vmstack', inst)
      return isPositive(size) ? [shown(size)] : undefined
    },
  },
  scheduling: {
    headings: ['prio', 'policy'],
    columns: (figures, inst) => {
      const priority = figures.number('proc.psinfo.rt_priority', inst)
      if (!isPositive(priority)) return undefined
      const policy = figures.number('proc.psinfo.policy', inst)
      return [shown(priority), shown(policy === undefined ? undefined : (POLICIES[policy] ?? policy))]
    },
  },
}

/** Heading and lines of one sample. */
export function lineReport(
  figures: ProcessFigures,
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
    text += `${stamp}${[shown(owner), shown(pid), ...cells, commandOf(figures, inst, options)].join('\t')}\n`
  }
  return text
}

/** The command of a process, with its arguments when they are wanted. */
export function commandOf(
  figures: ProcessFigures,
  inst: number,
  { showsArguments }: Pick<PidstatOptions, 'showsArguments'>,
): string {
  return shown(figures.text(showsArguments ? 'proc.psinfo.psargs' : 'proc.psinfo.cmd', inst))
}
