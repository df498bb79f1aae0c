/** The command line of pcp mpstat. pcp-mpstat(1) */
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

/** A table of interrupts: all, by line, or soft ones. */
export type Interrupts = 'SUM' | 'CPU' | 'SCPU'

/** What the command line asks for. */
export interface MpstatOptions {
  /** How processors spend their time. */
  readonly showsTime: boolean
  readonly interrupts: readonly Interrupts[]
  /** Only all of them together (undefined), those that are online, every one, or these. */
  readonly processors: 'ON' | 'ALL' | ReadonlySet<number> | undefined
  /** The headings come with every sample. */
  readonly repeatsHeadings: boolean
}

/** The options. */
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
    { short: 'u', help: 'show how time is spent, as without options' },
    { short: 'A', help: 'show everything, as -u -P ALL -I ALL' },
    {
      short: 'P',
      arg: 'LIST',
      kind: 'none',
      help: 'show processors: numbers by comma, ON (those online) or ALL',
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

/** What the options ask for; mistakes are added to `problems`. A list of processors that is none is a text to print alone. */
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
