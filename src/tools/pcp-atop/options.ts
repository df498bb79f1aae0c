/** The command line of atop. pcp-atop(1) */
import { parseInterval } from '../../time/interval.ts'
import type { Option, OptionTable } from '../lib/options.ts'
import { type GivenOption, HELP_ROW } from '../lib/options.ts'
import { STANDARD, type StandardOptions } from '../lib/standard.ts'
import { parseLabels } from './parseable.ts'
import { afterKey, FEW_LINES, type Settings } from './settings.ts'
import type { TaskGroup } from './task.ts'

/** What a command line asks for. */
export interface AtopOptions {
  readonly settings: Settings
  /** Labels of lines for programs; undefined: lines for people. */
  readonly labels: readonly string[] | undefined
  readonly isDense: boolean
  /** Width of lines that do not go to a terminal. */
  readonly lineLength: number | undefined
  readonly group: TaskGroup
  /** What -r names; '' for today's archive. */
  readonly replay: string | undefined
  readonly record: string | undefined
  readonly begin: string | undefined
  readonly end: string | undefined
  readonly endsAtMidnight: boolean
  /** Seconds; 0: only when a key asks for a sample. */
  readonly intervalSec: number | undefined
  readonly samples: number | undefined
}

const flag = (short: string, help: string): Option => ({ short, help })
const long = (option: Option): Option => {
  const { short: _, ...rest } = option
  return rest
}

/** The options; letters are those of the keys. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] [interval [samples]]',
  operands: 'none',
  rows: [
    { heading: 'What is shown of processes' },
    flag('g', 'use of everything, which is what is shown without a choice'),
    flag('m', 'memory'),
    flag('d', 'disks'),
    flag('n', 'network, where kernel traces measure it'),
    flag('s', 'scheduling'),
    flag('v', 'parents, users, dates'),
    flag('c', 'command lines'),
    flag('X', 'control groups'),
    flag('e', 'graphics processors'),
    flag('o', 'the line of the resource file'),
    flag('u', 'all of a user together'),
    flag('p', 'all of a program together'),
    flag('j', 'all of a container together'),
    flag('a', 'processes that did nothing as well'),
    flag('y', 'threads'),
    flag('Y', 'threads by what they used'),
    flag('G', 'no processes that ended'),
    flag('R', 'proportional sizes of memory'),
    flag('W', 'where threads wait in the kernel'),
    { heading: 'How processes are sorted' },
    flag('C', 'by processors'),
    flag('M', 'by memory'),
    flag('D', 'by disks'),
    flag('N', 'by networks'),
    flag('E', 'by graphics processors'),
    flag('A', 'by what the host is most busy with'),
    { heading: 'Lines of the host' },
    flag('f', 'all of them, always as many'),
    flag('F', 'in the order of the source, not by use'),
    flag('l', 'few of each kind'),
    flag('1', 'counts a second'),
    flag('x', 'no colours'),
    { short: 'L', arg: 'WIDTH', help: 'width of lines where the output is no terminal [default 80]' },
    { short: 'P', arg: 'LABELS', help: 'lines for programs: labels with commas between them, or ALL' },
    flag('Z', 'no blanks in the names of such lines'),
    { heading: 'Archives' },
    {
      short: 'r',
      arg: 'ARCHIVE',
      kind: 'archive',
      help: 'show an archive or folio; nothing: that of today, y: of yesterday',
    },
    { short: 'b', arg: 'TIME', kind: 'none', help: 'begin at [YY-MM-DD] hh:mm[:ss]' },
    { short: 'e' },
    { short: 'w', arg: 'FOLIO', kind: 'directory', help: 'record what atop needs into a folder' },
    flag('S', 'end at midnight'),
    { heading: 'Source and time' },
    { long: 'hotproc', help: 'only processes that the agent of processes calls hot' },
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

/** The options as the parser takes them: `-e` ends a window where an archive is read, and is a view elsewhere. */
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

/** `-r` may stand alone: then what follows is an option, a number, or nothing. */
export function completeArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, i) => {
    if (!/^-[A-Za-z1]*r$/.test(arg) || arg.startsWith('-L') || arg.startsWith('-P')) return arg
    const next = args[i + 1]
    return next === undefined || next.startsWith('-') ? `${arg}today` : arg
  })
}

/** Options that every command of PCP has, as arguments for their own parser. */
export function standardArgs(given: readonly GivenOption[]): readonly string[] {
  return given.flatMap(({ option: { long: name, short }, value }) => {
    if (name === undefined || short !== undefined || name === 'hotproc') return []
    return value === '' ? [`--${name}`] : [`--${name}=${value}`]
  })
}

/** Rows of those options. */
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

/** Makes sense of the options; what makes none is added to `problems`. `initial` is what the resource files say. */
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

/** What holds before the command line is read. */
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
      problems.push(`"${interval}" is no interval: a number of seconds, or one with a unit as in 5min`)
    intervalSec = read
  }
  if (samples !== undefined && !/^[1-9]\d*$/.test(samples))
    problems.push(`"${samples}" is no number of samples`)
  if (more.length > 0) problems.push('there are two operands at most: interval and number of samples')
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
