/** The command line of atop. pcp-atop(1) */
import { parseInterval } from '../../time/interval.ts'
import type { Option, OptionTable } from '../lib/options.ts'
import { type GivenOption, HELP_ROW } from '../lib/options.ts'
import { STANDARD, type StandardOptions } from '../lib/standard.ts'
import { parseLabels } from './parseable.ts'
import { afterKey, FEW_LINES, type Settings } from './settings.ts'
import type { TaskGroup } from './task.ts'

/** The parsed command line. */
export interface AtopOptions {
  readonly settings: Settings
  /** Labels of parseable output; undefined for reports. */
  readonly labels: readonly string[] | undefined
  readonly isDense: boolean
  /** Line length for output that is not a terminal. */
  readonly lineLength: number | undefined
  readonly group: TaskGroup
  /** Argument of -r; '' for today's archive. */
  readonly replay: string | undefined
  readonly record: string | undefined
  readonly begin: string | undefined
  readonly end: string | undefined
  readonly endsAtMidnight: boolean
  /** Seconds; 0 to sample only on a key. */
  readonly intervalSec: number | undefined
  readonly samples: number | undefined
}

const flag = (short: string, help: string): Option => ({ short, help })
const long = (option: Option): Option => {
  const { short: _, ...rest } = option
  return rest
}

/** The options; letters are the same as the keys. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] [interval [samples]]',
  operands: 'none',
  rows: [
    { heading: 'Columns of processes' },
    flag('g', 'use of all resources (default)'),
    flag('m', 'memory'),
    flag('d', 'disks'),
    flag('n', 'network, if kernel traces measure it'),
    flag('s', 'scheduling'),
    flag('v', 'parents, users, dates'),
    flag('c', 'command lines'),
    flag('X', 'control groups'),
    flag('e', 'graphics processors'),
    flag('o', 'the line of the resource file'),
    flag('u', 'totals by user'),
    flag('p', 'totals by program'),
    flag('j', 'totals by container'),
    flag('a', 'also idle processes'),
    flag('y', 'threads'),
    flag('Y', 'threads, sorted by resource use'),
    flag('G', 'hide exited processes'),
    flag('R', 'proportional sizes of memory'),
    flag('W', 'where threads wait in the kernel'),
    { heading: 'Order of processes' },
    flag('C', 'by processors'),
    flag('M', 'by memory'),
    flag('D', 'by disks'),
    flag('N', 'by networks'),
    flag('E', 'by graphics processors'),
    flag('A', 'by the busiest resource'),
    { heading: 'Lines of the host' },
    flag('f', 'all lines, always the same number'),
    flag('F', 'in the order of the source, not by use'),
    flag('l', 'few of each kind'),
    flag('1', 'counts a second'),
    flag('x', 'no colours'),
    { short: 'L', arg: 'WIDTH', help: 'width of lines if the output is not a terminal [default 80]' },
    { short: 'P', arg: 'LABELS', help: 'parseable output: comma-separated labels, or ALL' },
    flag('Z', 'no blanks in names in parseable output'),
    { heading: 'Archives' },
    {
      short: 'r',
      arg: 'ARCHIVE',
      kind: 'archive',
      help: 'replay an archive or folio; default: today, y: yesterday',
    },
    { short: 'b', arg: 'TIME', kind: 'none', help: 'begin at [YY-MM-DD] hh:mm[:ss]' },
    { short: 'e' },
    { short: 'w', arg: 'FOLIO', kind: 'directory', help: 'record the metrics of atop in a folder' },
    flag('S', 'end at midnight'),
    { heading: 'Source and time' },
    { long: 'hotproc', help: 'only hot processes, as selected in the proc agent' },
    long(STANDARD.align),
    long(STANDARD.archive),
    long(STANDARD.debug),
    long(STANDARD.host),
    long(STANDARD.origin),
    long(STANDARD.start),
    long(STANDARD.samples),
    long(STANDARD.finish),
    long(STANDARD.interval),
    long(STANDARD.timezone),
    long(STANDARD.hostzone),
    { heading: 'General' },
    { short: 'V', long: 'version', help: 'print the version and exit' },
    HELP_ROW,
    { short: 'h' },
  ],
}

const MINUS_BEGIN_END: Option = {
  short: 'e',
  arg: 'TIME',
  kind: 'none',
  help: 'end at [YY-MM-DD] hh:mm[:ss]',
}

/** Returns the option table: `-e` ends the window when replaying an archive, otherwise it selects a view. */
export function tableFor(args: readonly string[], hasArchive: boolean): OptionTable {
  const isReplay =
    hasArchive ||
    args.some((arg) => /^-(?!-)[^bewPL]*r/.test(arg) || arg.startsWith('-b') || arg.startsWith('--archive'))
  if (!isReplay) return OPTIONS
  let isFirst = true
  const rows = OPTIONS.rows.filter((row) => {
    if ('heading' in row || row.short !== 'e') return true
    if (!isFirst) return true
    isFirst = false
    return false
  })
  return {
    ...OPTIONS,
    rows: rows.map((row) => (!('heading' in row) && row.short === 'e' ? MINUS_BEGIN_END : row)),
  }
}

