/**
 * pmnsmerge: merges name space files. pmnsmerge(1), docs/formats/pmns.md §6, §7
 *
 * Unlike the reference, it may write to one of its inputs, and with -f an old output survives a failure.
 */
import { accessSync, closeSync, constants, lstatSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import type { PmnsFiles } from '../pmns/load.ts'
import { byDatestamp, mergePmns } from '../pmns/merge.ts'
import { diagnosticText, LONGEST_LINE, parsePmns } from '../pmns/parse.ts'
import type { Pmns } from '../pmns/tree.ts'
import { pmnsFiles } from '../sys/pmns-files.ts'
import { replaceFile } from '../sys/replace-file.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  parseOptions,
  usageText,
  VERSION_ROW,
} from './lib/options.ts'
import { loadOrReport, reportParse, variablesOf, warnMergeConflict } from './lib/pmns-edit.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] infile [...] outfile',
  rows: [
    { heading: 'Options' },
    { short: 'a', help: 'merge files in the order given, ignoring their _DATESTAMP' },
    { short: 'd', long: 'dupok', help: 'allow several names for one PMID (default)' },
    { short: 'f', long: 'force', help: 'replace an existing outfile' },
    { short: 'x', long: 'nodups', help: 'reject several names for one PMID' },
    { short: 'v', long: 'verbose', help: 'print the name of each infile' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** The text of an input file. */
interface Input {
  readonly path: string
  readonly text: string
}

/** Merges name spaces; if a name has two PMIDs, the first one is kept. */
export const tool: Tool = {
  name: 'pmnsmerge',
  summary: 'Merge name space files',
  description: `
Merges name space files into one. If files disagree about the PMID of a name, the first one is used, with a warning; the result is read
back as a check. Files are ordered by the date stamp they define, those without one first, unless -a keeps the given order.`,
  examples: [['pmnsmerge root_linux root_pmcd root', 'Merge the names of two agents:']],
  seeAlso: ['pmnsadd', 'pmnsdel', 'pmcpp'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands } = parsed
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (operands.length < 2) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const has = (wanted: string): boolean => given.some(({ name }) => name === wanted)
    for (const { name } of given)
      if (name === 'd')
        io.stderr.write(`${io.progname}: Warning: -d deprecated, duplicate PMNS names allowed by default\n`)
    const isUnique = given.findLast(({ name }) => name === 'd' || name === 'x')?.name === 'x'
    const output = operands.at(-1)!
    const state = prepareOutput(output, has('f'), io)
    if (state === undefined) return 1
    const files = pmnsFiles(variablesOf(io), { cwd: io.cwd })
    const inputs = readInputs(operands.slice(0, -1), files, io)
    if (inputs === undefined) return 1
    const merged = merge(has('a') ? inputs : byDatestamp(inputs), files, io, isUnique, has('v'))
    if (merged === undefined) return 1
    return writeOutput(output, merged.toString(), io, isUnique, state)
  },
}

/** Whether this run created the output. An old one must survive a failure. */
type OutputState = 'new' | 'old'

/** Creates the output exclusively if it does not exist; prints errors and returns undefined. */
function prepareOutput(path: string, isForced: boolean, io: ToolIo): OutputState | undefined {
  const full = resolve(io.cwd, path)
  try {
    const old = path === '' ? undefined : lstatSync(full, { throwIfNoEntry: false })
    if (old === undefined) {
      closeSync(openSync(path === '' ? '' : full, 'wx'))
      return 'new'
    }
    if (isForced) {
      if (statSync(full).isFile()) accessSync(dirname(full), constants.W_OK)
      else closeSync(openSync(full, 'w'))
      return 'old'
    }
    io.stderr.write(`${io.progname}: Error: output PMNS file "${path}" already exists!\n`)
    io.stderr.write('You must either remove it first, or use -f\n')
  } catch (error) {
    io.stderr.write(
      `${io.progname}: Error: cannot create output PMNS file "${path}": ${PcpError.from(error).text}\n`,
    )
  }
  return undefined
}

/** Reads everything before merging, because the output may be one of the inputs. */
function readInputs(paths: readonly string[], files: PmnsFiles, io: ToolIo): Input[] | undefined {
  const inputs: Input[] = []
  for (const path of paths) {
    try {
      inputs.push({ path, text: files.readText(path) })
    } catch (error) {
      if (PcpError.from(error).code !== 'EISDIR') {
        io.stderr.write(`${io.progname}: Error: cannot open input PMNS file "${path}"\n`)
        return undefined
      }
      inputs.push({ path, text: '' }) // A directory can be opened; loading it reports the error.
    }
  }
  return inputs
}

function merge(
  inputs: readonly Input[],
  files: PmnsFiles,
  io: ToolIo,
  isUnique: boolean,
  isVerbose: boolean,
): Pmns | undefined {
  let merged: Pmns | undefined
  for (const { path, text } of inputs) {
    if (isVerbose) io.stdout.write(`${path}:\n`)
    const readText = (wanted: string): string =>
      wanted === path && text !== '' ? text : files.readText(wanted)
    const pmns = loadOrReport(path, io, { unique: isUnique, files: { ...files, readText } })
    if (pmns === undefined) return undefined
    if (merged === undefined) merged = pmns
    else mergePmns(merged, pmns, (conflict) => warnMergeConflict(conflict, io))
  }
  return merged
}

/** Writes the result after checking that it can be read back. */
function writeOutput(path: string, text: string, io: ToolIo, isUnique: boolean, state: OutputState): number {
  // The inputs were valid, so only duplicate PMIDs and longer paths can be invalid now.
  const mayBeWrong = isUnique || hasLongLine(text)
  const { diagnostics } = mayBeWrong ? parsePmns(text, { file: path, unique: isUnique }) : { diagnostics: [] }
  const full = resolve(io.cwd, path)
  if (diagnostics.length === 0 || state === 'new') {
    try {
      replaceFile(full, text)
    } catch (error) {
      const { text: why } = PcpError.from(error)
      io.stderr.write(`${io.progname}: Error: cannot create output PMNS file "${path}": ${why}\n`)
      return 1
    }
  }
  if (diagnostics.length === 0) return 0
  const why = new PcpError('PM_ERR_PMNS', '').text
  reportParse(path, diagnostics.map(diagnosticText).join(''), why, io, isUnique)
  return 1
}

/** Returns whether a line exceeds the limit for name space files. */
function hasLongLine(text: string): boolean {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    if (end - start >= LONGEST_LINE) return true
    start = end + 1
  }
  return false
}
