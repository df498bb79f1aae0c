/** The command line of dstat. pcp-dstat(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import { parseInterval } from '../../time/interval.ts'
import {
  type GivenOption,
  type Option,
  type OptionRow,
  type OptionTable,
  parseOptions,
} from '../lib/options.ts'
import { parseStandard, STANDARD, type StandardOptions } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { FilterType } from './plugins.ts'

/** Time columns. */
export type TimeName = 'time' | 'time-adv' | 'epoch' | 'epoch-adv'

/** The parsed command line. */
export interface DstatOptions {
  /** Plugins and times, in order, without duplicates. */
  readonly shown: readonly string[]
  readonly isDefault: boolean
  readonly lists: ReadonlyMap<FilterType, readonly string[]>
  readonly full: boolean
  readonly bits: boolean
  readonly float: boolean
  readonly integer: boolean
  /** Undefined to use the terminal's capability. */
  readonly color: boolean | undefined
  readonly onLight: boolean
  readonly repeatsHeadings: boolean
  readonly tellsMissed: boolean
  readonly updates: boolean
  readonly output: string | undefined
  readonly pidfile: string | undefined
  /** Action instead of a report. */
  readonly instead: 'help' | 'version' | 'list' | 'check' | undefined
  readonly delay: Timestamp | undefined
  /** Samples after the first; undefined for no limit. */
  readonly count: number | undefined
  readonly problems: readonly string[]
  /** Error message for an invalid operand. */
  readonly wrongOperand: string | undefined
  readonly standard: StandardOptions
}

export const TIME_NAMES: readonly TimeName[] = ['epoch', 'epoch-adv', 'time', 'time-adv']

const on = (short: string, long: string, help: string): Option => ({ short, long, help })
const plain = (long: string, help: string): Option => ({ long, help })
const list = (short: string, what: string): Option => ({ short, arg: 'LIST', kind: 'none', help: what })

const ROWS: readonly OptionRow[] = [
  { heading: 'Statistics' },
  on('c', 'cpu', 'use of the processors'),
  list('C', 'these processors: 0,3,total'),
  on('d', 'disk', 'transfers of disks'),
  list('D', 'these disks: sda,total'),
  plain('dm', 'transfers of mapped devices'),
  { long: 'device-mapper' },
  list('L', 'these mapped devices'),
  plain('md', 'transfers of devices of several disks'),
  { long: 'multi-device' },
  list('M', 'these devices of several disks'),
  plain('part', 'transfers of partitions'),
  { long: 'partition' },
  list('P', 'these partitions'),
  on('g', 'page', 'paging'),
  on('i', 'int', 'interrupts'),
  list('I', 'these interrupts: 9,CAL'),
  on('l', 'load', 'load averages'),
  on('m', 'mem', 'memory'),
  on('n', 'net', 'traffic of network interfaces'),
  list('N', 'these interfaces: eth0,total'),
  on('p', 'proc', 'running, blocked and new processes'),
  on('r', 'io', 'requests to disks'),
  on('s', 'swap', 'swap space'),
  list('S', 'these swap devices'),
  on('y', 'sys', 'interrupts and context switches'),
  on('t', 'time', 'time of the sample'),
  plain('time-adv', 'the same with milliseconds'),
  on('T', 'epoch', 'time of the sample in seconds since 1970'),
  plain('epoch-adv', 'the same with milliseconds'),
  { long: 'filesystem' },
  { heading: 'Combinations' },
  on('a', 'all', 'the same as -cdngy (default)'),
  on('v', 'vmstat', 'as -pmgdsc -D total'),
  on('f', 'full', 'every processor, disk, interface and swap device separately'),
  plain('all-plugins', 'all plugins'),
  { heading: 'Format' },
  plain('bits', 'sizes a second in bits'),
  plain('float', 'with fractions'),
  plain('integer', 'without fractions'),
  plain('bw', 'colours for a light background'),
  { long: 'blackonwhite' },
  { long: 'black-on-white' },
  plain('color', 'colours, even if the output is not a terminal'),
  plain('nocolor', 'no colours'),
  plain('noheaders', 'headings once only'),
  plain('noupdate', 'no lines between the samples'),
  plain('nomissed', 'no notes about missed samples'),
  { heading: 'Files' },
  { short: 'o', long: 'output', arg: 'FILE', help: 'values as CSV, added to FILE' },
  { long: 'pidfile', arg: 'FILE', help: 'write the number of the process to FILE' },
  { heading: 'General' },
  plain('list', 'list the plugins, each of which is an option --NAME'),
  on('q', 'check', 'check the configuration and exit'),
  { short: 'V', long: 'version', help: 'print versions and plugins, and exit' },
  { short: 'h', long: 'help', help: 'print this text and exit' },
  { short: '?' },
]

/** Options for the man page; each plugin adds one. */
export const OPTIONS: OptionTable = { synopsis: '[options] [delay [count]]', operands: 'none', rows: ROWS }

