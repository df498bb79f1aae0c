/** Command-line options of pmie. */
import type { ValueReader } from '../../rules/program.ts'
import type { Verbosity } from '../../rules/report.ts'
import type { OptionTable, ParsedOptions } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

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
    { short: 'C', long: 'check', help: 'only check the rules and show errors with their position' },
    { short: 'c', long: 'config', arg: 'FILE', help: 'read rules from FILE' },
    { short: 'd', long: 'interact', help: 'not supported' },
    { short: 'P', long: 'primary', help: 'run as the primary pmie of this host' },
    { short: 'f', long: 'foreground', help: 'stay in the foreground' },
    {
      short: 'F',
      long: 'systemd',
      help: 'stay in the foreground, and notify the service manager when ready',
    },
    { short: 'j', arg: 'FILE', help: 'configuration of the message server for the action stomp' },
    { short: 'l', long: 'logfile', arg: 'FILE', help: 'write all output to FILE' },
    { short: 'm', long: 'note', arg: 'TEXT', help: 'note shown in lists of processes' },
    { short: 'U', long: 'username', arg: 'USER', help: 'account to switch to when started by root' },
    { long: 'unquoted', help: 'let the shell parse the values of %h, %i, %v and %c, like PCP (unsafe)' },
    { heading: 'Reporting options' },
    { short: 'b', long: 'buffer', help: 'write line by line, and everything to standard error' },
    { short: 'e', long: 'timestamp', help: 'show times with values of collectors, too' },
    {
      short: 'o',
      long: 'format',
      arg: 'FORMAT',
      help: 'format of actions over archives; json prints lines of JSON, also live',
    },
    { short: 'q', long: 'quiet', help: 'do not print a message at the end' },
    { short: 'v', help: 'show the values of all expressions' },
    { short: 'V', long: 'verbose', help: 'show values with hosts and instances' },
    { short: 'W', help: 'show the values that make expressions true' },
    { short: 'X', long: 'secret-applet', help: 'write the values of each evaluation on a line' },
    { short: 'x', long: 'secret-agent', help: 'write PDUs for the summary agent' },
  ],
}

/** Settings from the command line. */
export interface PmieSettings {
  readonly checksOnly: boolean
  readonly config: string | undefined
  readonly notifies: boolean
  /** The configuration file of the message server, -j. */
  readonly stompPath: string | undefined
  readonly logName: string | undefined
  readonly username: string | undefined
  /** Reports go to the same output as messages. */
  readonly isJoined: boolean
  /** Run as a service; live reports go to the same output as messages. */
  readonly isDaemon: boolean
  readonly isPrimary: boolean
  readonly stampsLive: boolean
  readonly format: string | undefined
  readonly isQuiet: boolean
  readonly verbosity: Verbosity | undefined
  /** Program that reads the values: an agent reads PDUs, the other one lines. */
  readonly feeds: ValueReader | undefined
  /** Insert values into shell commands unquoted. */
  readonly isUnquoted: boolean
}

/** Reads the options; adds errors to `problems`. */
export function pmieSettings({ given, operands, problems }: ParsedOptions): PmieSettings {
  const all = (letter: string): string[] =>
    given.filter(({ name }) => name === letter).map(({ value }) => value)
  const has = (letter: string): boolean => all(letter).length > 0
  const verbosities = given.flatMap(({ name }) => VERBOSITY[name] ?? [])
  if (all('c').length > 1 || (has('c') && has('d'))) problems.push('at most one of -c and -d allowed')
  if (all('l').length > 1) problems.push('at most one -l option is allowed')
  if (has('c') && operands.length > 0) problems.push('extra filenames cannot be given after using -c')
  if (has('P') && given.some(({ option }) => option === STANDARD.host))
    problems.push('-P and -h are mutually exclusive: the primary pmie evaluates this host')
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
