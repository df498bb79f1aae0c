/** Command-line options of pmlogrewrite. pmlogrewrite(1) */
import { PcpError } from '../../model/errors.ts'
import { HELP_ROW, type OptionTable } from '../lib/options.ts'
import { type ParsedStandard, parseStandard, STANDARD } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'

/** Options; -V is the archive version, not the command's. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] input-archive [output-archive]',
  rows: [
    { heading: 'Options' },
    {
      short: 'c',
      long: 'config',
      arg: 'PATH',
      kind: 'file',
      help: 'read rules from a file or all files of a directory',
    },
    { short: 'C', long: 'check', help: 'only read the rules and show their changes' },
    { short: 'd', long: 'desperate', help: 'keep the output after an error' },
    { short: 'i', help: 'replace the input by the new archive' },
    { short: 'q', long: 'quick', help: 'write nothing if nothing changes' },
    { short: 's', long: 'scale', help: 'rescale values if only the scale of the units changes' },
    { short: 'v', long: 'verbose', help: 'show the changes of the rules' },
    { short: 'V', long: 'version', arg: 'VERSION', help: 'write archive version 2 or 3' },
    { short: 'w', long: 'warnings', help: 'warn of rules without effect' },
    STANDARD.debug,
    HELP_ROW,
  ],
}

/** Settings from the command line. */
export interface RewriteOptions {
  readonly configs: readonly string[]
  readonly isCheck: boolean
  readonly isDesperate: boolean
  readonly isInPlace: boolean
  readonly isQuick: boolean
  readonly rescales: boolean
  readonly isVerbose: boolean
  readonly warns: boolean
  readonly version: 2 | 3 | undefined
  readonly input: string
  /** Undefined with -i, and optional with -C. */
  readonly output: string | undefined
}

/** Parses the command line. */
export function parseRewrite(io: Pick<ToolIo, 'args' | 'env'>): ParsedStandard {
  return parseStandard(OPTIONS, io, { areOperandsArchives: true })
}

/** Returns the settings. Throws PM_ERR_ARG with the message, if any, to print before the usage text. */
export function rewriteOptions({ given, operands }: ParsedStandard): RewriteOptions {
  const has = (name: string): boolean => given.some((option) => option.name === name)
  const version = given.findLast(({ name }) => name === 'V')?.value
  if (version !== undefined && version !== '2' && version !== '3')
    throw new PcpError('PM_ERR_ARG', `Error: unsupported version (${version}) requested`)
  const isCheck = has('C')
  const isInPlace = has('i')
  const needed = isInPlace || isCheck ? 1 : 2
  if (operands.length < needed || operands.length > (isInPlace ? 1 : 2)) throw new PcpError('PM_ERR_ARG', '')
  return {
    configs: given.filter(({ name }) => name === 'c').map(({ value }) => value),
    isCheck,
    isDesperate: has('d'),
    isInPlace,
    isQuick: has('q'),
    rescales: has('s'),
    isVerbose: isCheck || has('v'),
    warns: isCheck || has('w'),
    version: version === undefined ? undefined : version === '2' ? 2 : 3,
    input: operands[0]!,
    output: isInPlace ? undefined : operands[1],
  }
}
