/** The command line of pmdumptext. */
import type { OptionTable, ParsedOptions } from '../lib/options.ts'
import { SAMPLING_ROWS, STANDARD } from '../lib/standard.ts'

export const OPTIONS: OptionTable = {
  synopsis: '[options] [metrics ...]',
  operands: 'metric',
  rows: [
    { heading: 'General options' },
    STANDARD.align,
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.host,
    STANDARD.namespace,
    ...SAMPLING_ROWS,
    STANDARD.version,
    STANDARD.help,
    { heading: 'Reporting options' },
    { short: 'c', long: 'config', arg: 'FILE', help: 'read metrics from FILE, one a line' },
    { short: 'C', long: 'check', help: 'exit after the headings' },
    {
      short: 'd',
      long: 'delimiter',
      arg: 'CHAR',
      kind: 'none',
      help: 'separate columns by CHAR instead of a tab',
    },
    {
      short: 'f',
      long: 'time-format',
      arg: 'FORMAT',
      kind: 'none',
      help: 'strftime format of times; none: no times',
    },
    { short: 'F', long: 'fixed', help: 'show values in six characters, with K, M, G and T' },
    { short: 'G', long: 'scientific', help: 'show values with exponents where that is shorter' },
    { short: 'H', long: 'headers', help: 'show all headings, as -lmNu' },
    { short: 'i', long: 'interactive', help: 'make columns of equal width' },
    { short: 'l', long: 'source', help: 'show the sources of metrics' },
    { short: 'm', long: 'metrics', help: 'show names of metrics' },
    { short: 'M', help: 'list the metrics first, with their numbers' },
    { short: 'N', help: 'show the divisors of values' },
    { short: 'o', long: 'offset', help: 'show seconds since the start before times' },
    { short: 'P', long: 'precision', arg: 'N', kind: 'none', help: 'show N decimals' },
    { short: 'r', long: 'raw', help: 'show raw values, without rates' },
    { short: 'R', long: 'repeat', arg: 'N', kind: 'none', help: 'repeat the headings after N rows' },
    { short: 'u', long: 'units', help: 'show units' },
    { short: 'U', long: 'unavailable', arg: 'TEXT', kind: 'none', help: 'show TEXT for missing values' },
    { short: 'w', long: 'width', arg: 'N', kind: 'none', help: 'make columns N wide' },
    { short: 'X', long: 'extended', help: 'with headings that repeat, also the list of -M; as -i' },
  ],
}

/** Notation of numbers. */
export type Notation = 'decimal' | 'fixed' | 'scientific'

/** The parsed options. */
export interface PmdumptextOptions {
  readonly config: string | undefined
  readonly checks: boolean
  readonly delimiter: string
  /** A strftime format; '' for no times, undefined for the first 19 characters of ctime. */
  readonly timeFormat: string | undefined
  readonly notation: Notation
  readonly isInteractive: boolean
  readonly isRaw: boolean
  readonly showsSource: boolean
  readonly showsNames: boolean
  readonly showsList: boolean
  /** Repeat the list of metrics with the headings. */
  readonly repeatsList: boolean
  readonly showsDivisors: boolean
  readonly showsUnits: boolean
  readonly showsOffset: boolean
  readonly precision: number
  readonly width: number
  /** Rows between headings; 0 for a single heading. */
  readonly repeat: number
  readonly missing: string
}

const MIN_WIDTH = 3
const DEFAULT_PRECISION = 3
/** Minimum precision, as in PCP's. */
const LEAST_PRECISION = 2
/** Width of a value with a suffix. */
export const FIXED_WIDTH = 6

/** Options that exclude each other. */
const CONFLICTS: readonly (readonly [string, string])[] = [
  ['F', 'G'],
  ['i', 'G'],
  ['i', 'P'],
  ['P', 'w'],
]

/** Reads pmdumptext's own options; errors are added to `problems`. */
export function wantedFrom({ given, problems }: ParsedOptions): PmdumptextOptions {
  const last = (letter: string): string | undefined => given.findLast(({ name }) => name === letter)?.value
  const has = (letter: string): boolean => last(letter) !== undefined
  const number = (letter: string, least: number): number | undefined => {
    const text = last(letter)
    if (text === undefined) return undefined
    if (/^\s*\+?\d+$/.test(text) && Number(text) >= least) return Number(text)
    problems.push(`-${letter} requires a positive numeric argument`)
    return undefined
  }
  for (const [one, other] of CONFLICTS) {
    if (has(one) && has(other)) problems.push(`-${one} and -${other} may not be used together`)
  }
  const isInteractive = has('i') || has('X')
  const notation = has('F') || isInteractive ? 'fixed' : has('G') ? 'scientific' : 'decimal'
  const beside = notation === 'scientific' ? 1 : 2 // decimal point, and leading digit
  const width = number('w', 1)
  if (width !== undefined && width < MIN_WIDTH) problems.push(`-w must be greater than ${MIN_WIDTH - 1}`)
  const decimals = number('P', 0) ?? DEFAULT_PRECISION
  const precision = width === undefined ? Math.max(LEAST_PRECISION, decimals) : Math.max(0, width - beside)
  const all = has('H')
  return {
    config: last('c'),
    checks: has('C'),
    delimiter: delimiterOf(last('d'), problems),
    timeFormat: last('f'),
    notation,
    isInteractive,
    isRaw: has('r'),
    showsSource: has('l') || all,
    showsNames: has('m') || all,
    showsList: has('M') || has('X'),
    repeatsList: has('X'),
    showsDivisors: has('N') || all,
    showsUnits: has('u') || all,
    showsOffset: has('o'),
    precision,
    width: Math.max(
      width ?? (notation === 'fixed' ? FIXED_WIDTH : precision + beside),
      isInteractive ? FIXED_WIDTH : 0,
    ),
    repeat: number('R', 1) ?? 0,
    missing: last('U') ?? '?',
  }
}

function delimiterOf(text: string | undefined, problems: string[]): string {
  if (text === undefined || text === '\\t') return '\t'
  if (text === '\\n') return '\n'
  if (text.length === 2 && text.startsWith('\\')) return ' '
  if (text.length !== 1) problems.push('delimiter must be one character')
  return text
}
