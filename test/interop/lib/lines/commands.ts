/** The commands that lines are made for: how each is given an archive and metrics, and what its own options take. */
import { extractConfig, pmieRules, reportConfig, rewriteRules } from './configs.ts'
import * as draw from './draw.ts'

/** Draws an argument. */
type Draw = (drawing: draw.Drawing) => string

/** A command. */
export interface CommandRow {
  /** Of the registry. */
  readonly tool: string
  /** How often it is drawn, beside the others. */
  readonly weight: number
  /** The option that takes the archive, or that it is the first operand, one of two, or the same with an output behind it. */
  readonly archive: '-a' | '-r' | 'operand' | 'two' | 'output' | 'copy' | 'rename'
  /** Metrics as operands: how many at most. */
  readonly metrics?: number
  /** It takes samples: an interval or a count bounds them. */
  readonly isSampling?: true
  /** An operand of the report that `pcp` runs. */
  readonly report?: string
  /** Names that an archive must have for a line to be worth much. */
  readonly needs?: RegExp
  /** By letter, or long name without one: options that are not drawn, flags drawn for this command alone, and its own kinds of arguments. */
  readonly options?: Readonly<Record<string, Draw | boolean>>
  /** Options that are always there. */
  readonly always?: readonly string[]
}

/** Options never drawn: they end the command, wait for real time, or need a collector or a terminal. */
const NEVER = new Set([
  'V',
  '?',
  'D',
  'h',
  'L',
  'K',
  'g',
  'p',
  'n',
  'N',
  'container',
  'daemonize',
  'archive-folio',
  'debug',
  'host',
  'help',
  'version',
])

/** Arguments by the long names of options; a command's own row comes first. */
const ARGUMENTS: Readonly<Record<string, Draw>> = {
  align: draw.alignment,
  start: draw.time,
  finish: draw.time,
  begin: draw.time,
  end: draw.time,
  origin: draw.time,
  interval: (drawing) => draw.interval(drawing),
  samples: draw.numberFrom(1, 12),
  timezone: draw.zone,
  precision: draw.numberFrom(0, 8),
  'precision-force': draw.numberFrom(0, 8),
  width: draw.numberFrom(1, 30),
  'width-force': draw.numberFrom(1, 30),
  instances: draw.instanceList,
  derived: draw.derivedFile,
  batch: draw.numberFrom(1, 20),
}

const REPORT_OPTIONS: Readonly<Record<string, Draw | boolean>> = {
  json: false,
  'archive-list': ({ source }) => source.name,
  i: draw.instancePatterns,
  c: reportConfig,
  e: (drawing) =>
    drawing.random.chance(0.5) ? draw.derivedFile(drawing) : `gen.e = ${draw.expression(drawing)}`,
  o: draw.oneOf('stdout', 'csv', 'csv', 'archive', 'nosuch'),
  F: draw.oneOf('OUT/out', 'OUT/out.txt'),
  J: draw.numberFrom(-4, 6),
  8: draw.oneOf('0', '1', '10', '1000', '-5', '1e3', 'x'),
  9: draw.oneOf('0', '1', '10', '1000', '-5', '1e3', 'x'),
  N: draw.anyMetric,
  4: draw.oneOf('update', 'ignore', 'abort', 'nosuch'),
  q: draw.countUnit,
  Q: draw.countUnit,
  b: draw.spaceUnit,
  B: draw.spaceUnit,
  y: draw.timeUnit,
  Y: draw.timeUnit,
  l: draw.oneOf(';', '|', ',', '\t', ' ', 'ab', ''),
  f: draw.stampFormat,
  X: draw.oneOf('inst', 'x', 'some words', ''),
  6: draw.anyMetric,
  E: draw.numberFrom(1, 10),
  p: true,
  d: false,
}

const EXPORTER_OPTIONS: Readonly<Record<string, Draw | boolean>> = {
  ...REPORT_OPTIONS,
  X: true,
  E: false,
  o: false,
  t: false,
  p: false,
  U: false,
  u: false,
  F: draw.oneOf('OUT/out.txt'),
}

const PROCESS_NUMBERS = draw.oneOf('1', '1,2', '100', 'ALL', 'x')

