/** Command-line options of pmie_daily. */
import { HELP_ROW, type OptionTable, type ParsedOptions } from '../lib/options.ts'

export const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'c', long: 'control', arg: 'FILE', help: 'read only this control file' },
    { short: 'k', long: 'discard', arg: 'N', help: 'remove logs after N days, or never [14]' },
    { short: 'l', long: 'logfile', arg: 'FILE', help: 'write messages to FILE' },
    { short: 'm', long: 'mail', arg: 'ADDRS', help: "mail the day's logs" },
    { short: 'N', long: 'showme', help: 'dry run: show what would be done' },
    { short: 'V', long: 'verbose', help: 'print progress; repeat for more detail' },
    { short: 'x', long: 'compress-after', arg: 'N', help: 'compress logs after N days [never]' },
    { short: 'X', long: 'compressor', arg: 'PROGRAM', help: 'compress with this program' },
    { short: 'Y', long: 'regex', arg: 'REGEX', help: 'do not compress files that match' },
    HELP_ROW,
  ],
}

/** Default pattern of files not to compress, because they already are. */
const SKIPPED = '\\.(meta|index|Z|gz|bz2|zip|xz|lzma|lzo|lz4|zst)$'

/** Settings from the command line. */
export interface Settings {
  readonly controlPath: string | undefined
  readonly logPath: string | undefined
  readonly showsOnly: boolean
  readonly verbosity: number
  readonly mailTo: string | undefined
  /** Infinity for never. */
  readonly cullDays: number
  /** Undefined for never. */
  readonly compressDays: number | undefined
  /** Undefined for the best available program. */
  readonly compressor: string | undefined
  readonly skipped: RegExp
}

/** Reads the command line; adds errors to `problems`. */
export function settingsOf({ given, operands, problems }: ParsedOptions): Settings {
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const days = (name: string): number | undefined => {
    const text = last(name)
    if (text === undefined) return undefined
    if (text === 'never' || text === 'forever') return Number.POSITIVE_INFINITY
    if (/^\d+$/.test(text)) return Number(text)
    problems.push(`Error: -${name} option value (${text}) must be numeric`)
    return undefined
  }
  const regex = (): RegExp => {
    try {
      return new RegExp(last('Y') ?? SKIPPED)
    } catch {
      problems.push(`Error: -Y option value (${last('Y')}) is not a regular expression`)
      return new RegExp(SKIPPED)
    }
  }
  if (operands.length > 0) problems.push('too many arguments')
  return {
    controlPath: last('c'),
    logPath: last('l'),
    showsOnly: given.some(({ name }) => name === 'N'),
    verbosity: given.filter(({ name }) => name === 'V').length,
    mailTo: last('m'),
    cullDays: days('k') ?? 14,
    compressDays: days('x'),
    compressor: last('X'),
    skipped: regex(),
  }
}
