/** Reports of pcp pidstat about process states, and the time spent in each. pcp-pidstat(1) -B */
import { formatF } from '../../base/printf.ts'
import { formatValue, type ProcessValues } from '../lib/processes/process-values.ts'
import type { PidstatOptions } from './options.ts'
import { commandOf } from './reports.ts'

/** The states that have columns in `detail`. proc(5) */
const STATES = ['R', 'S', 'Z', 'T', 'D'] as const

const HEADING = 'Timestamp\tPID\tState\tUtime\tStime\tTotal Time\tFunction\t\t\tCommand\n'
const DETAIL_HEADING = `Timestamp\tPID\t\t${STATES.join('\t\t')}\t\tCommand\n`

/** Columns between tab stops, and tab stops for the name of a kernel function. */
const TAB = 8
const FUNCTION_TABS = 4

/** Accumulates the time that processes spend in each state. */
export class StateTimes {
  /** Seconds by process and state. */
  readonly #seconds = new Map<number, Map<string, number>>()

  /** Formats heading and lines of a sample covering `seconds`; '' without lines. */
  report(
    figures: ProcessValues,
    insts: Iterable<number>,
    options: PidstatOptions,
    { stamp, seconds }: { readonly stamp: string; readonly seconds: number },
  ): string {
    const isDetail = options.report === 'detail'
    let lines = ''
    for (const inst of insts) {
      const state = figures.text('proc.psinfo.sname', inst)
      const times = this.#count(figures.pids.get(inst)!, state, seconds)
      const line = isDetail
        ? `${detailColumns(times)}${commandOf(figures, inst, options)}`
        : stateLine(figures, inst, state, times, options)
      if (line !== undefined) lines += `${stamp}\t${figures.pids.get(inst)}\t${line}\n`
    }
    return lines === '' ? '' : `\n${isDetail ? DETAIL_HEADING : HEADING}${lines}`
  }

  #count(pid: number, state: string | undefined, seconds: number): ReadonlyMap<string, number> {
    const times = this.#seconds.get(pid) ?? new Map<string, number>()
    this.#seconds.set(pid, times)
    if (state !== undefined) times.set(state, (times.get(state) ?? 0) + seconds)
    return times
  }
}

function stateLine(
  figures: ProcessValues,
  inst: number,
  state: string | undefined,
  times: ReadonlyMap<string, number>,
  options: PidstatOptions,
): string | undefined {
  if (state === undefined || options.states?.has(state) === false) return undefined
  // Milliseconds since the previous sample.
  const spent = (name: string): string => formatValue(figures.growth(name, inst))
  // A running process does not wait in a kernel function.
  const wchan = state === 'R' ? '' : figures.text('proc.psinfo.wchan_s', inst)
  const place = wchan === undefined || wchan === '' ? 'N/A' : wchan
  const tabs = FUNCTION_TABS - Math.floor(place.length / TAB)
  // After such a long function name PCP omits the arguments.
  const command = commandOf(figures, inst, tabs > 1 ? options : { showsArguments: false })
  const total = formatF(times.get(state) ?? 0, 2)
  return `${state}\t${spent('proc.psinfo.utime')}\t${spent('proc.psinfo.stime')}\t${total}\t\t${place}${'\t'.repeat(Math.max(1, tabs))}${command}`
}

function detailColumns(times: ReadonlyMap<string, number>): string {
  return `\t${STATES.map((state) => `${formatF(times.get(state) ?? 0, 2)}\t\t`).join('')}`
}