/** Every command with its place in the draw. */
export const COMMANDS: readonly CommandRow[] = [
  {
    tool: 'pminfo',
    weight: 10,
    archive: '-a',
    metrics: 3,
    options: { c: draw.derivedFile, e: false, r: false, s: false, N: false },
  },
  { tool: 'pmprobe', weight: 8, archive: '-a', metrics: 3, options: { d: false, V: false } },
  {
    tool: 'pmval',
    weight: 16,
    archive: '-a',
    metrics: 1,
    isSampling: true,
    options: { d: false, U: false, f: draw.numberFrom(0, 8), w: draw.numberFrom(1, 40), x: false },
  },
  {
    tool: 'pmevent',
    weight: 4,
    archive: '-a',
    metrics: 1,
    isSampling: true,
    options: {
      d: false,
      U: false,
      f: draw.numberFrom(0, 8),
      w: draw.numberFrom(1, 40),
      x: draw.oneOf('1', 'x'),
    },
  },
  {
    tool: 'pmstat',
    weight: 6,
    archive: '-a',
    isSampling: true,
    needs: /^kernel\.all\.load$/,
    always: ['-s'],
    options: { P: false, H: false },
  },
  { tool: 'pmdumplog', weight: 10, archive: 'operand', metrics: 3, options: { v: false } },
  {
    tool: 'pmlogsummary',
    weight: 10,
    archive: 'operand',
    metrics: 3,
    options: { B: draw.numberFrom(1, 8), N: true, p: draw.numberFrom(0, 8) },
  },
  { tool: 'pmlogcheck', weight: 4, archive: 'operand', options: { r: false, R: false, f: false } },
  {
    tool: 'pmloglabel',
    weight: 3,
    archive: 'copy',
    options: {
      h: draw.oneOf('gen.example', 'x'),
      p: draw.numberFrom(1, 99999),
      V: draw.oneOf('2', '3', '1'),
      Z: draw.zone,
    },
  },
  { tool: 'pmlogsize', weight: 3, archive: 'operand', options: { x: draw.numberFrom(0, 100) } },
  {
    tool: 'pmdiff',
    weight: 3,
    archive: 'two',
    options: {
      d: false,
      q: draw.oneOf('2', '1.1', '10'),
      p: draw.numberFrom(0, 6),
      x: draw.anyMetric,
      X: (d) => `<<${draw.anyMetric(d)}\n`,
    },
  },
  {
    tool: 'pmlogextract',
    weight: 6,
    archive: 'output',
    options: {
      c: extractConfig,
      s: draw.numberFrom(1, 50),
      v: draw.numberFrom(1, 100),
      V: draw.oneOf('2', '3', '1'),
      labelhost: false,
      replace: false,
    },
  },
  {
    tool: 'pmlogreduce',
    weight: 5,
    archive: 'output',
    isSampling: true,
    options: { v: draw.numberFrom(1, 100) },
  },
  {
    tool: 'pmlogrewrite',
    weight: 6,
    archive: 'output',
    options: { c: rewriteRules, V: draw.oneOf('2', '3', '1'), i: false },
  },
  { tool: 'pmlogmv', weight: 1, archive: 'rename', options: { N: true, V: true } },
  {
    tool: 'pmie',
    weight: 8,
    archive: '-a',
    always: ['-c', '-t', '-v'],
    options: {
      c: pmieRules,
      t: draw.interval,
      d: false,
      P: false,
      F: false,
      j: false,
      U: false,
      unquoted: false,
      o: false,
      X: false,
      x: false,
      l: false,
      m: false,
      f: true,
    },
  },
  {
    tool: 'pmclient',
    weight: 3,
    archive: '-a',
    isSampling: true,
    needs: /^kernel\.all\.load$/,
    options: { P: false },
  },
  {
    tool: 'pmiostat',
    weight: 3,
    archive: '-a',
    isSampling: true,
    needs: /^disk\.dev\.read$/,
    options: {
      G: draw.oneOf('sum', 'avg', 'min', 'max', 'x'),
      P: draw.numberFrom(0, 5),
      R: draw.oneOf('sd', 'sd[ab]', '.*', 'x', 'nvme|dm'),
      x: draw.oneOf('t', 'h', 'noidle', 't,h', 'dm', 'x', 'dm,t', 'nodisk'),
    },
  },
  { tool: 'pmrep', weight: 20, archive: '-a', metrics: 4, isSampling: true, options: REPORT_OPTIONS },
  {
    tool: 'pcp2csv',
    weight: 3,
    archive: '-a',
    metrics: 3,
    isSampling: true,
    options: { ...REPORT_OPTIONS, o: false },
  },
  { tool: 'pcp2json', weight: 5, archive: '-a', metrics: 3, isSampling: true, options: EXPORTER_OPTIONS },
  { tool: 'pcp2xml', weight: 5, archive: '-a', metrics: 3, isSampling: true, options: EXPORTER_OPTIONS },
  {
    tool: 'pcp',
    report: 'free',
    weight: 3,
    archive: '-a',
    needs: /^mem\.util\.free$/,
    options: { c: draw.numberFrom(1, 5), s: draw.oneOf('1', '2', '10s', '1min', 'x') },
  },
  {
    tool: 'pcp',
    report: 'iostat',
    weight: 3,
    archive: '-a',
    isSampling: true,
    needs: /^disk\.dev\.read$/,
    options: {
      G: draw.oneOf('sum', 'avg', 'min', 'max', 'x'),
      P: draw.numberFrom(0, 5),
      R: draw.oneOf('sd', 'sd[ab]', '.*', 'x', 'nvme|dm'),
      x: draw.oneOf('t', 'h', 'noidle', 't,h', 'dm', 'x', 'dm,t'),
    },
  },
  { tool: 'pcp', report: 'ipcs', weight: 1, archive: '-a', needs: /^ipc\./ },
  {
    tool: 'pcp',
    report: 'mpstat',
    weight: 3,
    archive: '-a',
    isSampling: true,
    needs: /^kernel\.percpu\.cpu\.user$/,
    options: { P: draw.oneOf('ALL', 'ON', '0', '1,0', 'x'), I: draw.oneOf('SUM', 'CPU', 'SCPU', 'ALL', 'x') },
  },
  {
    tool: 'pcp',
    report: 'numastat',
    weight: 2,
    archive: '-a',
    needs: /^mem\.numa\./,
    options: { w: draw.numberFrom(20, 200) },
  },
  {
    tool: 'pcp',
    report: 'pidstat',
    weight: 3,
    archive: '-a',
    isSampling: true,
    needs: /^proc\.psinfo\.utime$/,
    options: {
      G: draw.oneOf('d$', 'p', 'nosuch', '^s.*', '['),
      p: PROCESS_NUMBERS,
      U: draw.oneOf('root', '', 'x'),
      B: draw.oneOf('all', 'R', 'R,D', 'detail', 'x'),
      f: draw.oneOf('%c', '%H:%M', 'x'),
    },
  },
  {
    tool: 'pcp',
    report: 'ps',
    weight: 2,
    archive: '-a',
    isSampling: true,
    needs: /^proc\.psinfo\.pid$/,
    options: {
      c: draw.oneOf('systemd', 'systemd,sshd', 'x'),
      p: PROCESS_NUMBERS,
      P: PROCESS_NUMBERS,
      U: draw.oneOf('root', 'x'),
      o: draw.oneOf('ALL', 'pid,cmd', 'pid,ppid,pri,state,rss,vsize,uname,cmd', '%mem,start,cmd', 'x'),
      O: false,
    },
  },
  {
    tool: 'pcp',
    report: 'ss',
    weight: 2,
    archive: '-a',
    needs: /^network\.persocket\./,
    options: { h: false, n: true, N: false, p: true },
  },
  { tool: 'pcp', report: 'summary', weight: 2, archive: '-a' },
  { tool: 'pcp', report: 'uptime', weight: 2, archive: '-a', needs: /^kernel\.all\.uptime$/ },
  { tool: 'pcp', report: 'vmstat', weight: 2, archive: '-a', isSampling: true, needs: /^kernel\.all\.load$/ },
  {
    tool: 'pcp',
    report: 'atop',
    weight: 2,
    archive: '-a',
    isSampling: true,
    needs: /^proc\.psinfo\.utime$/,
    options: {
      r: false,
      w: false,
      b: draw.oneOf('10:00', '00:00'),
      L: draw.numberFrom(60, 180),
      P: draw.oneOf('ALL', 'CPU', 'CPU,cpu', 'MEM', 'DSK,NET', 'PRC', 'PRG', 'PRM', 'x'),
      h: false,
    },
  },
  {
    tool: 'pcp',
    report: 'dstat',
    weight: 3,
    archive: '-a',
    isSampling: true,
    needs: /^kernel\.all\.cpu\.user$/,
    options: {
      C: draw.oneOf('0', 'total', '0,total', '1'),
      D: draw.oneOf('sda', 'total', 'sda,total'),
      L: draw.oneOf('total', 'dm-0'),
      M: draw.oneOf('total', 'md0'),
      P: draw.oneOf('total', 'sda1'),
      N: draw.oneOf('eth0', 'total', 'lo,total'),
      I: draw.oneOf('1,2', 'total', '17'),
      S: draw.oneOf('total', 'swap0'),
      o: draw.oneOf('OUT/out.csv'),
      pidfile: false,
      list: false,
      h: false,
      q: false,
      color: false,
    },
  },
]

/** Whether lines have an option at all, by its letter or else its long name. */
export function isDrawn(row: CommandRow, name: string): boolean {
  const own = row.options ?? {}
  return name in own ? own[name] !== false : !NEVER.has(name)
}

/** What draws the argument of an option. */
export function drawOf(row: CommandRow, name: string, long: string | undefined): Draw | undefined {
  const own = row.options?.[name]
  return typeof own === 'function' ? own : ARGUMENTS[long ?? name]
}
