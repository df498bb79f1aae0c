/** The command line of pcp mpstat. pcp-mpstat(1) */
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

/** Tables of interrupts: totals, by line, or soft interrupts. */
export type Interrupts = 'SUM' | 'CPU' | 'SCPU'

/** The parsed command line. */
export interface MpstatOptions {
  /** Show processor time. */
  readonly showsTime: boolean
  readonly interrupts: readonly Interrupts[]
  /** The total (undefined), online processors, all, or these. */
  readonly processors: 'ON' | 'ALL' | ReadonlySet<number> | undefined
  /** Print headings with every sample. */
  readonly repeatsHeadings: boolean
}

export const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'General options' },
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.samples,
    STANDARD.interval,
    VERSION_ROW,
    HELP_ROW,
    { heading: 'Reporting options' },
    { short: 'u', help: 'show processor time (default)' },
    { short: 'A', help: 'show everything, the same as -u -P ALL -I ALL' },
    {
      short: 'P',
      arg: 'LIST',
      kind: 'none',
      help: 'show processors: comma-separated numbers, ON (online ones) or ALL',
    },
    {
      short: 'I',
      arg: 'WHICH',
      kind: 'none',
      help: 'show interrupts: SUM (their number), CPU (by line), SCPU (soft ones) or ALL',
    },
  ],
}

const INTERRUPTS: Readonly<Record<string, readonly Interrupts[]>> = {
  SUM: ['SUM'],
  CPU: ['CPU'],
  SCPU: ['SCPU'],
  ALL: ['SUM', 'CPU', 'SCPU'],
}

/** Reads the options; errors are added to `problems`. For an invalid list of processors returns a text to print alone. */
export function readOptions(given: readonly GivenOption[], problems: string[]): MpstatOptions | string {
  const has = (letter: string): boolean => given.some(({ name }) => name === letter)
  const last = (letter: string): string | undefined => given.findLast(({ name }) => name === letter)?.value
  const list = last('P') ?? (has('A') ? 'ALL' : undefined)
  const which = last('I') ?? (has('A') ? 'ALL' : undefined)
  const processors = processorsOf(list)
  if (typeof processors === 'string' && processors !== 'ON' && processors !== 'ALL') return processors
  const interrupts = which === undefined ? [] : INTERRUPTS[which]
  if (interrupts === undefined)
    problems.push(`-I takes ${Object.keys(INTERRUPTS).join(', ')}, not "${which}"`)
  return {
    showsTime: which === undefined || has('u') || has('A'),
    interrupts: interrupts ?? [],
    processors,
    repeatsHeadings: which === 'ALL' || typeof processors === 'string',
  }
}

function processorsOf(list: string | undefined): MpstatOptions['processors'] | string {
  if (list === undefined || list === 'ON' || list === 'ALL') return list
  if (!/^\d+(,\d+)*$/.test(list)) return 'Invalid CPU List: use comma separated cpu nos without whitespaces'
  return new Set(list.split(',').map(Number))
}
