/** The command line of pmlogextract. pmlogextract(1) */
import { PcpError } from '../../model/errors.ts'
import { parseSizeLimit, type SizeLimit } from '../../pmlogger/sizes.ts'
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { type ParsedStandard, parseStandard, STANDARD } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'

/** What pmlogextract accepts. -V is not the version of the command. */
export const OPTIONS: OptionTable = {
  synopsis: '[options] input-archive... output-archive',
  rows: [
    { heading: 'Options' },
    { short: 'c', long: 'config', arg: 'FILE', help: 'take only the metrics and instances that FILE lists' },
    { short: 'd', long: 'desperate', help: 'keep what was written when something goes wrong' },
    { short: 'f', long: 'first', help: 'the output has the timezone of the first input, not the last' },
    { long: 'labelhost', arg: 'NAME', help: 'the output is of this host, whatever the inputs say' },
    { long: 'replace', help: 'remove the inputs in the same step as the output gets its name' },
    { short: 'm', long: 'mark', help: 'write a mark between inputs even where one continues the other' },
    STANDARD.start,
    { short: 's', long: 'samples', arg: 'NUM', help: 'end after NUM records' },
    STANDARD.finish,
    { short: 'V', long: 'outputversion', arg: 'VERSION', help: 'write version 2 or 3 of the format' },
    { short: 'v', arg: 'SIZE', help: 'begin a new volume after SIZE records, bytes or time' },
    { short: 'w', help: 'take the time window of every day' },
    { short: 'x', help: 'leave out metrics that inputs describe differently' },
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.debug,
    { long: 'version', help: VERSION_ROW.help! },
    HELP_ROW,
  ],
}

/** What is asked for. */
export interface ExtractOptions {
  readonly config: string | undefined
  readonly isDesperate: boolean
  readonly isFirstZone: boolean
  readonly isMarked: boolean
  /** Host of the output; undefined for that of the inputs, which must agree. */
  readonly labelHost: string | undefined
  readonly samples: number
  readonly version: 2 | 3 | undefined
  readonly volumeLimit: SizeLimit | undefined
  readonly isDaily: boolean
  readonly skipsConflicts: boolean
  /** Whether the inputs go when the output is there. */
  readonly replaces: boolean
  readonly inputs: readonly string[]
  readonly output: string
  readonly standard: ParsedStandard['standard']
}

/** Reads the command line. */
export function parseExtract(io: Pick<ToolIo, 'args' | 'env'>): ParsedStandard {
  return parseStandard(OPTIONS, io, { areOperandsArchives: true, zonesJoin: 'and/or' })
}

/** Makes sense of it. PM_ERR_ARG with the message that goes before the usage text. */
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
