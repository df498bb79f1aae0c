/** The command line of pcp iostat. pcp-iostat(1) */
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { SAMPLING_ROWS, STANDARD, type StandardOptions } from '../lib/standard.ts'

/** How to aggregate devices. */
export type Aggregation = 'sum' | 'avg' | 'min' | 'max'

/** The parsed command line. */
export interface IostatOptions {
  readonly aggregation: Aggregation | undefined
  readonly precision: number
  readonly pattern: RegExp
  /** Read an archive's records without interpolation. */
  readonly isRecorded: boolean
  readonly showsMapped: boolean
  readonly showsTime: boolean
  readonly showsHeading: boolean
  readonly showsIdle: boolean
}

export const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'General options' },
    STANDARD.align,
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.host,
    ...SAMPLING_ROWS,
    VERSION_ROW,
    HELP_ROW,
    { heading: 'Reporting options' },
    {
      short: 'G',
      long: 'aggregate',
      arg: 'METHOD',
      kind: 'none',
      help: 'one line of all devices: their sum, avg, min or max',
    },
    {
      short: 'P',
      long: 'precision',
      arg: 'N',
      kind: 'none',
      help: 'show N decimals, 0 to 10 (default 2)',
    },
    {
      short: 'R',
      long: 'regex',
      arg: 'PATTERN',
      kind: 'none',
      help: 'only devices whose name matches PATTERN',
    },
    { short: 'u', long: 'no-interpolation', help: 'archives: show records without interpolation' },
    {
      short: 'x',
      arg: 'LIST',
      kind: 'none',
      help: 'comma-separated: dm (device mapper), t (times), h (no headings), noidle (busy devices only)',
    },
  ],
}

const AGGREGATIONS: readonly string[] = ['sum', 'avg', 'min', 'max'] satisfies readonly Aggregation[]
const EXTENDED: readonly string[] = ['dm', 't', 'h', 'noidle']
const MAX_PRECISION = 10

/** Reads the options; returns a text if they are invalid. */
export function readOptions(
  given: readonly GivenOption[],
  { source, interval }: StandardOptions,
): IostatOptions | string {
  const last = (letter: string): string | undefined => given.findLast(({ name }) => name === letter)?.value
  const precision = last('P') ?? '2'
  if (!/^\d+$/.test(precision) || Number(precision) > MAX_PRECISION)
    return `Precision value must be between 0 and ${MAX_PRECISION}`
  const aggregation = last('G')
  if (aggregation !== undefined && !AGGREGATIONS.includes(aggregation))
    return "Error, -G aggregation method must be one of 'sum', 'avg', 'min' or 'max'"
  const extended = given.filter(({ name }) => name === 'x').flatMap(({ value }) => value.split(','))
  const unknown = extended.find((word) => !EXTENDED.includes(word))
  if (unknown !== undefined) return `Error: -x takes ${EXTENDED.join(', ')}, not "${unknown}"`
  const isRecorded = last('u') !== undefined
  if (isRecorded && source !== 'archive') return 'Error: -u can only be specified with -a archive'
  if (isRecorded && interval !== undefined) return 'Error: -t incompatible with -u'
  const pattern = compile(last('R') ?? '')
  if (typeof pattern === 'string') return pattern
  return {
    aggregation: aggregation as Aggregation | undefined,
    precision: Number(precision),
    pattern,
    isRecorded,
    showsMapped: extended.includes('dm'),
    showsTime: extended.includes('t'),
    showsHeading: !extended.includes('h'),
    showsIdle: !extended.includes('noidle'),
  }
}

function compile(text: string): RegExp | string {
  try {
    return new RegExp(text)
  } catch (error) {
    return `Error: -R is not a regular expression: ${(error as Error).message}`
  }
}
