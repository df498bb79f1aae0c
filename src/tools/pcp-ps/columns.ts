/** The columns of pcp ps. pcp-ps(1) -o */

import type { Timestamp } from '../../base/timestamp.ts'
import type { Zone } from '../../time/zone.ts'
import {
  formatRounded,
  formatTime,
  formatValue,
  POLICIES,
  type ProcessValues,
} from '../lib/processes/process-values.ts'

/** Widths of PIDs, user names, commands, and long texts. */
const PID = 8
const USER = 10
const COMMAND = 20
const LONG = 30

/** A process of a sample. */
export interface PsProcess {
  readonly figures: ProcessValues
  readonly inst: number
  readonly now: Timestamp
  /** Boot time in seconds since the epoch; undefined if unknown. */
  readonly boot: number | undefined
  readonly zone: Zone
}

/** A column: heading including tabs, as shown by -o, and values. */
export interface PsColumn {
  readonly heading: string
  readonly value: (process: PsProcess) => string
  /** The value without cutting, for the last column of a line. */
  readonly whole?: (process: PsProcess) => string
}

const text =
  (metric: string, width = 0): PsColumn['value'] =>
  ({ figures, inst }) =>
    formatValue(figures.text(metric, inst)).padEnd(width)

const number =
  (metric: string, width = 0): PsColumn['value'] =>
  ({ figures, inst }) =>
    formatValue(figures.number(metric, inst)).padEnd(width)

const cut =
  (value: PsColumn['value'], width: number): PsColumn['value'] =>
  (process) =>
    value(process).slice(0, width).padEnd(width)

const command = text('proc.psinfo.cmd')

/** The command with its arguments. */
export const COMMAND_LINE: PsColumn['value'] = text('proc.psinfo.psargs')

const ARGUMENTS: PsColumn = {
  heading: 'Command\t\t\t\t\t',
  value: cut(COMMAND_LINE, LONG),
  whole: COMMAND_LINE,
}

/** Names of columns for -o. */
export type ColumnName =
  | '%cpu'
  | '%mem'
  | 'start'
  | 'time'
  | 'cls'
  | 'cmd'
  | 'args'
  | 'pid'
  | 'ppid'
  | 'pri'
  | 'state'
  | 'rss'
  | 'rtprio'
  | 'pname'
  | 'tty'
  | 'uid'
  | 'vsize'
  | 'uname'
  | 'wchan'

export const COLUMNS: Readonly<Record<ColumnName, PsColumn>> = {
  '%cpu': {
    heading: '%CPU\t\t',
    value: ({ figures, inst }) => formatRounded(processorPercent(figures, inst)),
  },
  '%mem': { heading: '%MEM\t\t', value: ({ figures, inst }) => formatRounded(figures.memoryPercent(inst)) },
  start: { heading: 'START\t\t\t', value: startOf },
  time: { heading: 'TIME\t\t\t', value: timeOf },
  cls: {
    heading: 'CLS\t\t',
    value: ({ figures, inst }) => {
      const policy = figures.number('proc.psinfo.policy', inst)
      return formatValue(policy === undefined ? undefined : (POLICIES[policy] ?? policy))
    },
  },
  cmd: ARGUMENTS,
  args: ARGUMENTS,
  pid: { heading: 'PID\t\t\t', value: number('proc.psinfo.pid', PID) },
  ppid: { heading: 'PPID\t\t\t', value: number('proc.psinfo.ppid', PID) },
  pri: { heading: 'PRI\t\t', value: number('proc.psinfo.priority') },
  state: { heading: 'S\t\t', value: text('proc.psinfo.sname') },
  rss: { heading: 'RSS\t\t', value: number('proc.psinfo.rss') },
  rtprio: { heading: 'RTPRIO\t\t', value: number('proc.psinfo.rt_priority') },
  pname: { heading: 'Pname\t\t\t\t', value: cut(command, COMMAND) },
  tty: { heading: 'TT\t\t', value: text('proc.psinfo.ttyname') },
  uid: { heading: 'USER_ID\t\t', value: number('proc.id.uid') },
  vsize: { heading: 'VSZ\t\t', value: number('proc.psinfo.vsize') },
  uname: { heading: 'USER\t\t\t', value: cut(text('proc.id.uid_nm'), USER) },
  wchan: { heading: 'WCHAN\t\t\t\t\t', value: cut(text('proc.psinfo.wchan_s'), LONG) },
}

/** Is this the name of a column? */
export function isColumn(name: string): name is ColumnName {
  return Object.hasOwn(COLUMNS, name)
}

/** Returns the percentage of a processor used since the previous sample, in user and kernel mode. */
export function processorPercent(figures: ProcessValues, inst: number): number | undefined {
  return figures.percent(inst, 'proc.psinfo.utime', 'proc.psinfo.stime')
}

/** Formats total processor time: `HH:MM:SS`. */
function timeOf({ figures, inst }: PsProcess): string {
  const own = figures.number('proc.psinfo.utime', inst)
  const kernel = figures.number('proc.psinfo.stime', inst)
  if (own === undefined || kernel === undefined) return formatValue(undefined)
  const seconds = Math.floor((own + kernel) / 1000)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}

const DAY_SEC = 86_400

/** Formats the start time: time of day, with the date if that was more than a day ago. */
function startOf({ figures, inst, now, boot, zone }: PsProcess): string {
  const since = figures.number('proc.psinfo.start_time', inst)
  if (since === undefined || boot === undefined) return formatValue(undefined)
  const sec = boot + Math.floor(since / 1000)
  return formatTime(now.sec - sec > DAY_SEC ? '%b%d %H:%M' : '%H:%M:%S', { sec, nsec: 0 }, zone)
}

/** The command's name. */
export const COMMAND_NAME: PsColumn['value'] = cut(command, COMMAND)
