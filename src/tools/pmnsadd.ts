/**
 * pmnsadd: adds a subtree to a name space file. pmnsadd(1), docs/formats/pmns.md §6, §7
 *
 * Unlike the reference, it names the file in every message, reports line numbers of the original file, and reports a file that adds
 * nothing. As in the reference, some messages go to standard output.
 */
import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { mergePmns } from '../pmns/merge.ts'
import { defaultPmnsPath, isReadableFile } from '../sys/pmns-files.ts'
import { replaceFile } from '../sys/replace-file.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  parseOptions,
  usageText,
  VERSION_ROW,
} from './lib/options.ts'
import { loadOrReport, variablesOf, warnMergeConflict, whileEditing } from './lib/pmns-edit.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[-d] [-n namespace] file',
  rows: [
    { short: 'd', help: 'ignored: duplicate PMIDs are always allowed' },
    { short: 'n', arg: 'namespace', help: 'change the name space in this file' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Adds the subtree named by a file's first group, or a whole name space, and missing non-leaves above it. */
export const tool: Tool = {
  name: 'pmnsadd',
  summary: 'Add names to a name space file',
  description: `
Adds the names in a file to a name space. The first group of the file determines where; missing parent nodes are created. The name
space is replaced as a whole, and stays unchanged after an error.`,
  examples: [['pmnsadd -n root mynames', 'Add names to the name space file root:']],
  seeAlso: ['pmnsdel', 'pmnsmerge', 'pminfo'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands } = parsed
    const status = handleEarlyExit(OPTIONS, parsed, io)
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

/** Returns why the files cannot be read or changed. */
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
  mergePmns(pmns, subtree, (conflict) => warnMergeConflict(conflict, io))
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
