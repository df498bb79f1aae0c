/** The command line of pcp pidstat. pcp-pidstat(1) */
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { parsePids } from '../lib/processes/process-values.ts'
import { SAMPLING_ROWS, STANDARD } from '../lib/standard.ts'

/** Kinds of reports. */
export type PidstatReport = 'cpu' | 'memory' | 'stack' | 'scheduling' | 'states' | 'detail'

/** The parsed command line. */
export interface PidstatOptions {
  readonly report: PidstatReport
  /** Letters of the states for `states`; undefined for all. */
  readonly states: ReadonlySet<string> | undefined
  /** Pattern for process names. */
  readonly pattern: RegExp | undefined
  /** Divide the total processor time of a process by the number of processors, but not its parts. */
  readonly isPerMachine: boolean
  readonly showsUserNames: boolean
  readonly user: string | undefined
  readonly pids: ReadonlySet<number> | undefined
  readonly showsArguments: boolean
  /** A strftime format. */
  readonly timeFormat: string
}

export const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'General options' },
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.host,
    ...SAMPLING_ROWS,
    VERSION_ROW,
    HELP_ROW,
    { heading: 'Processes' },
    {
      short: 'G',
      long: 'process-name',
      arg: 'PATTERN',
      kind: 'none',
      help: 'only processes whose name matches PATTERN',
    },
    {
      short: 'p',
      long: 'pid-list',
      arg: 'PID,...',
      kind: 'none',
      help: 'only these processes; SELF is this one, ALL all of them',
    },
    {
      short: 'U',
      long: 'user-name',
      arg: 'USER',
      isOptional: true,
      kind: 'none',
      help: 'show user names instead of ids; with USER, only processes of USER',
    },
    { heading: 'Reports other than processor time' },
    { short: 'r', help: 'memory and page faults' },
    { short: 'k', help: 'size of the stack' },
    { short: 'R', help: 'real-time priority and scheduling policy' },
    {
      short: 'B',
      arg: 'STATES',
      kind: 'none',
      help: 'time in these states (comma-separated R,S,Z,T,D, or all), or in each of them (detail)',
    },
    { heading: 'Columns' },
    { short: 'I', help: '%CPU as a part of all processors' },
    { short: 'l', help: 'commands with their arguments' },
    { short: 'f', arg: 'FORMAT', kind: 'none', help: 'times as strftime(3) writes them by FORMAT' },
  ],
}

/** -r, -k and -R exclude each other. Pairs are in the order in which the reference checks them. */
const EXCLUSIVE: readonly (readonly [string, string])[] = [
  ['R', 'r'],
  ['R', 'k'],
  ['r', 'k'],
]

/** Reads the options; returns a text if they are invalid. */
export function readOptions(
  given: readonly GivenOption[],
  { operands }: { readonly operands: readonly string[] },
): PidstatOptions | string {
  const last = (letter: string): string | undefined => given.findLast(({ name }) => name === letter)?.value
  const has = (letter: string): boolean => last(letter) !== undefined
  for (const [first, second] of EXCLUSIVE)
    if (has(first) && has(second)) return `Error: -${first} is incompatible with -${second}`
  if (has('B') && ['r', 'k', 'R'].some(has)) return 'Error: Incompatible flags provided'
  const user = userOf(last('U'), operands)
  const pids = last('p')
  const list = pids === undefined || pids === 'ALL' ? undefined : pidsOf(pids)
  if (list === 'invalid') return 'Invalid Process Id List: use comma separated pids without whitespaces'
  const pattern = last('G') === undefined ? undefined : compile(last('G')!)
  if (typeof pattern === 'string') return pattern
  const states = last('B')
  return {
    report: reportOf(has, states),
    states: states === undefined || states === 'all' ? undefined : new Set(states.split(',')),
    pattern,
    isPerMachine: has('I'),
    showsUserNames: has('U'),
    user,
    pids: list,
    showsArguments: has('l'),
    timeFormat: last('f') ?? '%H:%M:%S',
  }
}

function reportOf(has: (letter: string) => boolean, states: string | undefined): PidstatReport {
  if (states !== undefined) return states === 'detail' ? 'detail' : 'states'
  if (has('R')) return 'scheduling'
  if (has('r')) return 'memory'
  return has('k') ? 'stack' : 'cpu'
}

/** Returns the user of -U, from the same word or the next one. As in PCP, other operands are ignored. */
function userOf(value: string | undefined, operands: readonly string[]): string | undefined {
  return value === '' ? operands[0] : value
}

function pidsOf(list: string): ReadonlySet<number> | 'invalid' {
  return list === 'SELF' ? new Set([process.pid]) : (parsePids(list) ?? 'invalid')
}

function compile(text: string): RegExp | string {
  try {
    return new RegExp(text)
  } catch (error) {
    return `Error: -G is not a regular expression: ${(error as Error).message}`
  }
}
