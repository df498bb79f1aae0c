/** Command-line options of pmdiff. pmdiff(1) */
import { HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { type ParsedStandard, STANDARD } from '../lib/standard.ts'
import type { Side } from './averages.ts'

export const OPTIONS: OptionTable = {
  synopsis: '[options] archive1 [archive2]',
  operands: 'archive',
  rows: [
    { heading: 'Options' },
    { short: 'd', long: 'keep', help: 'ignored, because no intermediate files are used' },
    { short: 'p', long: 'precision', arg: 'N', help: 'show N digits after the point [3]' },
    { short: 'q', long: 'threshold', arg: 'N', help: 'show averages that differ by a factor of N [2]' },
    { long: 'skip-missing', help: 'do not list metrics that only one side has' },
    { long: 'skip-excluded', help: 'do not list the patterns of metrics left out' },
    STANDARD.start,
    STANDARD.finish,
    { short: 'B', long: 'begin', arg: 'TIME', help: 'beginning of the time window of the second archive' },
    { short: 'E', long: 'end', arg: 'TIME', help: 'end of the time window of the second archive' },
    { short: 'x', arg: 'REGEX', help: 'leave out metrics and instances that match' },
    { short: 'X', arg: 'FILE', help: 'like -x, for each line of FILE' },
    STANDARD.timezone,
    STANDARD.hostzone,
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Settings of a comparison. */
export interface DiffOptions {
  readonly precision: number
  readonly threshold: number
  readonly sides: readonly [Side, Side]
  readonly patterns: readonly string[]
  readonly patternFiles: readonly string[]
}

/** Decimal points are aligned down to this number of digits. */
const LEAST_PRECISION = 3
/** More digits than a double has. */
const MOST_PRECISION = 20

/** Reads the options; adds errors to `problems`. Undefined without archives. */
export function diffOptions({
  given,
  operands,
  problems,
  standard,
}: ParsedStandard): DiffOptions | undefined {
  const last = (letter: string): string | undefined => given.findLast(({ name }) => name === letter)?.value
  const all = (letter: string): string[] =>
    given.filter(({ name }) => name === letter).map(({ value }) => value)
  const precision = last('p')
  if (precision !== undefined && !(/^\d+$/.test(precision) && Number(precision) <= MOST_PRECISION))
    problems.push(`-p requires a number of digits up to ${MOST_PRECISION}`)
  const threshold = last('q')
  if (threshold !== undefined && !(Number(threshold) > 0))
    problems.push('-q requires a positive numeric argument')
  const [archive, second = archive, ...others] = operands
  if (archive === undefined || second === undefined || others.length > 0) return undefined
  const { start, finish } = standard.window
  return {
    precision: Math.max(LEAST_PRECISION, Number(precision ?? LEAST_PRECISION)),
    threshold: Number(threshold ?? 2),
    sides: [
      { archive, start, finish, window: windowText(start, finish) },
      // The second archive has the first one's window by default.
      {
        archive: second,
        start: last('B') ?? start,
        finish: last('E') ?? finish,
        window: windowText(last('B'), last('E')),
      },
    ],
    patterns: all('x'),
    patternFiles: all('X'),
  }
}

function windowText(start = 'start', finish = 'end'): string {
  return `${start}-${finish}`
}
