/** What the command line of pmval says. */
import type { OptionTable, ParsedOptions } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

/** The command line. */
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
    { short: 'i', long: 'instances', arg: 'INST', help: 'show only these instances, by comma' },
    { short: 'r', long: 'raw', help: 'show counters as they are, not as rates' },
    { short: 'U', long: 'nointerp', arg: 'FILE', help: 'as -a, and show every record as it is' },
    { short: 'v', long: 'verbose', help: 'say so where there are no event records' },
    { short: 'w', long: 'width', arg: 'N', help: 'make columns N wide' },
    { short: 'x', long: 'filter', arg: 'VALUE', help: 'store VALUE into the metric first' },
    { short: 'X', long: 'timestamp', help: 'show times with their date; twice: with nanoseconds' },
  ],
}

/** Mistakes of a command line that names no source, or no archive. */
const NEEDS_SOURCE: ReadonlySet<string> = new Set([
  'time window options are supported for archives only',
  'use of timezone from metric source requires a source',
])

/** What to show, and how. */
export interface Wanted {
  /** Decimals of reals; undefined: as many as make four digits. */
  readonly precision: number | undefined
  /** Names of instances; undefined: all. */
  readonly instances: readonly string[] | undefined
  readonly raw: boolean
  readonly verbose: boolean
  readonly width: number | undefined
  readonly filter: string | undefined
  /** Archives to read record by record. */
  readonly rawArchive: string | undefined
  /** Wait between the samples of an archive. */
  readonly delays: boolean
  /** How often -X is given: 0 times of day, 1 dates and microseconds, 2 nanoseconds. */
  readonly stamps: number
}

/** Reads pmval's own options; mistakes go to `problems`. */
export function wantedFrom({ given, problems }: ParsedOptions): Wanted {
  const last = (letter: string): string | undefined => given.findLast(({ name }) => name === letter)?.value
  const number = (letter: string, least: number): number | undefined => {
    let result: number | undefined
    for (const { value } of given.filter(({ name }) => name === letter)) {
      if (/^\s*\+?\d+$/.test(value) && Number(value) >= least) result = Number(value)
      else problems.push(`-${letter} requires +ve numeric argument`)
    }
    return result
  }
  // -U names a source that the standard options know nothing of.
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

/** Names by comma or white space; quotes keep both in a name. */
function instanceList(text: string): string[] {
  const names = text.matchAll(/"([^"]*)"?|'([^']*)'?|[^\s,"']+/g)
  return [...names].map((match) => match[1] ?? match[2] ?? match[0]).filter((name) => name !== '')
}
