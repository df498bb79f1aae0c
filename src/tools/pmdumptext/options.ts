/** What the command line of pmdumptext says. */
import type { OptionTable, ParsedOptions } from '../lib/options.ts'
import { SAMPLING_ROWS, STANDARD } from '../lib/standard.ts'

/** The command line. */
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
    { short: 'c', long: 'config', arg: 'FILE', help: 'read metrics from FILE, a line each' },
    { short: 'C', long: 'check', help: 'end after the headings' },
    { short: 'd', long: 'delimiter', arg: 'CHAR', kind: 'none', help: 'put CHAR between columns, not a tab' },
    {
      short: 'f',
      long: 'time-format',
      arg: 'FORMAT',
      kind: 'none',
      help: 'show times as strftime does; none: no times',
    },
    { short: 'F', long: 'fixed', help: 'show values in six characters, with K, M, G and T' },
    { short: 'G', long: 'scientific', help: 'show values with exponents where that is shorter' },
    { short: 'H', long: 'headers', help: 'show all headings, as -lmNu' },
    { short: 'i', long: 'interactive', help: 'make columns equally wide, as for people' },
    { short: 'l', long: 'source', help: 'show where metrics are from' },
    { short: 'm', long: 'metrics', help: 'show names of metrics' },
    { short: 'M', help: 'list the metrics first, with their numbers' },
    { short: 'N', help: 'show what values are divided by' },
    { short: 'o', long: 'offset', help: 'show seconds since the start before times' },
    { short: 'P', long: 'precision', arg: 'N', kind: 'none', help: 'show N decimals' },
    { short: 'r', long: 'raw', help: 'show values as they are, counters not as rates' },
    { short: 'R', long: 'repeat', arg: 'N', kind: 'none', help: 'repeat the headings after N rows' },
    { short: 'u', long: 'units', help: 'show units' },
    { short: 'U', long: 'unavailable', arg: 'TEXT', kind: 'none', help: 'show TEXT where there is no value' },
    { short: 'w', long: 'width', arg: 'N', kind: 'none', help: 'make columns N wide' },
    { short: 'X', long: 'extended', help: 'with headings that repeat, also the list of -M; as -i' },
  ],
}

/** How numbers are written. */
export type Notation = 'decimal' | 'fixed' | 'scientific'

/** What to show, and how. */
export interface Wanted {
  readonly config: string | undefined
  readonly checks: boolean
  readonly delimiter: string
  /** For strftime; '' shows no times, undefined the first 19 characters of ctime. */
  readonly timeFormat: string | undefined
  readonly notation: Notation
  readonly isInteractive: boolean
  readonly isRaw: boolean
  readonly showsSource: boolean
  readonly showsNames: boolean
  readonly showsList: boolean
  /** The list comes again with headings that repeat. */
  readonly repeatsList: boolean
  readonly showsDivisors: boolean
  readonly showsUnits: boolean
  readonly showsOffset: boolean
  readonly precision: number
  readonly width: number
  /** Rows from one heading to the next; 0: one heading. */
  readonly repeat: number
  readonly missing: string
}

const MIN_WIDTH = 3
const DEFAULT_PRECISION = 3
/** PCP's shows as many at least, whatever -P says. */
const LEAST_PRECISION = 2
/** What a value with a suffix takes. */
export const FIXED_WIDTH = 6

/** Options that exclude each other. */
const CONFLICTS: readonly (readonly [string, string])[] = [
  ['F', 'G'],
  ['i', 'G'],
  ['i', 'P'],
  ['P', 'w'],
]

/** Reads pmdumptext's own options; mistakes go to `problems`. */
export function wantedFrom({ given, problems }: ParsedOptions): Wanted {
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
  const beside = notation === 'scientific' ? 1 : 2 // a point, and a digit before it
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
