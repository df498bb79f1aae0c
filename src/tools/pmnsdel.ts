/** pmnsdel: removes names from a name space file. pmnsdel(1), docs/formats/pmns.md §6, §7 */
import { resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { defaultPmnsPath } from '../sys/pmns-files.ts'
import { replaceFile } from '../sys/replace-file.ts'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  parseOptions,
  usageText,
  VERSION_ROW,
} from './lib/options.ts'
import { loadOrReport, variablesOf, whileEditing } from './lib/pmns-edit.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] metricpath [...]',
  rows: [
    { heading: 'Options' },
    { short: 'd', long: 'dupok' },
    { short: 'n', long: 'namespace', arg: 'FILE', help: 'change the name space in FILE' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Removes leaves and whole subtrees, and non-leaves left empty. Changes nothing if any name is unknown. */
export const tool: Tool = {
  name: 'pmnsdel',
  summary: 'Remove names from a name space file',
  description: `
Removes names from a name space: metrics, or nodes with everything below them. Nodes left empty are removed too. Nothing is removed if
any of the names does not exist.`,
  examples: [['pmnsdel -n root disk.dev network', 'Remove two subtrees:']],
  seeAlso: ['pmnsadd', 'pmnsmerge', 'pminfo'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands } = parsed
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (operands.length === 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    if (given.some(({ name }) => name === 'd'))
      io.stderr.write(`${io.progname}: Warning: -d deprecated, duplicate PMNS names allowed by default\n`)
    const path = given.findLast(({ name }) => name === 'n')?.value ?? defaultPmnsPath(variablesOf(io))
    return await whileEditing(path, io, () => remove(path, operands, io))
  },
}

function remove(path: string, names: readonly string[], io: ToolIo): number {
  const pmns = loadOrReport(path, io)
  if (pmns === undefined) return 1
  for (const name of names) {
    if (!pmns.remove(name)) {
      io.stderr.write(`${io.progname}: Error: metricpath "${name}" not defined in the PMNS\n`)
      return 1
    }
  }
  try {
    replaceFile(resolve(io.cwd, path), pmns.toString(), { keepMode: true })
    return 0
  } catch (error) {
    const { text } = PcpError.from(error)
    io.stderr.write(`${io.progname}: Error: cannot open PMNS file "${path}.new" for writing: ${text}\n`)
    return 1
  }
}
