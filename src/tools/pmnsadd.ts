/**
 * pmnsadd: add a subtree to a name space file. pmnsadd(1), docs/formats/pmns.md §6, §7
 *
 * Unlike the reference it names the file in every message, gives lines of the file itself, and reports a file that adds
 * nothing. As there, some messages go to standard output.
 */
import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { mergePmns } from '../pmns/merge.ts'
import { defaultPmnsPath, isReadableFile } from '../sys/pmns-files.ts'
import { replaceFile } from '../sys/replace-file.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions, usageText, VERSION_ROW } from './lib/options.ts'
import { loadOrReport, variablesOf, warnOf, whileEditing } from './lib/pmns-edit.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[-d] [-n namespace] file',
  rows: [
    { short: 'd', help: 'does nothing: several names may have one PMID anyway' },
    { short: 'n', arg: 'namespace', help: 'change the name space in this file' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Adds the subtree that a file's first group names, or a whole name space, and the non-leaves above it. */
export const tool: Tool = {
  name: 'pmnsadd',
  summary: 'Add names to a name space file',
  description: `
Adds the names of a file to a name space. The first group of the file says where they belong; nodes on the way there are made.
The name space is replaced as a whole when everything is in order, and left alone otherwise.`,
  examples: [['pmnsadd -n root mynames', 'Into a name space of your own:']],
  seeAlso: ['pmnsdel', 'pmnsmerge', 'pminfo'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands } = parsed
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (operands.length !== 1) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    if (given.some(({ name }) => name === 'd'))
      io.stdout.write(`${io.progname}: Warning: -d deprecated, duplicate PMNS names allowed by default\n`)
    const path = given.findLast(({ name }) => name === 'n')?.value ?? defaultPmnsPath(variablesOf(io))
    const problem = problemOf(path, operands[0]!, io)
    if (problem !== undefined) {
      io.stdout.write(`${io.progname}: ${problem}\n`)
      return 1
    }
    return await whileEditing(path, io, () => add(path, operands[0]!, io))
  },
}

/** Why there is nothing to change or to read. */
function problemOf(path: string, file: string, { cwd }: ToolIo): string | undefined {
  if (!isReadableFile(resolve(cwd, path))) return `cannot find PMNS file "${path}"`
  try {
    accessSync(resolve(cwd, path), constants.W_OK)
  } catch {
    return `cannot open PMNS file "${path}" for writing`
  }
  return isReadableFile(resolve(cwd, file)) ? undefined : `cannot find input file "${file}"`
}

function add(path: string, file: string, io: ToolIo): number {
  const pmns = loadOrReport(path, io)
  const subtree = pmns === undefined ? undefined : loadOrReport(file, io, { subtree: true })
  if (subtree?.size === 0) io.stderr.write(`${io.progname}: Error: no metric is named in "${file}"\n`)
  if (pmns === undefined || subtree === undefined || subtree.size === 0) {
    io.stdout.write(`${io.progname}: No changes have been made to the PMNS file "${path}"\n`)
    return 1
  }
  mergePmns(pmns, subtree, (conflict) => warnOf(conflict, io))
  try {
    replaceFile(resolve(io.cwd, path), pmns.toString(), { keepMode: true })
    return 0
  } catch (error) {
    io.stdout.write(
      `${io.progname}: cannot open PMNS file "${path}" for writing: ${PcpError.from(error).text}\n`,
    )
    return 1
  }
}
