/** Command-line options of pmlogextract. pmlogextract(1) */
import { PcpError } from '../../model/errors.ts'
import { parseSizeLimit, type SizeLimit } from '../../pmlogger/sizes.ts'
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { type ParsedStandard, parseStandard, STANDARD } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'

/** Options; -V is the archive version, not the command's. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] input-archive... output-archive',
  rows: [
    { heading: 'Options' },
    {
      short: 'c',
      long: 'config',
      arg: 'FILE',
      help: 'extract only the metrics and instances listed in FILE',
    },
    { short: 'd', long: 'desperate', help: 'keep the output after an error' },
    { short: 'f', long: 'first', help: 'use the time zone of the first input, not the last' },
    { long: 'labelhost', arg: 'NAME', help: 'set the host of the output' },
    { long: 'replace', help: 'replace the inputs by the output in one transaction' },
    { short: 'm', long: 'mark', help: 'write a mark between all inputs, even consecutive ones' },
    STANDARD.start,
    { short: 's', long: 'samples', arg: 'NUM', help: 'end after NUM records' },
    STANDARD.finish,
    { short: 'V', long: 'outputversion', arg: 'VERSION', help: 'write archive version 2 or 3' },
    { short: 'v', arg: 'SIZE', help: 'begin a new volume after SIZE (records, bytes or time)' },
    { short: 'w', help: 'apply the time window to every day' },
    { short: 'x', help: 'omit metrics with conflicting descriptors' },
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.debug,
    { long: 'version', help: VERSION_ROW.help! },
    HELP_ROW,
  ],
}

/** Settings from the command line. */
export interface ExtractOptions {
  readonly config: string | undefined
  readonly isDesperate: boolean
  readonly isFirstZone: boolean
  readonly isMarked: boolean
  /** Host in the output's label; by default that of the inputs, which must agree. */
  readonly labelHost: string | undefined
  readonly samples: number
  readonly version: 2 | 3 | undefined
  readonly volumeLimit: SizeLimit | undefined
  readonly isDaily: boolean
  readonly skipsConflicts: boolean
  /** Remove the inputs once the output is complete. */
  readonly replaces: boolean
  readonly inputs: readonly string[]
  readonly output: string
  readonly standard: ParsedStandard['standard']
}

/** Parses the command line. */
export function parseExtract(io: Pick<ToolIo, 'args' | 'env'>): ParsedStandard {
  return parseStandard(OPTIONS, io, { areOperandsArchives: true, zonesJoin: 'and/or' })
}

/** Returns the settings. Throws PM_ERR_ARG with the message to print before the usage text. */
export function extractOptions({ given, operands, standard }: ParsedStandard): ExtractOptions {
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const has = (name: string): boolean => given.some((option: GivenOption) => option.name === name)
  const samples = last('s')
  if (samples !== undefined && !/^\s*\+?\d+$/.test(samples)) throw usage('-s requires numeric argument')
  const version = last('V')
  if (version !== undefined && !/^-?\d+$/.test(version)) throw usage('-V requires numeric argument')
  if (version !== undefined && version !== '2' && version !== '3') throw usage('-V value must be 2 or 3')
  const size = last('v')
  const volumeLimit = size === undefined ? undefined : parseSizeLimit(size)
  if (size !== undefined && volumeLimit === undefined) throw usage('-v requires numeric argument')
  if (operands.length < 2) throw usage('Error: insufficient arguments')
  return {
    config: last('c'),
    isDesperate: has('d'),
    isFirstZone: has('f'),
    isMarked: has('m'),
    labelHost: last('labelhost'),
    samples: samples === undefined ? Number.POSITIVE_INFINITY : Number(samples),
    version: version === undefined ? undefined : version === '2' ? 2 : 3,
    volumeLimit,
    isDaily: has('w'),
    skipsConflicts: has('x'),
    replaces: has('replace'),
    inputs: operands.slice(0, -1),
    output: operands[operands.length - 1]!,
    standard,
  }
}

function usage(message: string): PcpError {
  return new PcpError('PM_ERR_ARG', message)
}
