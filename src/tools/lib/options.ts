/** The option grammar of PCP's commands, with one table a command. pmgetopt_r(3), pmUsageMessage(3) */
import { versionLine } from '../../base/version.ts'
import { clearDebug, type DebugName, debug, setDebug, trace, traceTo } from '../../model/debug.ts'

/** Name, arguments and environment of a command, and its outputs. */
export interface CommandLine {
  /** Name the command was called by, as it prefixes its messages. */
  readonly progname: string
  /** Arguments after the name. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stderr: { write(text: string): void }
}

/** One option, or the heading of a section of the usage text. */
export type OptionRow = Option | Heading

/** An option. Rows without `help` are accepted but not shown. */
export interface Option {
  /** The single letter. */
  readonly short?: string
  /** The long name, without dashes. */
  readonly long?: string
  /** The option takes an argument; this is its name in the usage text. */
  readonly arg?: string
  /** The argument may be absent; it follows in the same word, as in `-Uroot` and `--user-name=root`. */
  readonly isOptional?: true
  /** Kind of the argument, if its name does not imply it as FILE, HOST or DIR do. */
  readonly kind?: ArgumentKind
  readonly help?: string
}

/** A section of the usage text. */
export interface Heading {
  readonly heading: string
}

/** Kind of an operand or argument, for shell completion. */
export type ArgumentKind = 'metric' | 'archive' | 'file' | 'directory' | 'host' | 'debug' | 'command' | 'none'

/** The command line of a command. Usage text, man page, completion and parser are derived from it. */
export interface OptionTable {
  /** The text after the name in the usage line: `[options] [metricname ...]`. */
  readonly synopsis: string
  /** Kind of the operands; default: files. */
  readonly operands?: ArgumentKind
  readonly rows: readonly OptionRow[]
  /** Options end at the first operand. Otherwise both may be mixed unless POSIXLY_CORRECT is set. */
  readonly posix?: boolean
}

/** One option as given. */
export interface GivenOption {
  /** The short letter, or the long name if the option has no letter. */
  readonly name: string
  /** '' for an option without argument. */
  readonly value: string
  /** Its row in the table. */
  readonly option: Option
}

/** A parsed command line. Nothing has been printed yet. */
export interface ParsedOptions {
  /** Options in the order given. */
  readonly given: readonly GivenOption[]
  readonly operands: readonly string[]
  /** Errors, without the command's name. The command can add its own before it calls `handleEarlyExit`. */
  readonly problems: string[]
}

/** Prints the usage text. */
export const HELP_ROW: Option = { short: '?', long: 'help', help: 'print this text and exit' }
/** Prints the version. */
export const VERSION_ROW: Option = { short: 'V', long: 'version', help: 'print the version and exit' }

/**
 * Parses a command line: bundled letters, `--long=value`, unique prefixes of long names, `--`, operands mixed with options.
 * @see pmgetopt_r(3)
 */
export function parseOptions(table: OptionTable, io: Pick<CommandLine, 'args' | 'env'>): ParsedOptions {
  const given: GivenOption[] = []
  const operands: string[] = []
  const problems: string[] = []
  const options = table.rows.filter((row): row is Option => !('heading' in row))
  const posix = table.posix === true || io.env['POSIXLY_CORRECT'] !== undefined
  const { args } = io
  let next = 0

  const add = (option: Option, value: string): void => {
    given.push({ name: option.short ?? option.long!, value, option })
  }

  const parseLong = (text: string): void => {
    const equals = text.indexOf('=')
    const name = equals < 0 ? text : text.slice(0, equals)
    const { option, candidates } = findLong(options, name)
    if (candidates !== undefined) {
      const possibilities = candidates.map((candidate) => `'--${candidate}'`).join(' ')
      problems.push(`option '--${text}' is ambiguous; possibilities: ${possibilities}`)
    } else if (option === undefined) problems.push(`unrecognized option '--${text}'`)
    else if (option.arg === undefined) {
      if (equals >= 0) problems.push(`option '--${option.long}' doesn't allow an argument`)
      else add(option, '')
    } else if (equals >= 0) add(option, text.slice(equals + 1))
    else if (option.isOptional === true) add(option, '')
    else if (next < args.length) add(option, args[next++]!)
    else problems.push(`option '--${option.long}' requires an argument`)
  }

  const parseShort = (letters: string): void => {
    for (let i = 0; i < letters.length; i++) {
      const letter = letters[i]!
      const option = options.find(({ short }) => short === letter)
      if (option === undefined) problems.push(`invalid option -- '${letter}'`)
      else if (option.arg === undefined) add(option, '')
      else {
        if (i + 1 < letters.length || option.isOptional === true) add(option, letters.slice(i + 1))
        else if (next < args.length) add(option, args[next++]!)
        else problems.push(`option requires an argument -- '${letter}'`)
        return
      }
    }
  }

  while (next < args.length) {
    const arg = args[next++]!
    if (arg === '--') break
    if (arg.startsWith('--')) parseLong(arg.slice(2))
    else if (arg.length > 1 && arg.startsWith('-')) parseShort(arg.slice(1))
    else {
      operands.push(arg)
      if (posix) break
    }
  }
  operands.push(...args.slice(next))
  return { given, operands, problems }
}

interface LongMatch {
  readonly option?: Option | undefined
  readonly candidates?: readonly string[]
}

/** Finds the option with this long name or unique prefix, or the candidates of an ambiguous one in the reference's order. */
function findLong(options: readonly Option[], name: string): LongMatch {
  const matches = options.filter(({ long }) => long?.startsWith(name))
  const exact = matches.find(({ long }) => long === name)
  const [first] = matches
  if (exact !== undefined || first === undefined) return { option: exact }
  // As in the reference, options with the same letter and argument are not ambiguous, and the first one is taken.
  const others = matches.filter(
    ({ short, arg }) => short !== first.short || (arg === undefined) !== (first.arg === undefined),
  )
  if (others.length === 0) return { option: first }
  return { candidates: [first.long!, ...others.reverse().map(({ long }) => long!)] }
}

/** The parts of a command line that `handleEarlyExit` handles. */
export interface EarlyOptions extends Pick<ParsedOptions, 'given' | 'problems'> {
  readonly standard?: { readonly debug: ReadonlySet<DebugName> }
}

/**
 * Handles -V, -? and errors, which are printed with the usage text. Returns the exit status, or undefined if the command should
 * run; then the diagnostics of -D are on.
 */
export function handleEarlyExit(
  table: OptionTable,
  beginning: EarlyOptions,
  io: CommandLine,
): number | undefined {
  const { given, problems, standard } = beginning
  for (const problem of problems) io.stderr.write(`${io.progname}: ${problem}\n`)
  if (given.some(({ option }) => option.long === 'version' && option.arg === undefined)) {
    io.stderr.write(versionLine(io.progname))
    return 0
  }
  if (problems.length === 0 && !given.some(({ option }) => option.long === 'help')) {
    if (standard !== undefined) startTraces(standard.debug, io)
    if (debug.getopt) for (const each of given) trace('getopt', `-${each.name} ${JSON.stringify(each.value)}`)
    return undefined
  }
  io.stderr.write(usageText(table, io.progname))
  return 1
}

/** Switches on the diagnostics of -D and all others off, as a test runs many commands in one process. */
function startTraces(names: ReadonlySet<DebugName>, { stderr }: CommandLine): void {
  clearDebug('all')
  if (names.size === 0) return
  traceTo((line) => stderr.write(`${line}\n`))
  setDebug([...names].join(','))
}

/** Returns the usage text. @see pmUsageMessage(3) */
export function usageText(table: OptionTable, progname: string): string {
  let text = `Usage: ${progname} ${table.synopsis}\n`
  for (const row of table.rows) {
    if ('heading' in row) text += `\n${row.heading}:\n`
    else if (row.help !== undefined) text += usageLine(row)
  }
  return text
}

/** Column in which help texts begin. */
const HELP_COLUMN = 24

function usageLine({ short, long, arg, isOptional, help }: Option): string {
  const forms: string[] = []
  const [blank, equals] = isOptional === true ? [`[${arg}]`, `[=${arg}]`] : [` ${arg}`, `=${arg}`]
  if (short !== undefined) forms.push(arg === undefined ? `-${short}` : `-${short}${blank}`)
  if (long !== undefined) forms.push(arg === undefined ? `--${long}` : `--${long}${equals}`)
  const option = `  ${forms.join(', ')}`
  // An option that would reach the help gets a separate line.
  if (option.length >= HELP_COLUMN) return `${option}\n${' '.repeat(HELP_COLUMN)}${help}\n`
  return `${option.padEnd(HELP_COLUMN)}${help}\n`
}