/** Adds the missing argument of a `-r` that is followed by an option, a number, or nothing. */
export function completeArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, i) => {
    if (!/^-[A-Za-z1]*r$/.test(arg) || arg.startsWith('-L') || arg.startsWith('-P')) return arg
    const next = args[i + 1]
    return next === undefined || next.startsWith('-') ? `${arg}today` : arg
  })
}

/** Returns PCP's standard options as arguments for their own parser. */
export function standardArgs(given: readonly GivenOption[]): readonly string[] {
  return given.flatMap(({ option: { long: name, short }, value }) => {
    if (name === undefined || short !== undefined || name === 'hotproc') return []
    return value === '' ? [`--${name}`] : [`--${name}=${value}`]
  })
}

/** The table of those options. */
export const STANDARD_TABLE: OptionTable = {
  synopsis: '',
  rows: [
    STANDARD.align,
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.host,
    STANDARD.origin,
    STANDARD.start,
    STANDARD.samples,
    STANDARD.finish,
    STANDARD.interval,
    STANDARD.timezone,
    STANDARD.hostzone,
  ],
}

const MIN_WIDTH = 32

/** Reads the options; errors are added to `problems`. `initial` comes from the resource files. */
export function readOptions(
  given: readonly GivenOption[],
  operands: readonly string[],
  problems: string[],
  { initial, standard }: { readonly initial: InitialChoice; readonly standard: StandardOptions },
): AtopOptions {
  let settings = initial.settings
  const values = new Map<string, string>()
  for (const { name, value, option } of given) {
    const changed = option.arg === undefined ? afterKey(settings, name) : undefined
    if (name === 'l') settings = { ...settings, maxLines: FEW_LINES }
    else if (changed !== undefined) settings = changed
    else values.set(name, value)
  }
  const list = values.get('P')
  const parsed = list === undefined ? undefined : parseLabels(list)
  if (parsed !== undefined && 'unknown' in parsed) problems.push(`label not found: ${parsed.unknown}`)
  const width = values.get('L')
  const lineLength = width === undefined ? initial.lineLength : Number(width)
  if (lineLength !== undefined && !(Number.isInteger(lineLength) && lineLength >= MIN_WIDTH))
    problems.push(`-L needs a width of at least ${MIN_WIDTH}, not "${width}"`)
  return {
    settings,
    labels: parsed !== undefined && 'labels' in parsed ? parsed.labels : undefined,
    isDense: values.has('Z'),
    lineLength,
    group: values.has('hotproc') ? 'hotproc' : 'proc',
    replay: values.get('r'),
    record: values.get('w'),
    begin: values.get('b'),
    end: values.get('e'),
    endsAtMidnight: values.has('S'),
    ...operandsOf(operands, problems, standard, initial),
  }
}

/** Settings before the command line is read. */
export interface InitialChoice {
  readonly settings: Settings
  readonly intervalSec: number | undefined
  readonly lineLength: number | undefined
}

function operandsOf(
  [interval, samples, ...more]: readonly string[],
  problems: string[],
  standard: StandardOptions,
  initial: InitialChoice,
): Pick<AtopOptions, 'intervalSec' | 'samples'> {
  const own = standard.interval
  let intervalSec = own === undefined ? initial.intervalSec : own.sec + own.nsec / 1e9
  if (interval !== undefined) {
    const read = secondsOf(interval)
    if (read === undefined)
      problems.push(`"${interval}" is not an interval: give seconds, or a unit as in 5min`)
    intervalSec = read
  }
  if (samples !== undefined && !/^[1-9]\d*$/.test(samples))
    problems.push(`"${samples}" is not a number of samples`)
  if (more.length > 0)
    problems.push('too many operands: only an interval and a number of samples are allowed')
  return { intervalSec, samples: samples === undefined ? standard.samples : Number(samples) }
}

function secondsOf(text: string): number | undefined {
  try {
    const { sec, nsec } = parseInterval(text)
    return sec + nsec / 1e9
  } catch {
    return undefined // the caller names the operand
  }
}
