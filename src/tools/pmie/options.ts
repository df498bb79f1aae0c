/** What the command line of pmie says. */
import type { Reader } from '../../pmie/program.ts'
import type { Verbosity } from '../../pmie/report.ts'
import type { OptionTable, ParsedOptions } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

/** The command line. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] [filename ...]',
  rows: [
    { heading: 'General options' },
    STANDARD.align,
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.host,
    STANDARD.namespace,
    STANDARD.origin,
    STANDARD.start,
    STANDARD.finish,
    STANDARD.interval,
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.help,
    { heading: 'Runtime options' },
    { short: 'C', long: 'check', help: 'only say what is wrong with the rules, and where' },
    { short: 'c', long: 'config', arg: 'FILE', help: 'read rules from FILE' },
    { short: 'd', long: 'interact', help: 'not supported' },
    { short: 'P', long: 'primary', help: 'be the primary rule engine of this host' },
    { short: 'f', long: 'foreground', help: 'stay in the foreground' },
    { short: 'F', long: 'systemd', help: 'stay in the foreground, and tell the service manager when ready' },
    { short: 'j', arg: 'FILE', help: 'where messages of the action stomp go' },
    { short: 'l', long: 'logfile', arg: 'FILE', help: 'write all output to FILE' },
    { short: 'm', long: 'note', arg: 'TEXT', help: 'note for whoever lists the processes' },
    { short: 'U', long: 'username', arg: 'USER', help: 'account to run as when root starts it' },
    { long: 'unquoted', help: 'let the shell parse what %h, %i, %v and %c stand for, as PCP does: unsafe' },
    { heading: 'Reporting options' },
    { short: 'b', long: 'buffer', help: 'write line by line, and all to standard error' },
    { short: 'e', long: 'timestamp', help: 'show times beside values of collectors as well' },
    {
      short: 'o',
      long: 'format',
      arg: 'FORMAT',
      help: 'how actions over archives are told; json: as lines of JSON, also live',
    },
    { short: 'q', long: 'quiet', help: 'do not tell of the end' },
    { short: 'v', help: 'show the values of all expressions' },
    { short: 'V', long: 'verbose', help: 'show values with hosts and instances' },
    { short: 'W', help: 'show the values that make expressions true' },
    { short: 'X', long: 'secret-applet', help: 'write the values of each evaluation on a line' },
    { short: 'x', long: 'secret-agent', help: 'write PDUs for the summary agent' },
  ],
}

/** What to do, and how. */
export interface Wanted {
  readonly checksOnly: boolean
  readonly config: string | undefined
  readonly notifies: boolean
  /** The message server of -j. */
  readonly stompPath: string | undefined
  readonly logName: string | undefined
  readonly username: string | undefined
  /** Reports go where messages go. */
  readonly isJoined: boolean
  /** A service: of live rules, reports go where messages go as well. */
  readonly isDaemon: boolean
  readonly isPrimary: boolean
  readonly stampsLive: boolean
  readonly format: string | undefined
  readonly isQuiet: boolean
  readonly verbosity: Verbosity | undefined
  /** For a program that reads values: the PDUs of an agent, or lines. */
  readonly feeds: Reader | undefined
  /** The shell parses what rules insert. */
  readonly isUnquoted: boolean
}

/** Reads pmie's own options; mistakes go to `problems`. */
export function wantedFrom({ given, operands, problems }: ParsedOptions): Wanted {
  const all = (letter: string): string[] =>
    given.filter(({ name }) => name === letter).map(({ value }) => value)
  const has = (letter: string): boolean => all(letter).length > 0
  const verbosities = given.flatMap(({ name }) => VERBOSITY[name] ?? [])
  if (all('c').length > 1 || (has('c') && has('d'))) problems.push('at most one of -c and -d allowed')
  if (all('l').length > 1) problems.push('at most one -l option is allowed')
  if (has('c') && operands.length > 0) problems.push('extra filenames cannot be given after using -c')
  if (has('P') && given.some(({ option }) => option === STANDARD.host))
    problems.push('-P and -h are mutually exclusive: the primary rule engine is about this host')
  if (has('f') && has('F')) problems.push('the -f and -F options are mutually exclusive')
  if (has('d')) problems.push('-d, the interactive mode, is not supported')
  if (has('x') && has('X')) problems.push('at most one of -x and -X allowed')
  return {
    checksOnly: has('C'),
    config: all('c')[0],
    notifies: has('F'),
    stompPath: all('j').at(-1),
    logName: all('l')[0],
    username: all('U').at(-1),
    isJoined: has('b'),
    isDaemon: !has('f') && (has('l') || has('P') || has('F') || has('U')),
    isPrimary: has('P'),
    stampsLive: has('e'),
    format: all('o').at(-1),
    isQuiet: has('q'),
    verbosity: verbosities.at(-1),
    isUnquoted: has('unquoted'),
    feeds: has('x') ? 'agent' : has('X') ? 'lines' : undefined,
  }
}

const VERBOSITY: Readonly<Record<string, Verbosity>> = {
  v: 'values',
  V: 'annotated',
  W: 'satisfying',
}
