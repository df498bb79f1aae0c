/** The command line of pmval. */
import type { OptionTable, ParsedOptions } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

export const OPTIONS: OptionTable = {
  synopsis: '[options] metricname',
  rows: [
    { heading: 'General options' },
    STANDARD.align,
    STANDARD.archive,
    STANDARD.guimode,
    STANDARD.host,
    STANDARD.namespace,
    STANDARD.origin,
    STANDARD.guiport,
    STANDARD.start,
    STANDARD.samples,
    STANDARD.finish,
    STANDARD.interval,
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.debug,
    STANDARD.version,
    STANDARD.help,
    STANDARD.specLocal,
    STANDARD.localPmda,
    STANDARD.container,
    STANDARD.derived,
    { heading: 'Reporting options' },
    { short: 'd', long: 'delay', help: 'wait between the values of an archive' },
    { short: 'f', long: 'precision', arg: 'N', help: 'show reals with N decimals' },
    { short: 'i', long: 'instances', arg: 'INST', help: 'show only these comma-separated instances' },
    { short: 'r', long: 'raw', help: 'show raw counters instead of rates' },
    {
      short: 'U',
      long: 'nointerp',
      arg: 'FILE',
      help: 'like -a, but show every record without interpolation',
    },
    { short: 'v', long: 'verbose', help: 'report missing event records' },
    { short: 'w', long: 'width', arg: 'N', help: 'make columns N wide' },
    { short: 'x', long: 'filter', arg: 'VALUE', help: 'store VALUE into the metric first' },
    { short: 'X', long: 'timestamp', help: 'show times with their date; twice: with nanoseconds' },
  ],
}

/** Errors that do not apply if the metric's specification names the source. */
const NEEDS_SOURCE: ReadonlySet<string> = new Set([
  'time window options are supported for archives only',
  'use of timezone from metric source requires a source',
])

/** The parsed options. */
export interface PmvalOptions {
  /** Decimals of reals; undefined for four significant digits. */
  readonly precision: number | undefined
  /** Names of instances; undefined for all. */
  readonly instances: readonly string[] | undefined
  readonly raw: boolean
  readonly verbose: boolean
  readonly width: number | undefined
  readonly filter: string | undefined
  /** Archives to read record by record. */
  readonly rawArchive: string | undefined
  /** Pause between the samples of an archive. */
  readonly delays: boolean
  /** Number of -X: 0 for time of day, 1 for dates and microseconds, 2 for nanoseconds. */
  readonly stamps: number
}

/** Reads pmval's own options; errors are added to `problems`. */
export function wantedFrom({ given, problems }: ParsedOptions): PmvalOptions {
  const last = (letter: string): string | undefined => given.findLast(({ name }) => name === letter)?.value
  const number = (letter: string, least: number): number | undefined => {
    let result: number | undefined
    for (const { value } of given.filter(({ name }) => name === letter)) {
      if (/^\s*\+?\d+$/.test(value) && Number(value) >= least) result = Number(value)
      else problems.push(`-${letter} requires +ve numeric argument`)
    }
    return result
  }
  // -U names a source but is not a standard option.
  if (last('U') !== undefined)
    problems.splice(0, problems.length, ...problems.filter((one) => !NEEDS_SOURCE.has(one)))
  const precision = number('f', 0)
  const width = number('w', 1)
  const lists = given.filter(({ name }) => name === 'i').map(({ value }) => instanceList(value))
  return {
    precision,
    width,
    instances: lists.length === 0 ? undefined : lists.flat(),
    raw: last('r') !== undefined,
    verbose: last('v') !== undefined,
    filter: last('x'),
    rawArchive: last('U'),
    delays: last('d') !== undefined,
    stamps: given.filter(({ name }) => name === 'X').length,
  }
}

/** Splits names at commas and white space, except within quotes. */
function instanceList(text: string): string[] {
  const names = text.matchAll(/"([^"]*)"?|'([^']*)'?|[^\s,"']+/g)
  return [...names].map((match) => match[1] ?? match[2] ?? match[0]).filter((name) => name !== '')
}
