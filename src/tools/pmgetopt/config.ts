/** Parser of a script's option file, which has the form of a usage text. pmgetopt(1) */
import { PcpError } from '../../model/errors.ts'
import { type Option, type OptionTable, usageText } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

/** Contents of a script's option file. */
export interface ScriptConfig {
  /** Text after the script's name in the usage line. */
  readonly synopsis: string
  /** The rest of the usage text: literal text and options. */
  readonly usage: readonly (string | Option)[]
  /** Accepted options. */
  readonly options: readonly Option[]
}

const COMMAND = /^\s*#\s*(usage|getopts?|end)\b:?\s*(.*)$/i
/** Matches `-d`, `-i=INST`, `-i=INST, --insts=INST` or `--width=N`, and the description. */
const OPTION =
  /^\s+(?:-([^-\s=])(?:=([^\s,]*))?(?:\s*,\s*--([^\s=,]+)(?:=(\S*))?)?|--([^\s=,]+)(?:=(\S*))?)(?:\s+(\S.*))?$/
/** A single word: a standard option of PCP. */
const STANDARD_OPTION = /^\s+-(?:-([^\s=]+)|(\S))\s*$/
const DEFAULT_SYNOPSIS = '[options]'

/** Parses the file. Throws EINVAL for a line that is not an option; calls `warn` for unknown commands. */
export function parseScriptConfig(text: string, warn: (message: string) => void): ScriptConfig {
  let synopsis = DEFAULT_SYNOPSIS
  let letters: string | undefined
  let hasEnded = false
  const usage: (string | Option)[] = []
  const options: Option[] = []
  for (const [i, line] of text.replace(/\n$/, '').split('\n').entries()) {
    if (hasEnded) usage.push(line)
    else if (/^\s*#/.test(line)) {
      const [, command, rest] = COMMAND.exec(line) ?? []
      if (command === undefined) warn(`unrecognized command: '${line.replace(/^\s*#/, '')}'`)
      else if (command.toLowerCase() === 'usage') synopsis = rest!
      else if (command.toLowerCase() === 'end') hasEnded = true
      else letters = rest!.trim()
    } else if (/^\s+-/.test(line)) {
      const option = parseOption(line, i + 1)
      usage.push(option)
      options.push(option)
    } else usage.push(line)
  }
  return { synopsis, usage, options: letters === undefined ? options : withLetters(options, letters) }
}

function parseOption(line: string, number: number): Option {
  const [, name, letter] = STANDARD_OPTION.exec(line) ?? []
  if (name !== undefined || letter !== undefined) {
    const found = Object.values(STANDARD).find(({ long, short }) =>
      name === undefined ? short === letter : long === name,
    )
    if (found !== undefined) return found
    throw new PcpError('EINVAL', `cannot find PCP option "${line.trim()}", line ${number} ignored`)
  }
  const match = OPTION.exec(line)
  if (match === null) {
    const rest = /,\s*(-[^-].*)$/.exec(line)?.[1]
    throw new PcpError('EINVAL', `expected long option at "${rest ?? line.trim()}", line ${number} ignored`)
  }
  const [, short, shortArg, joined, joinedArg, alone, aloneArg, help = ''] = match
  const long = joined ?? alone
  const arg = joinedArg ?? aloneArg ?? shortArg
  return {
    ...(short === undefined ? {} : { short }),
    ...(long === undefined ? {} : { long }),
    ...(arg === undefined ? {} : { arg }),
    help,
  }
}

/** Adds the short options of the getopts line, and -?: `ab:` means -a, and -b with an argument. */
function withLetters(options: readonly Option[], letters: string): Option[] {
  const named: Option[] = []
  for (const [, letter, colon] of letters.replace(/^[+-]/, '').matchAll(/([^:])(:?)/g)) {
    const known = options.find(({ short }) => short === letter)
    const { arg: _, ...rest } = known ?? { short: letter! }
    named.push(colon === ':' ? { ...rest, arg: known?.arg ?? 'ARG' } : rest)
  }
  const isNamed = ({ short }: Option): boolean => named.some((each) => each.short === short)
  const others = options
    .filter((option) => option.short === undefined || !isNamed(option))
    .filter(({ long }) => long !== undefined)
  return [...named, ...others.map(({ short, ...rest }) => (short === '?' ? { short, ...rest } : rest))]
}

/** Returns the usage text of the script. */
export function scriptUsage({ synopsis, usage }: ScriptConfig, progname: string): string {
  let text = `Usage: ${progname} ${synopsis}\n`
  for (const each of usage) text += typeof each === 'string' ? `${each}\n` : optionLine(each, progname)
  return text
}

function optionLine(option: Option, progname: string): string {
  const table: OptionTable = { synopsis: '', rows: [{ help: '', ...option }] }
  const text = usageText(table, progname)
  return text.slice(text.indexOf('\n') + 1)
}
