/**
 * pmnsmerge: join name space files. pmnsmerge(1), docs/formats/pmns.md §6, §7
 *
 * Unlike the reference it may write to one of its inputs, and with -f an old output survives a failure.
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
import { endEarly, HELP_ROW, type OptionTable, parseOptions, usageText, VERSION_ROW } from './lib/options.ts'
import { loadOrReport, reportParse, variablesOf, warnOf } from './lib/pmns-edit.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] infile [...] outfile',
  rows: [
    { heading: 'Options' },
    { short: 'a', help: 'join files in the order given, whatever their _DATESTAMP says' },
    { short: 'd', long: 'dupok', help: 'let several names have one PMID (which is the default)' },
    { short: 'f', long: 'force', help: 'replace outfile when it exists' },
    { short: 'x', long: 'nodups', help: 'refuse several names for one PMID' },
    { short: 'v', long: 'verbose', help: 'print the name of each infile when its turn comes' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** A file to join, already read. */
interface Input {
  readonly path: string
  readonly text: string
}

/** Joins name spaces; of two PMIDs for one name the first wins. */
export const tool: Tool = {
  name: 'pmnsmerge',
  summary: 'Join name space files',
  description: `
Joins name space files into one. Where files disagree about the PMID of a name, the first one wins and a warning says so; what
comes out is read again as a check. Files are taken by the date stamp that they define, those without one first, unless -a asks
for the order given.`,
  examples: [['pmnsmerge root_linux root_pmcd root', 'A name space of two agents:']],
  seeAlso: ['pmnsadd', 'pmnsdel', 'pmcpp'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands } = parsed
    const status = endEarly(OPTIONS, parsed, io)
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

/** An output of this run, or one that must survive a failure. */
type OutputState = 'new' | 'old'

/** Makes an output that does not exist, so that nobody else does; undefined, and a message, when there can be none. */
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

/** Reads everything before anything is joined: the output may be one of the inputs. */
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
      inputs.push({ path, text: '' }) // A directory can be opened; loading it says what is wrong.
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
    else mergePmns(merged, pmns, (conflict) => warnOf(conflict, io))
  }
  return merged
}

/** Writes what was joined, once it is known that it can be read back. */
function writeOutput(path: string, text: string, io: ToolIo, isUnique: boolean, state: OutputState): number {
  // Of what was read before, only two names for one PMID and longer paths can be wrong now.
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

/** Is there a line that a name space file may not have? */
function hasLongLine(text: string): boolean {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    if (end - start >= LONGEST_LINE) return true
    start = end + 1
  }
  return false
}
