/** The command line of pmlogrewrite. pmlogrewrite(1) */
import { PcpError } from '../../model/errors.ts'
import { HELP_ROW, type OptionTable } from '../lib/options.ts'
import { type ParsedStandard, parseStandard, STANDARD } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'

/** What pmlogrewrite accepts. -V is not the version of the command. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] input-archive [output-archive]',
  rows: [
    { heading: 'Options' },
    {
      short: 'c',
      long: 'config',
      arg: 'PATH',
      kind: 'file',
      help: 'take rules from a file or all files of a directory',
    },
    { short: 'C', long: 'check', help: 'only read the rules, and say what they do' },
    { short: 'd', long: 'desperate', help: 'keep what was written when something goes wrong' },
    { short: 'i', help: 'put the new archive in the place of the input' },
    { short: 'q', long: 'quick', help: 'write nothing when nothing changes' },
    { short: 's', long: 'scale', help: 'convert values where only the scale of their units changes' },
    { short: 'v', long: 'verbose', help: 'say what the rules do' },
    { short: 'V', long: 'version', arg: 'VERSION', help: 'write version 2 or 3 of the format' },
    { short: 'w', long: 'warnings', help: 'say which rules change nothing' },
    STANDARD.debug,
    HELP_ROW,
  ],
}

/** What is asked for. */
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
  /** Undefined with -i, and where -C needs none. */
  readonly output: string | undefined
}

/** Reads the command line. */
export function parseRewrite(io: Pick<ToolIo, 'args' | 'env'>): ParsedStandard {
  return parseStandard(OPTIONS, io, { areOperandsArchives: true })
}

/** Makes sense of it. PM_ERR_ARG with the message that goes before the usage text, if there is one. */
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