const ALIASES: Readonly<Record<string, string>> = {
  'device-mapper': 'dm',
  'multi-device': 'md',
  partition: 'part',
  filesystem: 'fs',
  c: 'cpu',
  d: 'disk',
  g: 'page',
  i: 'int',
  l: 'load',
  m: 'mem',
  n: 'net',
  p: 'proc',
  r: 'io',
  s: 'swap',
  y: 'sys',
  t: 'time',
  T: 'epoch',
}
const LIST_LETTERS: Readonly<Record<string, FilterType>> = {
  C: 'cpu',
  D: 'disk',
  L: 'dm',
  M: 'md',
  P: 'part',
  I: 'int',
  N: 'net',
  S: 'swap',
}
const SEVERAL: Readonly<Record<string, readonly string[]>> = {
  a: ['cpu', 'disk', 'net', 'page', 'sys'],
  v: ['proc', 'mem', 'page', 'disk', 'sys', 'cpu'],
}
/** Options passed only by the environment, as by the `pcp` wrapper. */
const FROM_WRAPPER: OptionTable = {
  synopsis: '',
  rows: [
    STANDARD.align,
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.host,
    STANDARD.localPmda,
    STANDARD.specLocal,
    STANDARD.namespace,
    STANDARD.origin,
    STANDARD.start,
    STANDARD.samples,
    STANDARD.finish,
    STANDARD.interval,
    STANDARD.timezone,
    STANDARD.hostzone,
  ],
}

/** Reads the command line, including an option for each of `plugins`. Throws PcpError as `parseStandard` does. */
export function readOptions(plugins: ReadonlySet<string>, io: ToolIo): DstatOptions {
  const table = { ...OPTIONS, rows: [...ROWS, ...pluginRows(plugins)] }
  const parsed = parseOptions(table, io)
  const shown = new Set<string>()
  const lists = new Map<FilterType, readonly string[]>()
  const flags = new Map<string, string>()
  for (const { name, value, option } of parsed.given) {
    const type = LIST_LETTERS[name]
    if (type !== undefined) lists.set(type, value.split(','))
    else if (SEVERAL[name] !== undefined) {
      for (const each of SEVERAL[name]) shown.add(each)
      if (name === 'v') lists.set('disk', ['total'])
    } else if (isShown(name, plugins)) shown.add(ALIASES[name] ?? name)
    else if (name === 'all-plugins') for (const each of plugins) shown.add(each)
    else flags.set(option.long ?? name, value)
  }
  const isDefault =
    shown.size === 0 || [...shown].every((name) => (TIME_NAMES as readonly string[]).includes(name))
  if (isDefault) for (const name of SEVERAL['a']!) shown.add(name)
  const environment = parseStandard(FROM_WRAPPER, { ...io, args: [] }, { isHighRes: true })
  return {
    shown: [...shown],
    isDefault,
    lists,
    ...switches(flags),
    ...operandsOf(parsed.operands, environment.standard),
    instead: insteadOf(parsed.given),
    problems: [...parsed.problems, ...environment.problems],
    standard: environment.standard,
  }
}

function pluginRows(plugins: ReadonlySet<string>): Option[] {
  const known = new Set(ROWS.flatMap((row) => ('heading' in row ? [] : (row.long ?? []))))
  return [...plugins].filter((name) => !known.has(name)).map((long) => ({ long }))
}

function isShown(name: string, plugins: ReadonlySet<string>): boolean {
  return ALIASES[name] !== undefined || plugins.has(name) || (TIME_NAMES as readonly string[]).includes(name)
}

type Switches = Pick<
  DstatOptions,
  | 'full'
  | 'bits'
  | 'float'
  | 'integer'
  | 'color'
  | 'onLight'
  | 'repeatsHeadings'
  | 'tellsMissed'
  | 'updates'
  | 'output'
  | 'pidfile'
>

function switches(flags: ReadonlyMap<string, string>): Switches {
  const onLight = ['bw', 'blackonwhite', 'black-on-white'].some((name) => flags.has(name))
  return {
    full: flags.has('full'),
    bits: flags.has('bits'),
    float: flags.has('float'),
    integer: flags.has('integer'),
    color: flags.has('nocolor') ? false : flags.has('color') ? true : undefined,
    onLight,
    repeatsHeadings: !flags.has('noheaders'),
    tellsMissed: !flags.has('nomissed'),
    updates: !flags.has('noupdate'),
    output: flags.get('output'),
    pidfile: flags.get('pidfile'),
  }
}

function insteadOf(given: readonly GivenOption[]): DstatOptions['instead'] {
  const has = (name: string): boolean => given.some((each) => each.name === name)
  if (has('h') || has('?')) return 'help'
  if (has('V')) return 'version'
  if (has('list')) return 'list'
  return has('q') ? 'check' : undefined
}

function operandsOf(
  [delay, count, ...more]: readonly string[],
  standard: StandardOptions,
): Pick<DstatOptions, 'delay' | 'count' | 'wrongOperand'> {
  const nothing = { delay: standard.interval, count: undefined }
  if (more.length > 0) return { ...nothing, wrongOperand: 'Incorrect argument list, try --help' }
  const interval = delay === undefined ? standard.interval : intervalOf(delay)
  if (delay !== undefined && interval === undefined)
    return { ...nothing, wrongOperand: `Invalid sample delay '${delay}'` }
  if (count !== undefined && !/^\d+$/.test(count))
    return { ...nothing, wrongOperand: `Invalid sample count '${count}'` }
  const samples = standard.samples === undefined ? undefined : Math.max(0, standard.samples - 1)
  return { delay: interval, count: count === undefined ? samples : Number(count), wrongOperand: undefined }
}

/** Parses the delay; undefined for an invalid one and for 0. */
function intervalOf(text: string): Timestamp | undefined {
  try {
    const interval = parseInterval(text)
    return interval.sec === 0 && interval.nsec === 0 ? undefined : interval
  } catch {
    return undefined // the caller names the operand
  }
}
