/** Column layouts of pcp ps. pcp-ps(1) */
import {
  COLUMNS,
  COMMAND_LINE,
  COMMAND_NAME,
  type ColumnName,
  type PsColumn,
  type PsProcess,
} from './columns.ts'

/** Predefined layouts; others are columns given by -o. */
export type LayoutName = 'plain' | 'every' | 'selected' | 'user' | 'of-user' | 'all'

/** Formats heading and lines of a report, without times. */
export interface PsLayout {
  readonly heading: string
  readonly line: (process: PsProcess) => string
}

/** Width of times, including the separator. */
const STAMP_WIDTH = 17

/** Column width of a state with -U. */
const WIDE_STATE = 8

const { pid, ppid, tty, time, uname, vsize, rss, state, start, pri, wchan } = COLUMNS

const wideState: PsColumn['value'] = (process) => state.value(process).padEnd(WIDE_STATE)

const user = (status: PsColumn['value'], gap: string): PsLayout['line'] => {
  const columns = [COLUMNS['%cpu'], COLUMNS['%mem'], vsize, rss, tty]
  return (process) =>
    [
      `${uname.value(process)}${gap}${pid.value(process)}`,
      ...columns.map(({ value }) => value(process)),
      status(process),
      time.value(process),
      start.value(process),
      COMMAND_NAME(process),
    ].join('\t')
}

const LAYOUTS: Readonly<Record<LayoutName, PsLayout>> = {
  plain: {
    heading: 'PID\t\tTIME\t\tCMD',
    line: (process) => `${pid.value(process)}\t${time.value(process)}\t${COMMAND_NAME(process)}`,
  },
  every: {
    heading: 'PID\t\t\tTTY\tTIME\t\tCMD',
    line: (process) =>
      `${pid.value(process)}\t\t${tty.value(process)}\t${time.value(process)}\t${COMMAND_NAME(process)}`,
  },
  selected: {
    heading: 'PID\t\tPPID\t\tTTY\tTIME\t\tCMD',
    line: (process) =>
      [pid, ppid, tty, time].map(({ value }) => `${value(process)}\t`).join('') + COMMAND_NAME(process),
  },
  user: {
    heading: 'USERNAME\tPID\t\t%CPU\t%MEM\tVSZ\tRSS\tTTY\tSTAT\tTIME\t\tSTART\t\tCOMMAND',
    line: user(state.value, '\t'),
  },
  'of-user': {
    heading: 'USERNAME\t\tPID\t\t%CPU\t%MEM\tVSZ\tRSS\tTTY\tSTAT\t\tTIME\t\tSTART\t\tCOMMAND',
    line: user(wideState, '\t\t'),
  },
  all: {
    heading: 'USER\t\tPID\t\tPPID\t\tPRI\t%CPU\t%MEM\tVSZ\tRSS\tS\tSTARTED\t\tTIME\t\tWCHAN\t\t\t\tCommand',
    line: (process) =>
      [uname, pid, ppid, pri, COLUMNS['%cpu'], COLUMNS['%mem'], vsize, rss, state, start, time, wchan]
        .map(({ value }) => `${value(process)}\t`)
        .join('') + COMMAND_LINE(process),
  },
}

/** Returns functions that format heading and lines of a layout, with times. */
export function layoutPrinter(layout: LayoutName | readonly string[]): {
  readonly heading: string
  readonly line: (stamp: string, process: PsProcess) => string
} {
  if (typeof layout !== 'string') return listPrinter(layout.map((name) => COLUMNS[name as ColumnName]))
  const { heading, line } = LAYOUTS[layout]
  return {
    heading: `${'Timestamp'.padEnd(STAMP_WIDTH)}${heading}\n`,
    line: (stamp, process) => `${stamp.padEnd(STAMP_WIDTH)}${line(process)}\n`,
  }
}

/** Formats columns followed by two tabs each. */
function listPrinter(columns: readonly PsColumn[]): ReturnType<typeof layoutPrinter> {
  const cells = columns.map(({ value, whole }, i) =>
    i === columns.length - 1 && whole !== undefined
      ? whole
      : (process: PsProcess): string => `${value(process)}\t\t`,
  )
  return {
    heading: `Timestamp\t${columns.map(({ heading }) => heading).join('')}\n`,
    line: (stamp, process) => `${stamp}\t${cells.map((cell) => cell(process)).join('')}\n`,
  }
}
